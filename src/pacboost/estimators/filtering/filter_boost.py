"""Boosting by filtering behind the scikit-learn API: arrays, files and streams alike."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike

from pacboost.boosters.logit import Logit
from pacboost.estimators.filtering.filter_fit import fit_drawn, learn_batch
from pacboost.estimators.filtering.filter_session import Session, Watcher
from pacboost.estimators.filtering.filter_setup import check_rows, schema_of
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.fitting.attempt import all_or_nothing
from pacboost.estimators.fitting.nested import named
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented
from pacboost.estimators.inputs.parameters import progress_after
from pacboost.estimators.inputs.rows import fits_rows, takes_rows
from pacboost.estimators.parameters.checks import Seconds
from pacboost.learners.choose import as_learner
from pacboost.models.schema import ColumnOptions
from pacboost.samples.same_example import check_copies
from pacboost.samples.time_order import have_times
from pacboost.sources.categories import FROM_DTYPE
from pacboost.sources.optional import is_collection
from pacboost.sources.oracles.arrays import ArrayOracle
from pacboost.sources.oracles.choose import open_source
from pacboost.sources.oracles.oracle import AbstractOracle


@accepts_aliases
@documented
@dataclass(eq=False, repr=False)
class FilterBoostClassifier(Classifier):
    """Boost by filtering: draw examples, keep the hard ones, learn from them, forget them.

    The cost of a round does not grow with the number of rows. ``fit`` takes arrays and data frames,
    ``fit_source`` files of any size, databases, streams and worlds, ``partial_fit`` the batches of
    a stream that can be read only once.

    Parameters
    ----------
    booster : str or booster, default="logit"
        How examples are weighted; every weight is the probability to be kept: "logit",
        "measure", "mada", "smooth", "projection" or "majority", whose rounds follow from
        ``edge`` and ``epsilon``.
    learner : str, learner, scikit-learn classifier or function, default="tree"
        "stump" or "tree", or an object such as ``Tree(max_leaves=8)``; see AdaBoostClassifier for
        black boxes. Stumps are faster, trees more accurate.
    edge : float, default=None
        The correlation 1 - 2·error that the learner promises under every weighting. If given, the
        theorems are followed: every round has a new sample, and each rule's edge is tested on new
        examples ("logit" is then FilterBoost); rules that pass have at least 0.4 times the promised
        edge, which boosters assume. None: samples are boosted on as long as they represent the
        weights, with weights corrected for how they were drawn; "measure", "smooth", "projection"
        and "majority" then assume 0.1.
    epsilon : float, default=None
        Stop once the error is surely at most this. None: that of a ``booster`` given as an object
        with an ``epsilon``; otherwise stop by rounds and time alone.
    n_estimators : int, default=300
        The maximum number of rounds. With ``partial_fit``, later batches add one each.
    learning_rate : float, default=None
        Scales what every round adds, above 0 and at most 1. None: 0.2 for trees, else 1.
    sample_rows : int, default=None
        The maximum number of rows that are kept at a time. None: 100,000, for stumps 50,000, or
        what ``memory`` leaves room for.
    memory : str or int, default=None
        The maximum memory of the process, such as "2GB".
    time_limit : str or float, default=None
        Stop after this time, such as "60s", and keep what was learned.
    n_certify : int, default=None
        The number of rows that are set apart, never learned from, and scored once by the final vote
        for the certificate. Of files and tables they are drawn from all rows, in a separate pass,
        and their number is about this. None: a tenth of the rows, at most 20,000.
    min_leaf_rows : int or float, default=None
        The least number of the kept rows in a leaf, or as a float below 1 their share. None means
        20. Raise it if labels are noisy.
    checkpoint : str or path, default=None
        A file that a fit writes from time to time, and on Ctrl-C. A later fit with the same
        parameters and source continues from it to the same model, and then deletes it. If a fit
        was stopped by Ctrl-C, a callback or ``time_limit``, its certificate and those that follow
        pay for their looks, as those of ``partial_fit`` do.
    callbacks : list of functions, default=None
        Called with every ``Refill`` and every ``Round``; returning True stops the fit.

    Attributes
    ----------
    ledger_ : the record of draws (``ledger_.refills``) and rules (``ledger_.rounds``)
    certificate_ : by rows set apart, else by the test that stopped the run
    stop_certificate_ : by fresh rows scored after the last round, None if there were none
    classes_, feature_importances_ : as in AdaBoostClassifier

    Examples
    --------
    >>> from pacboost.theory.worlds import Halfspaces
    >>> model = FilterBoostClassifier(n_estimators=20, sample_rows=2000, random_state=0)
    >>> model = model.fit_source(Halfspaces((3.0, 2.0, 1.0)))
    >>> model.certificate_.value < 0.5, len(model.ledger_) <= 20
    (True, True)
    """

    booster: Any = "logit"
    learner: Any = "tree"
    edge: float | None = None
    epsilon: float | None = None
    delta: float = 0.05
    n_estimators: int = 300
    learning_rate: float | None = None
    _: KW_ONLY
    sample_rows: int | None = None
    memory: str | int | None = None
    time_limit: str | float | None = None
    n_certify: int | None = None
    max_leaves: int | None = None
    max_depth: int | None = None
    min_leaf_rows: float | None = None
    max_features: float | None = None
    max_bins: int = 255
    checkpoint: str | Path | None = None
    callbacks: Sequence[Watcher] | None = None
    random_state: Any = None

    _nested = ("booster", "learner")
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"

    _reads_partitions = True
    """Dask collections are read block by block; other estimators need all rows at once."""

    @fits_rows
    def fit(self, X: object, y: object, *, copies: str = "draws") -> Self:
        """Learn from rows in memory; of large arrays, only the rows that are drawn are checked.

        X and y may be Dask collections with the same partitions: ``fit_source((X, y))`` reads them.
        ``copies`` says what equal rows are: with "draws" every row is an example, and counts; with
        "distinct" rows that are equal in every column are one example, which is learned from or
        certifies, and counts once. The claim is then about distinct new rows.
        """
        if is_collection(X):
            return self.fit_source((X, y), copies=copies)

        def rows(seed: int) -> AbstractOracle:
            self._schema, values, labels = check_rows(self._column_options(), X, y)
            oracle = ArrayOracle(values, labels, seed)
            if oracle.learned is not None:
                self._schema = schema_of(oracle, type(self).__name__)
            return oracle

        fit_drawn(self, rows, None, check_copies(copies), has_times=have_times(X))
        return self

    @fits_rows
    def fit_source(
        self,
        source: object,
        target: str | None = None,
        classes: ArrayLike | None = None,
        *,
        client: object = None,
        timeout: float | str | None = None,
        copies: str = "draws",
        **options: Any,
    ) -> Self:
        """Learn from an oracle, or from a source that is turned into one.

        A path, a folder or a pattern ("data/*.parquet"), a DuckDB connection, an iterator of
        batches or of single examples (x, y), a function that gives an iterator or one example, a
        world, a Dask DataFrame, or a pair (X, y), also of Dask collections; ``target`` names the
        column of labels. ``classes`` names all labels, if the first rows may lack a rare one;
        ``options`` are those of the oracle.

        Parquet files and Dask collections are read by the workers of a Dask ``client``: the one
        that is given, else the current one if there is one (False: none). The model is the same.
        A task without a result after ``timeout`` (5 minutes) is given to another worker.

        ``copies`` is that of ``fit``. With "draws", nothing is certified if rows of a stream come
        again more often than chance explains. With "distinct", no more rows of a stream are set
        apart after the first repeated row.
        """

        def opened(seed: int) -> AbstractOracle:
            seconds = Seconds(optional=True).checked("timeout", timeout)
            oracle = open_source(source, target, seed, client, seconds, **options)
            self._schema = schema_of(oracle, type(self).__name__)
            return oracle

        fit_drawn(self, opened, classes, check_copies(copies))
        return self

    @takes_rows
    @fits_rows
    def partial_fit(
        self, X: object, y: object, classes: ArrayLike | None = None, *, copies: str = "draws"
    ) -> Self:
        """Learn from the next batch of a stream, and forget rows that have become easy.

        Before a batch is learned from it is scored: ``ledger_.refills`` has its progressive error.
        Every call certifies the new vote by the rows set apart so far. Certificate k pays for this
        look with delta/(k·(k + 1)), so that all of them hold together with confidence 1 - delta,
        and any of the votes may be kept.
        ``classes`` names all labels in the first call. ``copies`` is that of ``fit_source``, and
        cannot change after the first call.
        """
        check_copies(copies)
        stream: Session | None = getattr(self, "_stream", None)
        with nullcontext() if stream is not None else all_or_nothing(self):
            self._stream: Session | None = stream
            learn_batch(self, stream, X, y, classes, copies)
        if progress_after(self.verbose) == 0:
            from pacboost.reports.progress import tell_batch

            tell_batch(self.ledger_)
        return self

    def _column_options(self) -> ColumnOptions:
        given = as_learner(named(self.learner)[0], "learner").reads_given
        options = replace(super()._column_options(), as_they_came=given)
        return options if given else replace(options, categories=FROM_DTYPE)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        choice, _ = named(self.booster)
        many = choice == "logit" or isinstance(choice, Logit)
        tags.classifier_tags.multi_class = many and (self.edge is None or choice != "logit")
        return tags
