"""Files of every kind: read, written again, summed up and verified."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import pacboost
from pacboost.models.file import format as model_file
from pacboost.models.file.inspect import inspect
from pacboost.questions.verify import verify
from tests.models.kinds import KINDS, answers, saved


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_read_and_written_is_the_same(kind: str, tmp_path: Path) -> None:
    path, again = tmp_path / "one", tmp_path / "two"
    model = KINDS[kind]()
    model.save(path)
    back = pacboost.load(path)
    back.save(again)
    assert again.read_bytes() == path.read_bytes()
    assert model_file.model_bytes(back.model_) == model_file.model_bytes(model.model_)
    assert back.model_.certificate == model.model_.certificate
    assert answers(back, kind) == answers(model, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_summaries_say_what_the_model_says(kind: str) -> None:
    path = saved(kind)
    model, told = pacboost.load(path), inspect(path)
    assert told.features == model.n_features_in_
    assert list(told.classes) == list(getattr(model, "classes_", []))
    assert told.certificate == model.model_.certificate
    assert told.rounds == len(getattr(model.model_, "ledger", model.model_.__dict__.get("forest")))
    assert told.size == path.stat().st_size
    assert told.sentence in str(told)
    assert json.loads(json.dumps(told.to_dict()))["sha256"] == told.sha256
    for part in ("predicts", "features", "written by", "SHA-256"):
        assert part in str(told)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_files_hold(kind: str) -> None:
    path = saved(kind)
    failing = {check.name for check in verify(path) if not check.holds}
    assert failing == (set() if inspect(path).certificate else {"bound"})


def test_looking_into_a_file_does_not_load_the_compiler() -> None:
    code = (
        "import sys\nfrom pacboost.models.file.inspect import inspect\n"
        f"print(inspect({str(saved('trees'))!r}))\n"
        "print([name for name in ('numba', 'sklearn', 'scipy') if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip().endswith("[]")
    assert "logit with Tree" in said.stdout
