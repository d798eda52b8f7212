"""What is in a model file, said without loading the compiler or making the model of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pacboost.bounds import estimates
from pacboost.bounds.certificate import Certificate
from pacboost.bounds.held_out import HeldOut
from pacboost.errors import FileError
from pacboost.ledgers.ledger import Ledger
from pacboost.models.file import container
from pacboost.models.file import fields as records
from pacboost.models.file.container import VERSION
from pacboost.models.file.fields import Fields

MOST_NAMED = 5


@dataclass(frozen=True)
class Summary:
    """The facts of a model file; ``str`` lays them out."""

    kind: str
    """What was fitted: "adaboost with Stump", "random_forest", …"""
    rows: int | None
    """How many rows it learned from, where the file says so."""
    features: int
    names: tuple[str, ...] | None
    """What the columns are called; for texts, the words and n-grams that are known."""
    classes: tuple[Any, ...]
    """The labels; none where numbers are predicted."""
    rounds: int
    """Rounds of boosting, or trees of a forest."""
    stopped: str
    certificate: Certificate | None
    text: Mapping[str, Any] | None
    """How texts are read, where they are."""
    versions: Mapping[str, str]
    """What the file was written with."""
    fingerprint: str
    """The SHA-256 of the rows it learned from, as the learner saw them."""
    sha256: str
    """That of the file, which was checked."""
    size: int
    """How many bytes the file has."""
    schema: int = VERSION
    held_out: HeldOut | None = field(default=None, repr=False)
    """What was counted on the certifying rows besides mistakes, if rows were held out."""
    coverage: str = ""
    """What is certified of prediction sets or intervals, if they were calibrated."""

    @property
    def sentence(self) -> str:
        """What is certified, with a baseline, rare classes and a next step if they are known."""
        if self.certificate is None:
            return self.coverage or "Nothing is certified."
        said = estimates.in_words(self.certificate, self.held_out, self.classes)
        return f"{said} {self.coverage}".strip()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values that JSON can hold."""
        content = asdict(replace(self, held_out=None))
        del content["held_out"]
        if self.certificate is not None:
            content["certificate"] = self.certificate.to_dict()
        return {**content, "sentence": self.sentence}

    def __str__(self) -> str:
        named = "" if self.names is None else f": {_some(self.names)}"
        classes = (
            f"{len(self.classes)} classes: {_some(self.classes)}" if self.classes else "numbers"
        )
        made = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines = {
            "model": self.kind,
            "predicts": classes,
            "features": f"{self.features:,}{named}",
            "rows": "" if self.rows is None else f"{self.rows:,}",
            "rounds": f"{self.rounds:,}" + (f" ({self.stopped})" if self.stopped else ""),
            "texts": "" if self.text is None else "read as words and n-grams",
            "data": self.fingerprint[:16],
            "written by": made,
            "file": f"{self.size:,} bytes, schema {self.schema}, SHA-256 {self.sha256[:16]}",
        }
        shown = [f"  {name:<12} {said}" for name, said in lines.items() if said]
        return "\n".join([self.sentence, "", *shown])


def inspect(path: str | Path) -> Summary:
    """Return what a model file holds; it is read whole, and its SHA-256 checked.

    The meaning of its rules is not: ``pacboost.load`` does that, ``pacboost.verify`` even more.
    """
    path = Path(path)
    kind = container.kind_of(path)
    if kind not in ("model", "forest"):
        raise FileError(f"{path}: holds a {kind}; a pacboost model file is needed")
    content = container.read(path, kind)
    try:
        whole = Fields(content.document, "content", content.room)
        core, about = whole.part("model"), whole.part("about")
        found = _forest(core) if kind == "forest" else _vote(core)
        names = None if about.peek("names") is None else tuple(about.words("names"))
        summary = Summary(
            **found,
            names=names,
            classes=tuple(core.get("classes", list)),
            certificate=_certificate(whole, content.document),
            versions=about.get("versions", dict),
            fingerprint=about.get("fingerprint", str) if "fingerprint" in about else "",
            sha256=content.sha256,
            size=path.stat().st_size,
            held_out=whole.made("held_out", HeldOut.from_dict) if "held_out" in whole else None,
            coverage=_coverage(content.document),
        )
        str(summary)  # what cannot be said of it is noticed here
        return summary
    except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
        raise FileError(f"{path}: is damaged ({problem})") from problem


def _vote(core: Fields) -> dict[str, Any]:
    part = core.part("ledger")
    skip = [own.name for own in fields(Ledger) if own.type not in ("str", "int")]
    ledger = records.checked(part, Ledger, skip=skip)
    return {
        "kind": f"{ledger['booster']} with {ledger['learner']}",
        "rows": ledger["rows"],
        "features": core.whole("features", 1, 2**31),
        "rounds": part.part("rounds").whole("count", 0, 2**31),
        "stopped": ledger.get("stopped", ""),
        "text": core.get("text", dict) if "text" in core else None,
    }


def _forest(core: Fields) -> dict[str, Any]:
    blocks = core.parts("blocks")
    return {
        "kind": core.word("kind", ("random_forest", "extra_trees")),
        "rows": None,
        "features": len(core.part("bins").any("sizes")),
        "rounds": sum(len(block.any("firsts")) - 1 for block in blocks),
        "stopped": "",
        "text": None,
    }


def _certificate(whole: Fields, document: Mapping[str, Any]) -> Certificate | None:
    if "decision" in whole:
        from pacboost.bounds.decision import ThresholdDecision  # loads SciPy, which few files need

        return ThresholdDecision.from_dict(document["decision"]).certificate
    if whole.peek("certificate") is None:
        return None
    found = Certificate.from_dict(records.checked(whole.part("certificate"), Certificate))
    return replace(found, model_digest=container.kept(document, "certificate"))


def _coverage(document: Mapping[str, Any]) -> str:
    if "coverage" not in document:
        return ""
    from pacboost.bounds.coverage import (
        coverage_rule,  # loads SciPy, which few files need
        coverage_words,
    )

    return coverage_words(coverage_rule(document["coverage"]).certificate)


def _some(names: tuple[Any, ...]) -> str:
    shown = ", ".join(str(name) for name in names[:MOST_NAMED])
    return f"{shown}, …" if len(names) > MOST_NAMED else shown
