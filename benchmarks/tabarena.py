"""BoostClassifier and BoostRegressor on TabArena-Lite: the first split of each of its 51 data sets.

Python 3.12 and a network (OpenML, results of other models); in a folder beside this project:

    git clone https://github.com/autogluon/tabarena.git
    uv venv --seed --python 3.12 && source .venv/bin/activate
    uv pip install --prerelease=allow -e "./tabarena/packages/tabarena[benchmark]" -e ./pacboost

and then in the root of this project, whose folder Ray's workers have to find:

    PYTHONPATH=. python -m benchmarks.tabarena                # default settings
    PYTHONPATH=. python -m benchmarks.tabarena --configs 25   # and 25 others, drawn at random

Not as ``python benchmarks/tabarena.py``: ``import tabarena`` would then find this file. It was
checked against the interface of TabArena 0.1 and of AutoGluon's AbstractModel by reading alone, and
has not been run.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from autogluon.core.models import AbstractModel

from pacboost import BoostClassifier, BoostRegressor

HERE = Path(__file__).parent / "tabarena_runs"


class BoostModel(AbstractModel):  # type: ignore[misc]
    """Boosted trees of pacboost; they choose the number of rounds by held-out rows."""

    ag_key = "PACBOOST"
    ag_name = "PACBoost"

    def _fit(self, X: Any, y: Any, num_cpus: int = 1, **others: Any) -> None:
        """Fit on numbers, categories and missing values without preprocessing."""
        kind = BoostRegressor if self.problem_type == "regression" else BoostClassifier
        parameters = {**self._get_model_params(), "n_jobs": num_cpus, "verbose": False}
        self.model = kind(**parameters).fit(self.preprocess(X, y=y, is_train=True), y)

    def _set_default_params(self) -> None:
        self._set_default_param_value("random_state", 0)

    def _get_default_auxiliary_params(self) -> dict[str, Any]:
        parameters: dict[str, Any] = super()._get_default_auxiliary_params()
        return parameters | {"valid_raw_types": ["int", "float", "category"]}

    @classmethod
    def supported_problem_types(cls) -> list[str]:
        """Return the kinds of tasks that there is an estimator for."""
        return ["binary", "multiclass", "regression"]

    @classmethod
    def config_generator(cls) -> Any:
        """Return the default settings, and what others are drawn from."""
        from autogluon.common.space import Int, Real
        from tabarena.utils.config_utils import ConfigGenerator

        space = {
            "learning_rate": Real(0.01, 0.2, log=True),
            "max_leaves": Int(4, 63),
            "min_leaf_rows": Int(1, 40),
            "max_features": Real(0.2, 1.0),
            "subsample": Real(0.5, 1.0),
            "l2": Real(0.1, 30.0, log=True),
        }
        return ConfigGenerator(model_cls=cls, manual_configs=[{}], search_space=space)


def main() -> None:
    """Run the tasks that are missing, and print the leaderboard."""
    from tabarena.benchmark.experiment import TabArenaV0pt1ExperimentBundle
    from tabarena.contexts import TabArenaContext

    from benchmarks.tabarena import BoostModel  # by a name that other processes can import

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--configs", type=int, default=0, help="settings besides the defaults")
    parser.add_argument("--sets", default="", help="names of data sets, with commas; else all")
    parser.add_argument("--debug", action="store_true", help="in this process, without Ray")
    options = parser.parse_args()
    models = [(BoostModel.config_generator(), options.configs)]
    sets = [name for name in options.sets.split(",") if name]
    context = TabArenaContext()
    context.build_and_run_jobs(
        TabArenaV0pt1ExperimentBundle(models=models).build_experiments(),
        expname=str(HERE / "results"),
        subset="lite",
        build_kwargs={"dataset_names": sets} if sets else {},
        debug_mode=options.debug,
    )
    results = context.compare(output_dir=HERE / "leaderboard")
    print(context.leaderboard_to_website_format(leaderboard=results).to_markdown(index=False))


if __name__ == "__main__":
    main()
