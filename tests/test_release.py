"""What a release says of itself in several places is said alike in all of them."""

import json
import os
import re
import tomllib
from typing import Any

import pytest
import yaml
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr

import pacboost
from pacboost import theory
from pacboost.estimators.decisions.threshold import ThresholdClassifier
from tests.markdown import DOCS, HOUSE
from tests.oldest import requirements

PROJECT = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_yaml(path: str) -> Any:
    return yaml.safe_load((HOUSE / path).read_text(encoding="utf-8"))


def test_the_version_stands_in_the_package_and_is_known_to_changelog_and_site() -> None:
    assert "version" in PROJECT["dynamic"]
    changes = (HOUSE / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == pacboost.__version__
    versions = json.loads((DOCS / "_static" / "switcher.json").read_text(encoding="utf-8"))
    (preferred,) = [version for version in versions if version.get("preferred")]
    assert preferred["version"] == pacboost.__version__
    assert preferred["url"].endswith(f"/v{pacboost.__version__}/")


def test_pythons_of_the_classifiers_are_tested() -> None:
    versions = re.findall(
        r":: Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE
    )
    assert PROJECT["requires-python"] == f">={versions[0]}"
    jobs = read_yaml(".github/workflows/tests.yml")["jobs"]
    matrix = jobs["newest"]["strategy"]["matrix"]
    assert matrix["python"] == versions
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert any(versions[0] in str(step) for step in jobs["oldest"]["steps"])


@pytest.mark.parametrize("name", ["tests", "docs", "publish"])
def test_workflows_call_what_the_makefile_has(name: str) -> None:
    makefile = (HOUSE / "Makefile").read_text(encoding="utf-8")
    jobs = read_yaml(f".github/workflows/{name}.yml")["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    targets = re.findall(r"\bmake (\w+)", "\n".join(step.get("run", "") for step in steps))
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    digest = r"@[0-9a-f]{40}$"  # a tag can be moved
    assert all(re.search(digest, step["uses"]) for step in steps if "uses" in step)


def test_one_action_has_one_digest() -> None:
    files = sorted((HOUSE / ".github" / "workflows").glob("*.yml"))
    used = "\n".join(file.read_text(encoding="utf-8") for file in files)
    actions = set(re.findall(r"uses: (\S+)@([0-9a-f]{40})  # (v[\d.]+)$", used, re.MULTILINE))
    assert len({name for name, _, _ in actions}) == len(actions)


def test_a_release_lists_what_an_installation_consists_of() -> None:
    jobs = read_yaml(".github/workflows/publish.yml")["jobs"].values()
    (build,) = [job for job in jobs if any(step.get("run") == "make dist" for step in job["steps"])]
    kept = [step["with"]["path"] for step in build["steps"] if "path" in step.get("with", {})]
    assert "dist/*.cdx.json" in kept
    if "PACBOOST_DIST" in os.environ:
        (file,) = (HOUSE / os.environ["PACBOOST_DIST"]).glob("*.cdx.json")
        listed = json.loads(file.read_text(encoding="utf-8"))
        assert listed["metadata"]["component"]["name"] == "pacboost"
        names = {component["name"].lower().replace("_", "-") for component in listed["components"]}
        needed = {re.split(r"[<>=]", line)[0].replace("_", "-") for line in PROJECT["dependencies"]}
        assert needed <= names


def test_only_the_job_that_publishes_may_say_who_it_is() -> None:
    publish = read_yaml(".github/workflows/publish.yml")
    assert publish[True] == {"push": {"tags": ["v*"]}}  # YAML reads "on" as a truth value
    assert publish["permissions"] == {"contents": "read"}
    assert [name for name, job in publish["jobs"].items() if "permissions" in job] == ["pypi"]
    assert publish["jobs"]["pypi"]["permissions"] == {"id-token": "write"}


def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    recipe = read_yaml("recipe.yaml")
    needed = [line for line in recipe["requirements"]["run"] if not line.startswith("python ")]
    named = dict(requirements())
    assert len(needed) == len(PROJECT["dependencies"])
    for line in [*needed, *recipe["requirements"]["run_constraints"]]:
        name, version = line.split()
        assert version == named.get(name, named.get(name.replace("-", "_")))
    (point,) = recipe["build"]["python"]["entry_points"]
    assert point == f"pacboost = {PROJECT['scripts']['pacboost']}"


def test_the_citation_names_the_package() -> None:
    citation = read_yaml("CITATION.cff")
    assert citation["repository-code"] == PROJECT["urls"]["Homepage"]
    assert citation["license"] == PROJECT["license"]
    assert "version" not in citation  # it would be a second place


def estimators() -> list[tuple[str, type]]:
    rooms = {"pacboost": pacboost, "pacboost.theory": theory}
    named = [(f"{room}.{name}", getattr(module, name)) for room, module in rooms.items()
             for name in module.__all__]  # fmt: skip
    named.append((f"{ThresholdClassifier.__module__}.ThresholdClassifier", ThresholdClassifier))
    return [(page, kind) for page, kind in named
            if isinstance(kind, type) and issubclass(kind, BaseEstimator)]  # fmt: skip


@pytest.mark.parametrize(("page", "kind"), estimators(), ids=str)
def test_diagrams_link_to_the_page_of_the_class(page: str, kind: Any) -> None:
    link = kind.__new__(kind)._get_doc_link()
    assert link == f"https://pacboost.readthedocs.io/en/v{pacboost.__version__}/api/{page}.html"


def test_links_are_in_the_diagrams_and_not_of_classes_of_others() -> None:
    model = pacboost.AdaBoostClassifier()
    assert f'href="{model._get_doc_link()}"' in estimator_html_repr(model)
    subclass = type("Own", (pacboost.AdaBoostClassifier,), {"__module__": "elsewhere"})
    assert subclass()._get_doc_link() == ""
