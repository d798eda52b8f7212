"""Running the command as a user does, on small files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner, Result

from pacboost.cli.main import main


def run(*arguments: object, stdin: str | None = None) -> Result:
    """Run the command; whatever comes, it never ends in a traceback."""
    result = CliRunner().invoke(main, [str(one) for one in arguments], input=stdin)
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert "Traceback" not in result.output
    return result


def well(*arguments: object, stdin: str | None = None) -> str:
    """Run a command that has to succeed, and give its standard output with single blanks."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


def refused(*arguments: object, code: int = 2) -> str:
    """Run a command that has to end with this code, and give all it says with single blanks."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert code != 2 or result.stdout == ""
    return " ".join(result.output.replace("│", "").split())


def answer(*arguments: object, stdin: str | None = None, code: int = 0) -> Any:
    """Run a command with --json, whose standard output is one document and nothing else."""
    result = run(*arguments, "--json", stdin=stdin)
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def write_csv(path: Path, columns: dict[str, Any]) -> Path:
    """Write columns under a header; floats so that they are read again as they are."""
    cells = [[repr(v) if isinstance(v, float) else str(v) for v in own] for own in columns.values()]
    lines = [",".join(row) for row in zip(*cells, strict=True)]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n", encoding="utf-8")
    return path


def people(rows: int, seed: int, classes: tuple[object, object] = ("no", "yes")) -> dict[str, Any]:
    """A number, a category with a missing level, and a label that follows them but for noise."""
    generator = np.random.default_rng(seed)
    size, weight = generator.normal(size=rows), generator.normal(size=rows)
    colour = generator.choice(["red", "green", ""], size=rows)
    above = size + (colour == "red") + 0.2 * generator.normal(size=rows) > 0.3
    label = [classes[int(one)] for one in above]
    return {"size": size.tolist(), "colour": colour, "weight": weight.tolist(), "label": label}


TEXTS = {
    "lost card": ["I lost my card", "my card was stolen", "where is my card", "lost the card"],
    "top-up": ["top up my phone", "how do I top up", "the top up failed", "please top it up"],
}


def requests(times: int) -> dict[str, list[str]]:
    """Texts with two intents, told apart by a word, and no two alike."""
    pairs = [(text, intent) for intent, own in TEXTS.items() for text in own] * times
    texts = [f"{text} {number}" for number, (text, _) in enumerate(pairs)]
    return {"utterance": texts, "intent": [intent for _, intent in pairs]}
