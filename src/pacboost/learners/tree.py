"""Trees, grown best-first on codes."""

from __future__ import annotations

from dataclasses import dataclass

from pacboost.kernels.cuda.device import gpu_in_use
from pacboost.learners.cuda_growing import CudaTreeSearch
from pacboost.learners.dense_growing import WIDEST_HISTOGRAM, DenseTreeSearch
from pacboost.learners.growing import TreeSearch
from pacboost.learners.learner import Learner
from pacboost.learners.sparse_growing import SparseTreeSearch
from pacboost.learners.tree_parameters import TreeParameters
from pacboost.samples.sample import Sample


@dataclass(frozen=True)
class Tree(TreeParameters, Learner):
    """A tree of at most ``max_leaves``, whose next split is always the best one there is.

    Missing values go where they help more; where none was seen, to the heavier side. A category is
    split into two sets of its levels, ordered by their mean pull, which is optimal for two classes
    (Fisher 1958) and a good guess for more, but fits by chance, too; so their order at the root
    and that of their codes are looked at besides. With many classes, splits are chosen by
    ``sketch`` random sums of the classes' pulls (Iosipoi and Vakhrushev 2022); the values of the
    leaves are exact all the same.
    """

    codes = sparse = True

    @property
    def deterministic(self) -> bool:
        """The same weights give the same tree, unless features are drawn."""
        return not self.draws_features

    def bytes_of_work(self, columns: int, outputs: int) -> int:
        """What the histograms of all leaves take.

        >>> Tree(31).bytes_of_work(1500, 1)
        98469888
        """
        lanes = 8 * -(-columns // 8)
        return self.max_leaves * min(outputs, self.sketch) * lanes * WIDEST_HISTOGRAM * 8

    def finds_rules(self, sample: Sample) -> bool:
        """Trees are found as cells, even for two classes."""
        return False

    def on(self, sample: Sample) -> TreeSearch:
        """Start a search on a sample, dense or sparse; dense ones may be searched on the GPU."""
        if sample.sparse is not None:
            return SparseTreeSearch(self, sample)
        return (CudaTreeSearch if gpu_in_use() else DenseTreeSearch)(self, sample)
