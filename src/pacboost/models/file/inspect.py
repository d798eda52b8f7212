"""A summary of a model file, without loading the kernels or building the model."""

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
from pacboost.models.file.container import VERSION
from pacboost.models.file.fields import Fields, check_claims, checked, derived_read

MAX_NAMES_SHOWN = 5


@dataclass(frozen=True)
class Summary:
    """The facts of a model file; ``str`` prints them as a table."""

    kind: str
    """The kind of model: "adaboost with stump", "random_forest", …"""
    rows: int | None
    features: int
    names: tuple[str, ...] | None
    """The names of the columns; for texts, the words and n-grams of the vocabulary."""
    classes: tuple[Any, ...]
    rounds: int
    """Rounds of boosting, or trees of a forest."""
    stopped: str
    certificate: Certificate | None
    text: Mapping[str, Any] | None
    versions: Mapping[str, str]
    fingerprint: str
    """The SHA-256 of the training rows, as the learner saw them."""
    sha256: str
    """The SHA-256 of the file, which was checked."""
    size: int
    schema: int = VERSION
    held_out: HeldOut | None = field(default=None, repr=False)
    """Counts of the certifying rows besides mistakes, if rows were held out."""
    coverage: str = ""
    """The claims about prediction sets or intervals, if they were calibrated."""
    derived: tuple[str, ...] = ()
    """The names of the columns that are derived from others."""

    @property
    def sentence(self) -> str:
        """The claim, with a baseline, rare classes and a next step if rows were held out."""
        if self.certificate is None:
            return self.coverage or "Nothing is certified yet."
        claim = estimates.in_words(self.certificate, self.held_out, self.classes)
        return f"{claim} {self.coverage}".strip()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values that JSON can hold."""
        content = asdict(replace(self, held_out=None))
        del content["held_out"]
        if self.certificate is not None:
            content["certificate"] = self.certificate.to_dict()
        return {**content, "sentence": self.sentence}

    def __str__(self) -> str:
        named = "" if self.names is None else f": {_some(self.names)}"
        count = len(self.classes)
        classes = f"{count} classes: {_some(self.classes)}" if count else "numbers"
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines = {
            "model": self.kind,
            "predicts": classes,
            "features": f"{self.features:,}{named}",
            "derived": _some(self.derived),
            "rows": "" if self.rows is None else f"{self.rows:,}",
            "rounds": f"{self.rounds:,}" + (f" ({self.stopped})" if self.stopped else ""),
            "texts": "" if self.text is None else "read as words and n-grams",
            "data": self.fingerprint[:16],
            "written by": versions,
            "file": f"{self.size:,} bytes, schema {self.schema}, SHA-256 {self.sha256[:16]}",
        }
        shown = [f"  {name:<12} {text}" for name, text in lines.items() if text]
        return "\n".join([self.sentence, "", *shown])


def inspect(path: str | Path, *, memory: int = 0) -> Summary:
    """Return a summary of a model file, after checking its SHA-256.

    Reading may take ``memory`` bytes, if that is more than the size of the file allows.

    Its rules are not checked: ``pacboost.load`` checks them, and ``pacboost.verify`` recomputes the
    certificate.
    """
    path = Path(path)
    kind = container.kind_of(path)
    if kind not in ("model", "forest"):
        raise FileError(f"{path}: holds a {kind}; a pacboost model file is needed")
    content = container.read(path, kind, memory)
    with container.refusing_damage(path):
        document = Fields(content.document, "content", content.room)
        check_claims(document)
        core, about = document.part("model"), document.part("about")
        names = None if about.peek("names") is None else tuple(about.words("names"))
        facts = _forest(core) if kind == "forest" else _vote(core, names)
        held_out = document.made("held_out", HeldOut.from_dict) if "held_out" in document else None
        fingerprint = about.get("fingerprint", str) if "fingerprint" in about else ""
        summary = Summary(
            **facts, names=names, classes=tuple(core.get("classes", list)),
            certificate=_certificate(document, content.document),
            coverage=_coverage(content.document),
            versions=about.get("versions", dict), fingerprint=fingerprint, held_out=held_out,
            sha256=content.sha256, size=path.stat().st_size,
        )  # fmt: skip
        str(summary)  # raises if a sentence cannot be written
        return summary


def _vote(core: Fields, names: tuple[str, ...] | None) -> dict[str, Any]:
    part = core.part("ledger")
    skip = [entry.name for entry in fields(Ledger) if entry.type not in ("str", "int")]
    ledger = checked(part, Ledger, skip=skip)
    features = core.whole("features", 1, 2**31)
    derived = derived_read(core, features)
    known = names or ()
    named = {
        j: known[j] if j < len(known) else f"x{j}"
        for column in derived
        for j in (column.first, column.second)
    }
    return {
        "kind": f"{ledger['booster']} with {ledger['learner']}",
        "rows": ledger["rows"],
        "features": features,
        "derived": tuple(column.name(named) for column in derived),
        "rounds": part.part("rounds").whole("count", 0, 2**31),
        "stopped": ledger.get("stopped", ""),
        "text": core.get("text", dict) if "text" in core else None,
    }


def _forest(core: Fields) -> dict[str, Any]:
    blocks = core.parts("blocks")
    return {
        "kind": core.word("kind", ("random_forest", "extra_trees")),
        "features": len(core.part("bins").any("sizes")),
        "rounds": sum(len(block.any("firsts")) - 1 for block in blocks),
        **{"rows": None, "stopped": "", "text": None},
    }


def _certificate(fields_of_file: Fields, document: Mapping[str, Any]) -> Certificate | None:
    if "decision" in fields_of_file:
        from pacboost.bounds.decision import ThresholdDecision  # loads SciPy, which few files need

        return ThresholdDecision.from_dict(document["decision"]).certificate
    if fields_of_file.peek("certificate") is None:
        return None
    certificate = Certificate.from_stored(checked(fields_of_file.part("certificate"), Certificate))
    return replace(certificate, model_digest=container.kept(document, "certificate"))


def _coverage(document: Mapping[str, Any]) -> str:
    if "coverage" not in document:
        return ""
    from pacboost.bounds.coverage import coverage_rule, coverage_words

    return coverage_words(coverage_rule(document["coverage"]).certificate)


def _some(names: tuple[Any, ...]) -> str:
    shown = ", ".join(str(name) for name in names[:MAX_NAMES_SHOWN])
    return f"{shown}, …" if len(names) > MAX_NAMES_SHOWN else shown
