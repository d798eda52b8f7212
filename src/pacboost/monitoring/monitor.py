"""Monitor a model in use: its mistakes as labels come back, and its rows."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from pacboost.bounds import wording
from pacboost.bounds.certificate import Certificate
from pacboost.errors import FileError, ParameterError
from pacboost.monitoring.drift import RowStream
from pacboost.monitoring.mistakes import MistakeStream, read_mistakes
from pacboost.monitoring.status import DriftStatus, MonitorStatus
from pacboost.numerics.checks import positive_whole, probability
from pacboost.questions.answers import answers, joined
from pacboost.questions.certify import certify
from pacboost.questions.inner_models import snapshot
from pacboost.questions.mistakes import mistakes as mistakes_of
from pacboost.sources.optional import atomic_write, collected

FORMAT = "pacboost monitor"
VERSION = 1


def write_state(path: Path, state: dict[str, Any]) -> None:
    """Write the state of a monitor as JSON with a checksum, whole or not at all."""
    text = json.dumps(state, allow_nan=False, ensure_ascii=False)
    document = {"format": FORMAT, "version": VERSION, "sha256": _digest(text), "state": state}
    with atomic_write(path) as part:
        part.write_text(json.dumps(document, allow_nan=False, ensure_ascii=False), "utf-8")


def read_state(path: Path) -> dict[str, Any]:
    """Read the state of a monitor, and refuse a file that was changed or truncated."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe or device may never end
            raise OSError("it is not a file")
        document = json.loads(path.read_text("utf-8"))
    except OSError as problem:
        raise FileError(f"{path}: cannot be read ({problem.strerror or problem})") from problem
    except (ValueError, RecursionError) as problem:
        raise FileError(f"{path}: is not the file of a monitor, or was damaged") from problem
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FileError(f"{path}: is not the file of a monitor")
    if document.get("version") != VERSION:
        raise FileError(
            f"{path}: has version {document.get('version')!r}, this pacboost reads version "
            f"{VERSION}; it was written by another version of pacboost. Use that version, or begin "
            "a new file"
        )
    state = document.get("state")
    try:
        text = json.dumps(state, allow_nan=False, ensure_ascii=False)
        text.encode()
    except ValueError as problem:
        raise FileError(f"{path}: holds what no monitor has written ({problem})") from problem
    if not isinstance(state, dict) or document.get("sha256") != _digest(text):
        raise FileError(f"{path}: was changed or damaged after it was written (its checksum says)")
    return state


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


MAX_RUN_LENGTH = 10**15


class Monitor:
    """Check continuously whether a model's certificate still holds and whether its rows drift.

    It watches three things, each with a separate guarantee:

    * *The certificate.* Capital is bet against "the error is at most the certified one". While
      that is true, also of rows that depend on the past, a false alarm ever comes with probability
      ``delta`` at most.
    * *A change.* A detector sounds soon after the error has grown, however late that is. While
      nothing has changed, it sounds after ``run_length`` labelled rows on average, or later.
    * *Drift.* Boosted rules that distinguish new rows from ``reference`` rows bet on each next
      row, without labels. If both come from one distribution, a false alarm ever comes with
      probability ``delta`` at most.

    The results do not depend on how rows are split into batches. Labels may come late, but not by
    selection: if only rows with complaints are labelled, mistakes are too many, and an alarm means
    nothing.

    Parameters
    ----------
    model : fitted classifier, default=None
        Needed by ``update``; also read for its certificate.
    delta : float, default=0.05
        The probability of a false alarm, and of an interval that misses the mean error.
    error : float or certificate, default=None
        The error to compare the model with. None: that of ``model.certificate_``. A certificate,
        as ``certify`` returns it, must be of the error on new examples.
    run_length : int, default=100000
        The average number of labelled rows to a false alarm of the detector, at least.
    reference : table of rows, default=None
        Rows from before any drift, for ``update_rows``; at least 200. Each is used once, so the
        number of new rows that can be compared is the number of reference rows, less up to 1,000
        that divide the columns into bins. They may be the training rows, if new rows come from the
        same distribution. A category is identified by a hash of its text.

    Examples
    --------
    >>> import numpy as np
    >>> mistakes = np.random.default_rng(0).random(3000) < np.repeat([0.04, 0.1], [2000, 1000])
    >>> monitor = Monitor(error=0.05).update_mistakes(mistakes)
    >>> monitor.alarm, 2000 < monitor.status().sounded_at < 2600
    (True, True)
    """

    def __init__(
        self,
        model: object = None,
        *,
        delta: float = 0.05,
        error: float | Certificate | None = None,
        run_length: int = 100_000,
        reference: object = None,
    ) -> None:
        self.model = model
        self.delta = probability("delta", delta)
        certificate = getattr(model, "certificate_", None) if error is None else error
        if certificate is None or isinstance(certificate, Certificate):
            self.error = _certified("the model" if error is None else "error", certificate)
        else:
            self.error = probability("error", certificate)
        self.run_length = positive_whole("run_length", run_length)
        if self.run_length > MAX_RUN_LENGTH:
            raise ParameterError(
                "run_length is above 10^15, more rows than any model sees; give a smaller number",
                parameter="run_length",
            )
        self._record = getattr(model, "ledger_", None)
        # Other models may be fitted in place, so a copy is compared with.
        self._first_model = snapshot(model) if self._record is None else None
        self._mistakes = MistakeStream(self.error, self.delta, self.run_length)
        self._rows = None if reference is None else RowStream.of(reference, self.delta)
        self.files: list[str] = []
        """Digests of the files that were counted, as ``pacboost watch`` adds them."""

    def update(self, X: object, y: ArrayLike) -> Monitor:
        """Count the mistakes of the model on labelled rows."""
        if self.model is None:
            raise ParameterError(
                "this monitor has no model; use update_mistakes", parameter="model"
            )
        X = collected(X)
        wrong = mistakes_of(self.model, X, y)
        # a fit makes a new ledger, so its identity tells without comparing models
        same = getattr(self.model, "ledger_", None) is self._record
        if self._first_model is not None:
            # a model that was fitted again, but answers these rows alike, makes the same mistakes
            same = same and bool((mistakes_of(self._first_model, X, y) == wrong).all())
        if not same:
            raise ParameterError(
                "the model was fitted again since this monitor began, so its mistakes are those "
                "of another model; begin a new monitor",
                parameter="model",
            )
        return self.update_mistakes(wrong)

    def update_answers(self, said: ArrayLike, y: ArrayLike, missing: str = "abstain") -> Monitor:
        """Count the mistakes of answers; missing ones are skipped, or with "wrong" count."""
        (model,), X, labels = joined([answers(said, missing=missing)], None, y)
        return self.update_mistakes(mistakes_of(model, X, labels))

    def update_mistakes(self, mistakes: Any) -> Monitor:
        """Count mistakes from a list with True or 1 for each, in the order of the rows."""
        self._mistakes.add(read_mistakes(mistakes))
        return self

    def update_rows(self, X: object) -> Monitor:
        """Compare new rows, without labels, with the reference rows."""
        if self._rows is None:
            raise ParameterError(
                "this monitor has no reference rows to compare new ones with; give them "
                "when you make it",
                parameter="reference",
            )
        self._rows.add(X)
        return self

    def now(self, X: object, y: ArrayLike) -> Certificate:
        """Certify the error on new rows by labelled rows from before the drift.

        The rules that distinguish new rows from the reference weigh the rows X, y, which must be
        neither training rows, nor reference rows, nor rows passed to ``update_rows``. The claim is
        about the examples that these weights describe; if no drift was found, it begins with "If
        the world has not moved".
        Every call makes a separate claim.
        """
        if self.model is None or self._rows is None:
            raise ParameterError(
                "a monitor needs a model and reference rows to certify", parameter="reference"
            )
        return certify(self.model, X, y, shift=self._rows.ratio(X), delta=self.delta)

    @property
    def alarm(self) -> bool:
        """True if the certificate is refuted, the detector has sounded, or rows have drifted."""
        return self.status().alarm

    def status(self) -> MonitorStatus:
        """Return the current status."""
        stream = self._mistakes
        low, high = stream.interval()
        return MonitorStatus(
            rows=stream.rows,
            mistakes=stream.wrong,
            error=stream.wrong / stream.rows if stream.rows else None,
            lower=low,
            upper=high,
            certified=self.error,
            delta=self.delta,
            log_capital=stream.log_capital,
            run_length=self.run_length,
            detector=stream.detector,
            refuted_at=stream.refuted_at,
            sounded_at=stream.sounded_at,
            sounded_last=stream.sounded_last,
            sounded=stream.sounded,
            drift=self._drift(),
        )

    def __str__(self) -> str:
        return str(self.status())

    def _repr_html_(self) -> str:
        return self.status()._repr_html_()

    def _drift(self) -> DriftStatus | None:
        stream = self._rows
        if stream is None:
            return None
        return DriftStatus(
            rows=stream.rows,
            compared=stream.pairs,
            left=stream.left,
            capital=stream.capital,
            drifted_at=stream.drifted_at,
            columns=stream.columns(),
            rules=tuple(stream.words),
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw error, capital, detector and drift on 3 or 4 axes, which are returned."""
        from pacboost.reports.plots import monitor_curves

        drift = None if self._rows is None else self._rows.history.points
        return monitor_curves(
            self._mistakes.curves(), drift, error=self.error, delta=self.delta,
            run_length=self.run_length, ax=ax,
        )  # fmt: skip

    def report(self, path: str | Path | None = None, title: str | None = None) -> Any:
        """Write an HTML page with the status and the curves, and return its path.

        The page is one file that opens in any browser. Without a path, the page itself is returned,
        which a notebook shows.
        """
        from pacboost.reports.page.document import Watched, watch_page, written

        status, stream = self.status(), self._rows
        drift = status.drift
        alarms = [text for text, is_alarm in status.statements() if is_alarm]
        watched = Watched(
            status.sentences, alarms, self.error, self.delta, self.run_length,
            self._mistakes.curves(), None if stream is None else stream.history.points,
            {} if drift is None else drift.columns, () if drift is None else drift.rules,
        )  # fmt: skip
        return written(watch_page(watched, title), path)

    def save(self, path: str | Path) -> None:
        """Write the state to a small file, for ``load``."""
        write_state(Path(path), self._stored())

    def _stored(self) -> dict[str, Any]:
        return {
            "model": _fingerprint(self.model),
            "delta": self.delta,
            "error": self.error,
            "run_length": self.run_length,
            "mistakes": self._mistakes.stored(),
            "rows": None if self._rows is None else self._rows.stored(),
            **({"files": self.files} if self.files else {}),
        }

    @classmethod
    def load(cls, path: str | Path, model: object = None, *, reference: object = None) -> Monitor:
        """Continue from a file; the model and the reference rows are not in it.

        To compare further rows, pass the same reference rows again.
        """
        state = read_state(Path(path))
        watched, passed = state.get("model"), _fingerprint(model)
        # models of other libraries have no digest, and a monitor of mistakes has no model
        if watched and passed and watched != passed:
            raise FileError(
                f"{path}: watches another model than the one given; give that model, or begin a "
                "new monitor"
            )
        try:
            monitor = cls(
                model, delta=_number(state["delta"]), error=_number(state["error"]),
                run_length=state["run_length"],
            )  # fmt: skip
            monitor._mistakes.restore(state["mistakes"])
            monitor.files = [str(digest) for digest in state.get("files", [])]
            if state["rows"] is not None:
                monitor._rows = RowStream.restored(state["rows"], monitor.delta)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            raise FileError(f"{path}: is not the file of a monitor ({problem})") from problem
        if reference is not None and monitor._rows is None:
            raise ParameterError(
                f"{path}: this monitor was started without reference rows; start a new one",
                parameter="reference",
            )
        if reference is not None and monitor._rows is not None:
            monitor._rows.give_reference(reference)
        return monitor


def _number(value: object) -> float:
    """Read a number from a file; None would mean the error that the model certifies."""
    if not isinstance(value, float):
        raise ValueError(f"delta or error is {value!r:.40}; a number is needed")
    return value


def _certified(who: str, certificate: Certificate | None) -> float:
    of_what = getattr(certificate, "of_what", None)
    # the mean error of a period is what the next one is held to, though nothing promises it
    is_error = of_what in (wording.NEW_EXAMPLES, wording.PERIOD)
    if certificate is None or not is_error or certificate.value >= 1:
        has = "has no certificate" if certificate is None else f"certifies {certificate.claim!r}"
        raise ParameterError(
            f"{who} {has}, so the error to hold the model to is not known; give error=, such as "
            "the certificate that certify(model, X, y) makes by new rows",
            parameter="error",
        )
    return float(certificate.value)


def _fingerprint(model: object) -> str:
    """Return a digest of the record of a pacboost model; empty for others."""
    ledger: Any = getattr(model, "ledger_", None)
    return str(ledger.digest()) if hasattr(ledger, "digest") else ""
