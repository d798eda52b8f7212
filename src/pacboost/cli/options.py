"""The options that several commands have, with the same words in all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pacboost.estimators.parameters.checks import Choice, Number, ParamCheck, Share, Truth, Whole
from pacboost.estimators.parameters.table import PARAMS
from pacboost.estimators.parameters.trials import OF_TRIALS

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

FILE = click.Path(path_type=Path)

JSON = "Print one JSON document instead of text."


def flag(*names: str, help: str) -> Decorator[Any]:  # noqa: A002 - the name that click uses
    """Return an option without a value."""
    return click.option(*names, is_flag=True, help=help)


def real(name: str, **settings: Any) -> Decorator[Any]:
    """Return an option whose value is a number."""
    return click.option(name, type=float, **settings)


def file(*names: str, **settings: Any) -> Decorator[Any]:
    """Return an option that names a file."""
    return click.option(*names, type=FILE, **settings)


def column(*names: str, **settings: Any) -> Decorator[Any]:
    """Return an option that names a column of a file."""
    return click.option(*names, metavar="COLUMN", **settings)


def columns(name: str, *, help: str) -> Decorator[Any]:  # noqa: A002
    """Return an option that names a column, and may be repeated."""
    return column(name, multiple=True, help=f"{help} The option may be repeated.")


as_json = flag("--json", "as_json", help=JSON)
details = flag("--details", help="Also print the theorem, and what it assumes and requires.")
target = column("--target", required=True, help="The column that holds the labels.")
text = columns("--text", help="This column holds text, which is read word by word.")
abstain_below = click.option(
    "--abstain-below",
    type=click.FloatRange(0, 1),
    help="Give no answer where the model's confidence is below this.",
)
drop = columns("--drop", help="Ignore this column.")
categories = click.option(
    "--categories/--no-categories",
    default=True,
    help="Treat columns of text as categories, or reject them.",
)
delta = real(
    "--delta",
    default=0.05,
    help="The probability with which the certificate is allowed to be wrong.",
)
models = click.option(
    "--models",
    default=1,
    help="The number of models that are tried on these rows to keep one of them; they share delta.",
)
epsilon = real(
    "--epsilon",
    help="The largest error that you accept. If the certified error is larger, the exit code is 1.",
)
# Not None as in Python: a command that is typed again gives the same model.
seed = click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    help="Seed of the random number generator.",
)
jobs = click.option("--jobs", default=-1, help="Number of threads; -1 means all cores.")
data_file = click.argument("data", type=FILE)


KINDS: dict[type[ParamCheck], Any] = {Whole: int, Number: float, Share: float}
"""The types of click for kinds of parameters; others are read as text."""


def parameter(name: str) -> Decorator[Any]:
    """Return the option of a parameter of estimators, as ``estimators/parameters`` declares it."""
    param = next(param for param in PARAMS if param.name == name)
    check, shown = param.check, param.help or " ".join(param.meaning.split()).replace("``", "")
    if isinstance(check, Truth):
        return click.option(param.option, name, default=None, help=shown)
    # options follow from the parameters of estimators: a new one has its words, its choices and its
    # check from there
    kind = click.Choice(check.names) if isinstance(check, Choice) else KINDS.get(type(check), str)
    return click.option(param.option, name, type=kind, help=shown)


device = click.option(
    "--device",
    type=click.Choice(("cpu", "cuda", "gpu", "auto")),
    default="cpu",
    help='Where trees are grown: "cuda" takes an NVIDIA GPU, "auto" takes one if there is one and '
    "the table is large enough. The model is the same, byte for byte.",
)
max_bins = click.option(
    "--max-bins",
    default=255,
    help="The most bins of values per feature, up to 65,535. Fewer are faster, more are finer.",
)
leaves = parameter("max_leaves")
rounds = parameter("n_estimators")
learning_rate = parameter("learning_rate")
of_trials = [parameter(param.name) for param in OF_TRIALS]
"""The options of the trial; each new parameter of it has one by itself."""


def output(help: str) -> Decorator[Any]:  # noqa: A002 - the name that click uses
    """Return the option that names the file to write."""
    return file("--output", "-o", help=help)


def together(*options: Decorator[Any]) -> Decorator[Any]:
    """Return several options as one decorator, shown in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


MODEL_MEMORY = "pacboost.model_memory"
"""Where the context holds --memory, until a model is read (cli/inputs/files.py)."""
model_memory = click.option(
    "--memory",
    "model_memory",
    # any command that opens a model may need it, and none should have to pass it on
    expose_value=False,
    callback=lambda context, _, size: context.meta.update({MODEL_MEMORY: size}),
    help='The memory that reading the model may take, such as "2GB".  [default: 16 times the '
    "size of the file, and 50 MB]",
)
model_file = together(click.argument("model_path", metavar="MODEL", type=FILE), model_memory)


def example(*lines: str) -> str:
    """Return the examples that end the help of a command, one a line."""
    return "\n".join(
        ["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {x}" for x in lines)]
    )


format_options = together(
    click.option(
        "--sep",
        metavar="CHARACTER",
        help="What separates the cells of a text file, such as ; or tab.  [default: detected]",
    ),
    click.option(
        "--encoding",
        help="The encoding of a text file.  [default: UTF-8, or Windows-1252 if it is not UTF-8]",
    ),
    click.option(
        "--missing",
        metavar="WORD",
        multiple=True,
        help="A cell that holds this word is missing, and so is an empty cell. The option may be "
        "repeated.  [default: NA, N/A, #N/A, NaN, None, null, - and ?]  With --said the words "
        "wrong and abstain say instead what a missing answer is.  [default: abstain]",
    ),
)
"""How a file of rows is written: the options of every command that reads one."""
score = column(
    "--score",
    help="In a file of answers, the column with a number that is larger the more likely a row is "
    "of the class --positive.",
)
truth = column("--target", "--truth", required=True, help="The column with the labels.")
answer_column = column(
    "--said",
    help="This column of the file holds answers; no model is needed.",
)
answers = together(
    model_file,
    click.argument("data", type=FILE, required=False),
    truth,
    answer_column,
)
"""What to judge: a model and rows, or a file of answers alone."""
report = file("--report", help="Write a page about it to this file.")
skip_unlabelled = flag(
    "--skip-unlabelled",
    help="Also leave out rows whose label is none, null, - or ?. Rows whose label is empty or NA "
    "are always left out, with a note.",
)

new_rows = file(
    "--new-rows",
    help="Unlabelled rows from a shifted distribution: a third of all rows is set apart to learn "
    "weights, and the claim is about the examples that the weights describe.",
)
coverage = click.option(
    "--coverage", default=0.9, help="The share of new examples that has to be covered."
)
copies = click.option(
    "--copies",
    type=click.Choice(["draws", "distinct"]),
    default="draws",
    help="draws: equal rows are separate examples, and each counts; distinct: they are copies of "
    "one example, which counts once.",
)
calibrating = together(
    delta,
    models,
    column(
        "--groups",
        help="Rows with the same value in this column depend on each other; one row of each is "
        "taken.",
    ),
    copies,
    new_rows,
    text,
    drop,
    format_options,
    skip_unlabelled,
)
"""The options of commands that calibrate by a file of new rows."""
day_first = click.option(
    "--dayfirst/--monthfirst",
    "dayfirst",
    default=None,
    help="How to read dates such as 1/2/2024, if no date of their column shows which number is "
    "the day.  [default: as categories]",
)
constraints = together(
    click.option(
        "--monotone",
        metavar="COLUMN=±1",
        multiple=True,
        help="For trees, with --loss or --learner tree: predictions may only rise (+1) or only "
        "fall (-1) with this column; of two classes, those for the second. The option may be "
        "repeated.",
    ),
    click.option(
        "--interact",
        metavar="COLUMNS",
        multiple=True,
        help="For trees, with --loss or --learner tree: columns that may be used together on the "
        "way to a leaf, separated by commas; columns in no set form one more set. The option may "
        "be repeated. 'pairwise' allows any two, 'no-interactions' one at a time.",
    ),
)
"""What trees may ask; cli/commands/fit_memory.py reads them."""


filtering = together(
    flag("--filter", "filtering", help="Boost by filtering, also from a CSV file."),
    parameter("memory"),
    real(
        "--edge",
        help="The correlation 1 - 2·error that the learner promises under every weighting. If "
        "given, the theorems are followed: every round has its own sample, and the edge of each "
        'rule is tested on fresh examples ("logit" is then FilterBoost); rules that pass have at '
        "least 0.4 times the promised edge, which boosters go by. Default: samples are boosted on "
        "as long as they represent the weights, with weights corrected for how they were drawn; "
        '"measure", "smooth", "projection" and "majority" then assume 0.1. With --learner '
        "file.py:name, rows in memory give a margin on every row, or a counter-example.",
    ),
    click.option(
        "--sample-rows",
        type=int,
        help="The maximum number of rows that are kept at a time. Default: 100,000, for stumps "
        "50,000, or what --memory leaves room for.",
    ),
    file(
        "--checkpoint",
        help="A file that a fit writes now and then, and on Ctrl-C. A later fit with the same "
        "parameters and source goes on from it to the same model; when that is done the file is "
        "deleted.",
    ),
    click.option(
        "--cluster",
        metavar="WHERE",
        help="Have the workers of a Dask cluster read Parquet files: local:4 starts 4 on this "
        "machine, tcp://host:8786 is a scheduler. The model is the same.",
    ),
    click.option("--table", help="The table of a .duckdb file to read."),
    click.option("--query", help="A query on a .duckdb file, instead of a table."),
    click.option(
        "--classes",
        help="All labels, separated by commas, if a rare one may appear late in the data.",
    ),
)
"""The options of ``pacboost fit`` that apply to boosting by filtering only."""
MEAN_FILTERING = (
    "filtering", "memory", "time_limit", "edge", "sample_rows", "checkpoint", "cluster", "table",
    "query", "classes",
)  # fmt: skip
"""Any of these options selects boosting by filtering, whatever the kind of file."""
