"""What importing the package costs and shows, and names that hold across it."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import pacboost
from tests.oldest import constraints, requirements


def loaded_after(statement: str) -> set[str]:
    """The top-level modules a fresh interpreter holds after a statement."""
    program = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(run.stdout)}


def test_import_of_the_package_loads_no_heavy_library() -> None:
    assert not loaded_after("import pacboost") & {"sklearn", "scipy", "numpy", "rich"}


def test_bounds_load_no_scikit_learn() -> None:
    statement = (
        "from pacboost.ledgers.ledger import Ledger\n"
        "from pacboost.bounds.training import training_error\n"
        "training_error(Ledger('adaboost', 'exponential', 'stump', 10, 1, False, True))"
    )
    assert not loaded_after(statement) & {"sklearn"}


def test_names_are_all_there_and_others_are_not() -> None:
    names: dict[str, object] = {}
    exec("from pacboost import *", names)
    assert set(pacboost.__all__) <= set(names)
    assert "cupy" not in sys.modules
    assert set(pacboost.__all__) <= set(dir(pacboost))
    with pytest.raises(AttributeError, match=r"pacboost.*AdaBoast"):
        _ = pacboost.AdaBoast  # type: ignore[attr-defined]


def test_a_name_of_another_room_says_where_it_is() -> None:
    for room, name in (("theory", "ThreeWayBoost"), ("boosters", "ArcGV"), ("learners", "Stump")):
        with pytest.raises(AttributeError, match=rf"pacboost\.{room}\.{name}$"):
            getattr(pacboost, name)
        assert not hasattr(pacboost, name)


def test_a_fresh_interpreter_lists_the_theory_and_loads_it_lazily() -> None:
    names = {"worlds", "learners", "vc", "pictures", "plan", "pac", "ThreeWayBoost"}
    listed = f"from pacboost import theory\nassert {names} <= {{*dir(theory)}}\n"
    assert not loaded_after(listed) & {"sklearn", "scipy", "matplotlib"}
    assert "scipy" in loaded_after(f"{listed}theory.worlds.Boxes, theory.learners.Scripted")


def test_every_public_name_is_listed_and_there() -> None:
    assert len(pacboost.__all__) <= 40
    rooms = (pacboost, pacboost.boosters, pacboost.learners, pacboost.plots, pacboost.theory)
    for room in rooms:
        assert all(hasattr(room, name) for name in room.__all__)


def test_a_classifier_has_few_methods() -> None:
    """All that is public and no parameter, scikit-learn's own methods among it.

    What every fit leaves behind is not counted, though it is asked of the model's schema.
    """
    kind = pacboost.BoostClassifier
    public = {name for name in dir(kind) if not name.startswith("_")} - set(kind().get_params())
    public -= {"n_features_in_", "feature_names_in_", "levels_", "validation_curves_"}
    public -= {"n_iter_", "best_iteration_", "sentence_", "notes_", "counterexample_"}
    assert len(public) <= 37, sorted(public)
    assert len(kind().get_params()) <= 32


def test_version_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert version("pacboost") == pacboost.__version__


def test_every_dependency_names_its_oldest_version() -> None:
    versions = dict(requirements())
    assert {"numpy", "scikit-learn", "pandas", "pyarrow", "dask"} <= set(versions)
    bounds = r">=\d+(\.\d+)*(,<\d+(\.\d+)*)?"
    assert [name for name, bound in versions.items() if not re.fullmatch(bounds, bound)] == []
    assert "numpy==2.0" in constraints()


ROOT = Path(__file__).parents[1]


def test_every_dependency_has_a_licence_in_the_docs_and_a_version_for_tests() -> None:
    docs = (ROOT / "docs/reliability.md").read_text(encoding="utf-8")
    table = docs.partition("| licence | packages |")[2].lower()
    fixed = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().replace("-", "_")
    tests_only = {"onnxruntime", "pytest", "pytest-xdist", "hypothesis", "mpmath"}
    for name, _ in requirements():
        assert name in table or name in tests_only, name
        assert f"\n{name.replace('-', '_')}==" in fixed, name


def test_no_class_name_is_defined_twice() -> None:
    source = Path(pacboost.__file__).parent
    names = Counter(
        name
        for path in source.rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    public = {"Measure"}  # a booster has this name in the lectures, and is public by it
    assert {name for name, count in names.items() if count > 1} <= public


def test_no_folder_is_deeper_than_two() -> None:
    source = Path(pacboost.__file__).parent
    assert max(len(path.relative_to(source).parts) for path in source.rglob("*.py")) <= 3


def test_tests_import_helpers_and_not_each_other() -> None:
    of_a_test = re.compile(
        r"^from (tests[\w.]*\.test_|tests\S* import [^(\n]*(\([^)]*)?\btest_)", re.MULTILINE
    )
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text(encoding="utf-8").replace(path.stem, "")  # a process runs itself
        assert not of_a_test.search(text), path
