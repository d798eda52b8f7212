"""Write a model as one C99 file: tables of numbers, and the sections of model.c that they need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacboost.models.calibration import Isotonic, Sigmoid
from pacboost.models.export.program import Output, Program
from pacboost.models.export.trees import Trees

NUMBERS_PER_LINE = 12
MAX_CODES = 256
KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while"
)


def to_c(program: Program, name: str = "model") -> str:
    """Return the text of the file; the names of all it defines begin with ``name``."""
    program.refuse_words("C99 does not know the letters and cases of Unicode")
    sections = _sections()
    needed = _needed_sections(program)
    code = "\n".join(sections[part] for part in needed)
    tables = [*_sizes(program, code), *_numbers(program, needed)]
    text = "\n".join([*_head(program, needed), *tables, code])
    begins = _identifier(name)  # a prefix of all names; strings are not changed
    parts = re.split(r'("[^"\n]*")', text)
    for place in range(0, len(parts), 2):
        part = re.sub(r"\bmodel_", f"{begins}_", parts[place])
        parts[place] = re.sub(r"\bMODEL_", f"{begins.upper()}_", part)
    return "".join(parts)


def _sections() -> dict[str, str]:
    text = files("pacboost.models.export").joinpath("model.c").read_text(encoding="utf-8")
    parts = re.split(r"/\* == (.+) == \*/\n", text)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {name: part.strip("\n") + "\n" for name, part in named}


def _needed_sections(program: Program) -> list[str]:
    """Return the names of the sections of model.c that a model needs, in their order."""
    answer = program.answer
    kind, curves = answer.kind, answer.curves
    needed = set() if kind == "one" else {_value(program), "sums"}
    if program.means or program.derived:
        needed.add("pair")
    if kind in ("two", "many"):
        needed.add(f"{kind} {'curves' if curves else 'plain'}")
    if curves:
        needed.add(type(curves[0]).__name__)
    if kind == "several" or needed & {"two plain", "Sigmoid"}:
        needed.add("sigmoid")
    if kind in ("many", "shares"):
        needed.add("largest")
    if kind == "many":
        needed.add("normalise")
    if program.levels:
        needed.add("level")
    if answer.cut is not None and kind == "two":
        needed.add("two from a score on" if answer.cut.place == 1 else "two up to a score")
    elif answer.cut is not None:
        needed |= {"one class from a probability on", *({"shares"} & {kind})}
    else:
        needed.add("number by its logarithm" if answer.logs else kind)
        needed |= {"shares decide"} if kind == "shares" else set()
    return [part for part in _sections() if part in needed]


def _value(program: Program) -> str:
    if program.means:
        return "value with means"
    return "derived value" if program.derived else "value"


def _head(program: Program, needed: list[str]) -> list[str]:
    row = "A row is an array of doubles, one for each of model_columns, NAN where it is missing; "
    row += "model_meanings says what each number is"
    row += ", and model_level gives that of a category." if "level" in needed else "."
    sentences = [*program.about, row, "Compile as C99, without -ffast-math; link with -lm."]
    about = fill(" ".join(sentences).replace("*/", "* /"), 96, subsequent_indent="   ")
    libraries = ["math.h", "string.h"] if "level" in needed else ["math.h"]
    includes = [f"#include <{library}>" for library in libraries]
    return [f"/* {about} */", "", *includes, "", *_prototypes(program.answer.kind, needed)]


def _prototypes(kind: str, needed: list[str]) -> list[str]:
    level = """\
/* The number that stands for a category, or NAN for one that was never seen. */
double model_level(int column, const char *text);"""
    several = """\
/* Write 1 for every one of model_classes that a row has, else 0. */
void model_predict(const double *row, int *labels);"""
    one = """\
/* The place in model_classes of the class that a row is in. */
int model_predict(const double *row);"""
    probabilities = """\
/* Write the probability of every one of model_classes. */
void model_probabilities(const double *row, double *probabilities);"""
    lines = [level] if "level" in needed else []
    if kind == "number":
        return [*lines, "double model_predict(const double *row);", ""]
    return [*lines, several if kind == "several" else one, probabilities, ""]


def _sizes(program: Program, code: str) -> list[str]:
    answer, trees = program.answer, program.trees
    sizes = {
        "OUTPUTS": trees.outputs, "TREES": trees.roots.size, "SUBSETS": len(trees.subsets),
        "COUNT": answer.count, "STEEPNESS": answer.steepness, "MIDDLE": f"({answer.middle!r})",
        "SCALE": f"({answer.scale!r})", "CUT": f"({answer.cut.at!r})" if answer.cut else 0,
        "PLACE": answer.cut.place if answer.cut else 0,
        "LEVELS": sum(map(len, program.levels.columns.values())), "MEANS": len(program.means),
    }  # fmt: skip
    asked = {name: size for name, size in sizes.items() if f"MODEL_{name}" in code}
    useful = {"COLUMNS": len(program.names)}
    useful |= {} if answer.kind == "number" else {"CLASSES": answer.classes.size}
    return [*(f"#define MODEL_{name} {size}" for name, size in (useful | asked).items()), ""]


def _numbers(program: Program, needed: list[str]) -> list[str]:
    answer, trees = program.answer, program.trees
    columns = program.levels.columns
    levels = [(j, k, name) for j, names in columns.items() for k, name in enumerate(names)]
    lines = [_strings("model_columns", program.names, static=False)]
    lines += [_strings("model_meanings", program.meanings, static=False)]
    if answer.kind != "number":
        lines += [_strings("model_classes", map(str, answer.classes.tolist()), static=False)]
    if program.means:
        lines += _means(program)
    if program.means or program.derived:
        lines += [
            _array("char", "model_operators", [f"'{made.operator}'" for made in program.derived]),
            _array("int", "model_first", [made.first for made in program.derived]),
            _array("int", "model_second", [made.second for made in program.derived]),
        ]
    if "sums" in needed:
        lines += _trees(trees)
    if levels:
        lines += [
            _array("int", "model_level_columns", [j for j, _, _ in levels]),
            _array("int", "model_level_numbers", [k for _, k, _ in levels]),
            _strings("model_level_texts", [str(level) for _, _, level in levels]),
        ]
    return [*lines, *_curves(answer)]


def _means(program: Program) -> list[str]:
    last = np.full(len(program.names), np.inf)
    for means in program.means:
        last[means.column] = means.known - 1
    values = [mean for means in program.means for mean in means.values]
    starts = np.cumsum([0, *(len(means.values) for means in program.means)])
    return [
        _array("float", "model_last_known", map(_float, last.tolist())),
        _array("int", "model_mean_column", [means.column for means in program.means]),
        _array("int", "model_mean_start", starts),
        _array("float", "model_mean", map(_float, values)),
    ]


def _trees(trees: Trees) -> list[str]:
    bits = np.zeros((max(1, len(trees.subsets)), MAX_CODES), dtype=np.uint8)
    for line, subset in zip(bits, trees.subsets, strict=False):
        line[list(subset)] = 1
    subsets, none = np.packbits(bits, axis=1, bitorder="little"), np.zeros((1, trees.outputs))
    return [
        _array("int", "model_roots", trees.roots), _array("int", "model_feature", trees.feature),
        _array("float", "model_cut", map(_float, trees.cut.tolist())),
        _array("unsigned char", "model_missing_left", trees.missing_left.astype(int)),
        _array("int", "model_left", trees.left), _array("int", "model_right", trees.right),
        _array("int", "model_subset", trees.subset if trees.subsets else ()),
        _table("unsigned char", "model_subsets", subsets),
        _table("double", "model_lines", trees.lines if len(trees.lines) else none),
    ]  # fmt: skip


def _curves(answer: Output) -> list[str]:
    sigmoids = [curve for curve in answer.curves if isinstance(curve, Sigmoid)]
    steps = [curve for curve in answer.curves if isinstance(curve, Isotonic)]
    if sigmoids:
        return [
            _array("double", "model_slopes", [repr(curve.slope) for curve in sigmoids]),
            _array("double", "model_offsets", [repr(curve.offset) for curve in sigmoids]),
        ]
    if steps:
        firsts = np.cumsum([0, *(len(curve.knots) for curve in steps)])
        return [
            _array("int", "model_firsts", firsts),
            _array("double", "model_knots", [repr(x) for curve in steps for x in curve.knots]),
            _array("double", "model_heights", [repr(x) for curve in steps for x in curve.heights]),
        ]
    return []


def _array(kind: str, name: str, values: Iterable[Any]) -> str:
    words = [str(value) for value in values] or ["0"]
    starts = range(0, len(words), NUMBERS_PER_LINE)
    lines = [", ".join(words[k : k + NUMBERS_PER_LINE]) for k in starts]
    return f"static const {kind} {name}[] = {{\n" + ",\n".join(lines) + "\n};\n"


def _table(kind: str, name: str, values: NDArray[Any]) -> str:
    lines = ",\n".join("{" + ", ".join(map(repr, line)) + "}" for line in values.tolist())
    return f"static const {kind} {name}[][{values.shape[1]}] = {{\n{lines}\n}};\n"


def _strings(name: str, values: Iterable[str], *, static: bool = True) -> str:
    lines = ",\n".join(f"    {_quoted(value)}" for value in values)
    return f"{'static ' if static else ''}const char *const {name}[] = {{\n{lines}\n}};\n"


def _float(value: float) -> str:
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = f"{value:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _quoted(text: str) -> str:
    """Return a string literal of C, with octal bytes of UTF-8 for characters outside ASCII.

    >>> print(_quoted('a "b" ü'))
    "a \\042b\\042 \\303\\274"
    """
    characters = [
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode(errors="surrogatepass")
    ]
    return f'"{"".join(characters)}"'


def _identifier(name: str) -> str:
    """Turn any name into an identifier of C.

    >>> _identifier("churn-2.0"), _identifier("int"), _identifier("1st")
    ('churn_2_0', 'model_int', 'model_1st')
    """
    identifier = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    usable = identifier[:1].isalpha() and identifier not in KEYWORDS.split()
    return identifier if usable else f"model_{identifier}".rstrip("_")
