"""Write a model as one Python file that imports nothing but the standard library.

The code is that of alone.py and its kin, word for word, so it is checked like all other code here;
the numbers of the model follow it.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from importlib.resources import files
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.errors import ParameterError
from pacboost.hypotheses.word_list import GRID, WordIndex
from pacboost.models.export import alone_cells
from pacboost.models.export.program import Output, Program
from pacboost.numerics.exact import VOTE_UNIT
from pacboost.sources import mixed
from pacboost.sources.kinds.kind import ColumnKind
from pacboost.sources.text import TextFeatures

WIDTH = 100
LINE = f"# {'-' * 96}\n"
NUMBERS_PER_LINE = 20
WIDTHS = (("h", 2), ("i", 4), ("q", 8))
EFFORT = 1
INT64_LIMIT = 2.0**63
"""Integers of 8 bytes are below this."""


def to_python(program: Program) -> str:
    """Return the text of the file."""
    asks = _trees(program) if program.lists is None else _lists(program, program.lists)
    parts = ["alone_cells", "alone"] + ([] if program.lists is None else ["alone_words"])
    imports, codes = zip(*(_copied(part) for part in parts), strict=True)
    lines = set("\n".join(imports).splitlines())
    about = " ".join(program.about).replace("\\", "\\\\").replace('"', "'")  # ends no docstring
    head = [
        f'"""{fill(about, WIDTH - 4)}\n\n{_usage(program)}\n"""',
        "\nfrom __future__ import annotations",
        "\n" + "\n".join(sorted(lines, key=lambda line: (line.startswith("from"), line))),
    ]
    model = f"_MODEL = _Model(\n{asks},\n{_answer(program.answer)},\n)"
    if program.answer.kind != "number":
        model += f"\nCLASSES = {program.answer.classes.tolist()!r}"
    body = [*(code.strip("\n") for code in codes), model, *_functions(program)]
    return "\n".join(head) + "\n\n\n" + "\n\n\n".join(body) + "\n"


def _copied(part: str) -> tuple[str, str]:
    """Return the imports and the code of a file of this package that is copied."""
    text = files("pacboost.models.export").joinpath(f"{part}.py").read_text(encoding="utf-8")
    above, _, below = text.partition(LINE)
    ours = ("from __future__", "from pacboost")
    lines = [line for line in above.splitlines() if line.startswith(("import ", "from "))]
    return "\n".join(line for line in lines if not line.startswith(ours)), re.sub(
        "  # (noqa|type):.*", "", below
    )


def _usage(program: Program) -> str:
    in_columns = isinstance(program.text, mixed.MixedFeatures)
    rows = "a list of rows" if program.text is None or in_columns else "a list of texts"
    text = f"predict(rows) takes {rows}; it needs Python 3.7 or later, and nothing else."
    if program.lists is None:
        text += (
            " A row is a list of cells in the order of the columns, or a dictionary by their "
            "names; one dictionary, a Series and a data frame are rows, too. None or NaN stands "
            "for a missing cell; dates, categories and numbers in text are read as pacboost reads "
            "them. Numbers are compared as 32-bit floats, as pacboost does. encode(rows) gives "
            "the rows that the C file and the ONNX graph of this model take."
        )
    if in_columns:
        text += " A row is a dictionary by the names of columns, None where a cell is missing."
    return fill(text, WIDTH - 4)


def _functions(program: Program) -> list[str]:
    described = {"predict": "Answer for every row."}
    if program.answer.kind != "number":
        described["predict_proba"] = "Give the probability of every class, row by row."
    if program.lists is None:
        described["encode"] = "Give the numbers of the cells of every row, for C and ONNX."
    return [
        f'def {name}(rows):\n    """{text}"""\n    return _MODEL.{name}(rows)'
        for name, text in described.items()
    ]


def _trees(program: Program) -> str:
    trees, sources = program.trees, program.levels.sources(program.names)
    inputs = list(dict.fromkeys(sources))
    lines = "\n".join(" ".join(map(repr, line)) for line in trees.lines.tolist())
    fields = [
        f"names={list(program.names)!r}",
        f"inputs={inputs!r}",
        f"made_of={[inputs.index(source) for source in sources]!r}",
        f"columns=[{', '.join(_reader(program.levels.kind(j)) for j in range(len(sources)))}]",
        f"feature=_wholes({_text(trees.feature)})",
        f"cut=_floats({_text(f'{cut:.9g}' for cut in trees.cut.tolist())})",
        f"missing_left=_wholes({_text(trees.missing_left.astype(int))})",
        f"left=_wholes({_text(trees.left)})",
        f"right=_wholes({_text(trees.right)})",
        f"subset=_wholes({_text(trees.subset if trees.subsets else ())})",
        f"subsets={[sum(1 << level for level in subset) for subset in trees.subsets]!r}",
        f"roots=_wholes({_text(trees.roots)})",
        f'lines=_lines("""\n{lines}\n""")',
        f"outputs={trees.outputs}",
        f"means={[astuple(column) for column in program.means]!r}",
        f"derived={[astuple(column) for column in program.derived]!r}",
    ]
    return _call("_Trees", fields)


def _reader(kind: ColumnKind) -> str:
    """Write the class of alone_cells.py that reads the cells of a kind of column."""
    name = f"_{type(kind).__name__}"
    if not hasattr(alone_cells, name):
        raise ParameterError(
            f"a Python file cannot read columns of {kind.plural}; export to C or ONNX, which take "
            "their numbers, or keep the model file"
        )
    fields = ", ".join(f"{field}={value!r}" for field, value in kind.to_json().items())
    return f"{name}({fields})"


def _lists(program: Program, index: WordIndex) -> str:
    counts = np.diff(index.entries)
    asked = np.flatnonzero(counts)
    entries = np.concatenate([[0], np.cumsum(counts[asked])])
    every = np.concatenate([index.values.ravel(), index.silent])
    unit = GRID if (every == np.rint(every / GRID) * GRID).all() else VOTE_UNIT
    largest = float(np.abs(every).max(initial=0))
    if largest / unit >= INT64_LIMIT:
        raise ParameterError(
            f"a word of this model has a vote of {largest:.3g}, and a Python file holds votes "
            f"below {INT64_LIMIT * unit:.3g}; save the model as a file of pacboost instead"
        )
    fields = [
        f"reads={_reads(program, asked.tolist())}", f"entries={_packed(entries)}",
        f"lists={_packed(index.lists)}", f"lines={_packed(index.lines)}",
        f"values={_packed(np.rint(index.values / unit))}",
        f"silent={np.rint(index.silent / unit).astype(np.int64).tolist()!r}", f"unit={unit!r}",
    ]  # fmt: skip
    return _call("_Lists", fields)


def _reads(program: Program, asked: list[int]) -> str:
    """Write the code that finds the words of a row, with numbers for those that rules use."""
    numbers = {word: number for number, word in enumerate(asked)}
    if program.text is None:
        return f"_Columns(columns={numbers!r}, names={list(program.names)!r})"
    if isinstance(program.text, TextFeatures):
        return _texts(program.text, [numbers.get(k, -1) for k in range(len(program.names))])
    columns, first = [], 0
    for column in program.text.columns:
        numbers_of_column = [numbers.get(first + k, -1) for k in range(len(column.words))]
        first += len(numbers_of_column)
        if max(numbers_of_column, default=-1) >= 0:
            source, reader = column.name, "None"
            if isinstance(column, mixed.NumberConditions):
                source, reader = column.meaning.source(column.name), _reader(column.meaning)
            conditions = _condition(column, numbers_of_column)
            columns.append(f"{column.name!r}: ({source!r}, {reader}, {conditions})")
    return f"_Row({{{', '.join(columns)}}})"


def _texts(text: TextFeatures, numbers: list[int]) -> str:
    words = {word: k for word, k in zip(text.vocabulary, numbers, strict=True) if k >= 0}
    return (
        f"_Texts(words={words!r}, ngrams={_ends(text.ngrams)}, skips={text.skips}, "
        f"characters={_ends(text.characters)}, lowercase={text.lowercase}, "
        f"times={text.times}, beginning={text.beginning}, prefixes={_ends(text.prefixes)})"
    )


def _condition(column: mixed.Conditions, numbers: list[int]) -> str:
    """Write the code that finds the conditions on one column that a row meets."""
    if isinstance(column, mixed.TextConditions):
        return _texts(column.features, numbers)
    assert isinstance(column, mixed.LevelConditions | mixed.NumberConditions)  # there are no others
    missing = numbers[-1] if column.missing else -1
    if isinstance(column, mixed.LevelConditions):
        levels = dict(zip(column.levels, numbers, strict=False))
        return f"_Levels({levels!r}, missing={missing})"
    cuts, size = _text(f"{cut:.9g}" for cut in column.thresholds), len(column.thresholds)
    above, at_most = numbers[:size], numbers[size : 2 * size]
    return f"_Numbers(_floats({cuts}), above={above}, at_most={at_most}, missing={missing})"


def _ends(span: tuple[int, int] | None) -> tuple[int, int]:
    return (0, 0) if span is None else (span[0], span[1] + 1)


def _answer(answer: Output) -> str:
    fields = [f"kind={answer.kind!r}", "classes=" + repr(answer.classes.tolist())]
    fields += [f"steepness={answer.steepness!r}", f"count={answer.count}"]
    fields += [f"middle={answer.middle!r}", f"scale={answer.scale!r}", f"logs={answer.logs!r}"]
    if answer.cut is not None:
        fields += [f"place={answer.cut.place}", f"cut={answer.cut.at!r}"]
    curves = [
        f"_{type(curve).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(curve).items())})"
        for curve in answer.curves
    ]
    return _call("_Answer", [*fields, f"curves=[{', '.join(curves)}]"])


def _call(name: str, fields: Sequence[str]) -> str:
    inside = "".join(f"        {field},\n" for field in fields)
    return f"    {name}(\n{inside}    )"


def _text(numbers: Iterable[Any]) -> str:
    words = [str(number) for number in numbers]
    starts = range(0, len(words), NUMBERS_PER_LINE)
    lines = [" ".join(words[k : k + NUMBERS_PER_LINE]) for k in starts]
    return '"""\n' + "\n".join([*lines, '"""'])


def _packed(numbers: NDArray[Any]) -> str:
    """Pack integers; on all platforms array's "h", "i" and "q" have 2, 4 and 8 bytes."""
    largest = np.abs(numbers).max(initial=0)
    kind, width = next(entry for entry in WIDTHS if largest < 256 ** entry[1] / 2)
    content = zlib.compress(np.ascontiguousarray(numbers, dtype=f"<i{width}").tobytes(), EFFORT)
    return f'_packed("{kind}", "{base64.b64encode(content).decode()}")'
