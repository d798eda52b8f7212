"""The help of every command explains all of its options."""

import errno
import html
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

import pacboost
from pacboost.cli.commands.plan import EXAMPLES
from pacboost.cli.group import DEBUG, Commands
from pacboost.cli.main import COMMANDS, main
from pacboost.errors import FileError, NoEdgeWarning, NotCertified, PacboostError
from pacboost.estimators.parameters.runs import FILTERING_ROUNDS
from pacboost.theory.plan import QUESTIONS
from tests.cli.running import answer, refused, run, well, write_csv
from tests.markdown import HOUSE, commands_of_readme


def commands(group: click.Group, path: str = "") -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        whole = f"{path} {name}".strip()
        if isinstance(command, click.Group):
            found += commands(command, whole)
        found.append((whole, command))
    return found


ALL = dict(commands(main))


@pytest.mark.parametrize("name", ALL)
def test_every_option_is_explained(name: str) -> None:
    command = ALL[name]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[0]}"
            assert parameter.help.rstrip().endswith((".", "]")), f"{name} {parameter.opts[0]}"


def test_help_names_the_automatic_values() -> None:
    filtering = pacboost.FilterBoostClassifier()
    assert filtering.n_estimators == FILTERING_ROUNDS
    for parameter, shown in (("n_estimators", "2,000"), ("learning_rate", "0.05 to 0.2")):
        options = {option.name: option for option in ALL["fit"].params}
        option = options[parameter]
        assert isinstance(option, click.Option)
        assert shown in str(option.help)


# What every command has: help with an example, --json, exit codes, errors in one sentence.


def test_every_command_is_listed_in_order_with_help_and_an_example() -> None:
    listed = run("--help").stdout
    places = [listed.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    for name in COMMANDS:
        shown = run(name, "--help")
        assert shown.exit_code == 0
        assert f"pacboost {name}" in shown.stdout.partition("Example")[2]
        assert name in ("plan", "demo") or "--json" in shown.stdout  # its questions have it


def test_the_guide_is_the_page_for_assistants() -> None:
    page = (HOUSE / "docs/assistants.md").read_text(encoding="utf-8")
    included = re.search(r"\{include\} (\S+)", page)
    assert included is not None
    guide = (HOUSE / "docs" / included[1]).read_text(encoding="utf-8")
    assert run("guide").stdout == guide
    assert answer("guide")["guide"] == guide.strip()
    assert "](" not in guide  # links would lead nowhere on a terminal


def test_help_and_version_load_nothing_heavy() -> None:
    program = (
        "import sys\nfrom pacboost.cli.main import main\n"
        "for words in sys.argv[1:]:\n"
        "    try:\n        main(words.split())\n    except SystemExit:\n        pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'rich', 'narwhals'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    asked = ["--help", "--version", "fit --help", "predict --help"]
    subprocess.run([sys.executable, "-c", program, *asked], check=True, capture_output=True)


def test_tab_completes_commands_and_options() -> None:
    def completed(*words: str) -> str:
        line = {"COMP_WORDS": " ".join(["pacboost", *words]), "COMP_CWORD": str(len(words))}
        asked = {**line, "_PACBOOST_COMPLETE": "bash_complete"}
        return CliRunner().invoke(main, env=asked, prog_name="pacboost").stdout

    assert completed("pre") == "plain,predict\n"
    assert "--target" in completed("fit", "--t")
    assert "plain,adaboost" in completed("fit", "--booster", "ada")


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if name not in ("demo", "doctor", "guide", "lab")]
)
def test_without_what_it_needs_a_command_says_so(name: str) -> None:
    result = run(name)
    if name == "plan":  # a group of commands; before click 8.2 it shows its help and ends with 0
        assert "Usage: " in result.output
        return
    assert result.exit_code == 2
    assert "Missing argument" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "absent.csv", "--target", "y"],
        ["fit", "absent.csv", "--target", "y", "--booster", "logit"],
        ["predict", "absent.pacb", "rows.csv"],
        ["certify", "absent.pacb", "rows.csv", "--target", "y"],
        ["verify", "absent.pacb"],
        ["diagnose", "absent.csv", "--target", "y"],
        ["compare", "absent.csv", "--target", "y"],
        ["inspect", "absent.pacb"],
        ["report", "absent.pacb"],
        ["export", "absent.pacb", "--output", "m.py"],
        ["ask", "absent.pacb", "hello"],
    ],
)
def test_a_file_that_is_not_there(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # which can be written to
    for more in ([], ["--json"]):
        result = run(*arguments, *more)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith("Error: absent.")
        assert result.stderr.count("\n") == 1


def group(
    problem: BaseException | None = None, *, noted: type[Warning] | None = None
) -> click.Group:
    """A group whose only command does what it is told."""

    def do() -> None:
        if noted:
            warnings.warn("no rule is better than guessing", noted, stacklevel=1)
        if problem is not None:
            raise problem

    class Own(Commands):
        def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
            return click.Command("do", callback=do)

    return Own("own", homes={"do": ""})


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (FileError("m.pacb: is damaged"), 2, "Error: m.pacb: is damaged"),
        (PacboostError("no"), 2, "Error: no"),
        (NotCertified("rows were seen"), 1, "Error: rows were seen"),
        (MemoryError(), 2, "Error: there is not enough memory"),
        (PermissionError(13, "Permission denied", "m.pacb"), 2, "Permission denied: 'm.pacb'"),
        (KeyboardInterrupt(), 130, "Interrupted;"),
        (BrokenPipeError(errno.EPIPE, "nobody reads any more"), 141, ""),
        (click.UsageError("both"), 2, "Error: both"),
        (TypeError("oops"), 4, "This is a bug in pacboost. Set PACBOOST_DEBUG=1"),
        (None, 0, ""),
    ],
)
def test_exit_codes(
    problem: BaseException | None, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DEBUG, raising=False)
    result = CliRunner().invoke(group(problem), ["do"])
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_mistake_of_ours_can_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DEBUG, "1")
    result = CliRunner().invoke(group(TypeError("oops")), ["do"])
    assert isinstance(result.exception, TypeError)


def test_warnings_are_notes_and_go_to_the_error_stream() -> None:
    result = CliRunner().invoke(group(noted=NoEdgeWarning), ["do"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Note: no rule is better than guessing.\n"


# ``pacboost plan`` as a user runs it.


ASKED = EXAMPLES
MORE = {
    "finite": "--epsilon 0.1 --delta 0.05 --log-size 1e30",
    "rounds": "--edge 0.4 --error 0.01",
    "confidence": "--failure 0.9 --delta 0.05",
    "holdout": "--epsilon 0.1 --delta 0.05",
}


def run_plan(name: str, options: str, *more: str) -> Result:
    return run("plan", name, *options.split(), *more)


def test_every_question_is_a_command_with_an_example() -> None:
    assert set(ASKED) == set(QUESTIONS) == set(EXAMPLES)
    shown = well("plan", "--help")
    assert all(name in shown for name in QUESTIONS)


@pytest.mark.parametrize(("name", "options"), [*ASKED.items(), *MORE.items()])
def test_json_and_table_say_the_same(name: str, options: str) -> None:
    result = run_plan(name, options, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    table = run_plan(name, options)
    assert table.exit_code == 0, table.output
    fields = ["examples", "rounds", "draws", "runs", "lower"]
    if answer["simulated"] is not None and answer["simulated"] >= (answer["lower"] or 0):
        fields.append("simulated")  # one that is below the worst case is left out of the table
    for field in fields:
        if answer[field] is not None:
            assert f"{answer[field]:,}" in table.output
    assert max(len(line) for line in table.output.splitlines()) <= 80


def test_plot_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "curve.png"
    result = run_plan("holdout", ASKED["holdout"], "--plot", str(path))
    assert result.exit_code == 0, result.output
    assert path.read_bytes().startswith(b"\x89PNG")


def test_nothing_to_draw(tmp_path: Path) -> None:
    asked = [*ASKED["no_free_lunch"].split(), "--plot", tmp_path / "x.png"]
    message = refused("plan", "no_free_lunch", *asked)
    assert "Leave --plot out" in message
    assert "1,024" not in message  # the question is refused before it is answered
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["/nowhere/at/all/curve.png", "curve.nonsense"])
def test_where_nothing_can_be_written(path: str, tmp_path: Path) -> None:
    place = path if path.startswith("/") else str(tmp_path / path)
    result = run_plan("rectangle", ASKED["rectangle"], "--plot", place)
    assert result.exit_code == 2
    assert "cannot be written" in result.output


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("finite", "--epsilon 0.1 --delta 0.05", "size"),
        ("finite", "--epsilon 0.1 --delta 0.05 --size 0", "size"),
        ("finite", "--epsilon 1.5 --delta 0.05 --size 10", "epsilon"),
        ("vc", "--epsilon 0.1 --delta 0 --dimension 4", "delta"),
        ("rounds", "--edge 0.2", "rows"),
        ("confidence", "--failure 1 --delta 0.05", "failure"),
        ("resample", "--edge 0.2 --delta 0.05 --rounds 10 --log-size inf", "log_size"),
    ],
)
def test_bad_parameters_end_in_one_sentence(name: str, options: str, words: str) -> None:
    assert words in refused("plan", name, *options.split())


def test_what_no_number_of_rows_can_do_is_a_no() -> None:
    options = ["--epsilon", "0.1", "--delta", "0.05", "--error", "0.2"]
    assert "no number of rows" in refused("plan", "holdout", *options, code=1)


# Text of strangers: a terminal does not obey it, and a spreadsheet does not run it.


ESCAPE = "\x1b[31mred"


def rows(path: Path, labels: tuple[str, str], name: str = "size") -> Path:
    sizes = [k % 17 for k in range(200)]
    return write_csv(path, {name: sizes, "label": [labels[size > 8] for size in sizes]})


def run_in_colour(*words: object) -> str:
    done = CliRunner().invoke(main, [str(word) for word in words], color=True)
    assert done.exit_code in (0, 1), done.output
    return done.output


def test_labels_and_names_with_escapes_are_shown_not_obeyed(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.csv", (ESCAPE, "blue"), ESCAPE)
    model = tmp_path / "model.pacb"
    said = run_in_colour("fit", data, "--target", "label", "--output", model)
    said += run_in_colour("inspect", model) + run_in_colour("verify", model)
    said += run_in_colour("predict", model, data, "--output", tmp_path / "answers.csv")
    assert "\x1b[31m" not in said
    assert "\u241b[31m" in said


def test_formulas_are_guarded_unless_asked_for(tmp_path: Path) -> None:
    data = rows(tmp_path / "rows.csv", ("=1+1", "@b"))
    model, answers = tmp_path / "model.pacb", tmp_path / "answers.csv"
    run_in_colour("fit", data, "--target", "label", "--output", model)
    run_in_colour("predict", model, data, "--output", answers)
    assert set(answers.read_text().split()[1:]) == {"'=1+1", "'@b"}
    run_in_colour("predict", model, data, "--raw", "--output", answers)
    assert set(answers.read_text().split()[1:]) == {"=1+1", "@b"}


@pytest.mark.parametrize("more", [(), ("--drop", "x"), ("--loss", "squared_error")])
def test_a_file_that_holds_only_the_target(tmp_path: Path, more: tuple[str, ...]) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("label\n1\n0\n1\n")
    assert "at least one more" in refused("fit", str(data), "--target", "label", *more)


# The commands that the README shows run as they stand there, on the files of ``examples``.


def test_they_run_one_after_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(HOUSE / "examples")
    monkeypatch.chdir(tmp_path)
    said = {command[0]: well(*command) for command in commands_of_readme()}
    assert list(said) == ["fit", "predict", "certify", "verify", "report", "threshold", "plan"]
    assert said["fit"].startswith("At most ")
    assert "finds at least 85" in said["threshold"]
    assert "nan" not in said["threshold"]
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"examples", "parcels.pacb", "answers.csv", "parcels.html", "alarms.pacb"}


# ``fit``, ``verify``, ``report`` and ``certify`` say what is certified in the same words.


STUMPS = ("--booster", "adaboost", "--learner", "stump", "--rounds", "5")
MISSED = re.compile(
    r"It misses at most [\d.]+ % of the rare class 'ill' \(95 % confidence for this by itself; "
    r"\d+ of \d+ rows missed\)\."
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of rows from one distribution, in which one class of two is rare."""
    made = tmp_path_factory.mktemp("words")
    rng = np.random.default_rng(5)
    for name, rows in (("old", 1000), ("new", 600)):
        X = rng.normal(size=(rows, 3))
        y = np.where(X[:, 0] + 0.2 * rng.normal(size=rows) > 1.1, "ill", "well")
        columns = dict(zip("abc", X.T.tolist(), strict=True)) | {"state": y}
        write_csv(made / f"{name}.csv", columns)
    return made


@pytest.mark.parametrize("options", [(), STUMPS], ids=["chosen", "stumps"])
def test_every_command_speaks_the_same_way(folder: Path, options: tuple[str, ...]) -> None:
    model, page = folder / "m.pacb", folder / "m.html"
    fitted = answer("fit", folder / "old.csv", "--target", "state", "--output", model, *options)
    said = fitted["sentence"]
    assert said.startswith("At most ")
    assert "(95 % confidence; 200 held-out rows, " in said
    assert "Always saying 'well' would" in said
    assert MISSED.search(said), said
    assert "Next: " in said
    assert answer("verify", model)["sentence"] == said
    assert answer("inspect", model)["sentence"] == said
    answer("report", model, "--output", page)
    head, *rest = said.split(". ")
    text = html.unescape(page.read_text(encoding="utf-8")).replace("\xa0", " ")
    assert f"{head}." in text
    assert all(part.removesuffix(".") in text for part in rest)
    fresh = answer("certify", model, folder / "new.csv", "--target", "state")["sentence"]
    assert "(95 % confidence; 600 held-out rows, " in fresh
    assert "Always saying 'well' would" in fresh
    assert MISSED.search(fresh), fresh


def test_a_named_booster_keeps_the_certificate_by_held_out_rows(folder: Path) -> None:
    old = folder / "old.csv"
    made = answer("fit", old, "--target", "state", *STUMPS)["certificate"]
    assert (made["bound"], made["size"]) == ("holdout.clopper_pearson", 200)
    trained = answer("fit", old, "--target", "state", *STUMPS, "--certify", "train-error")
    assert trained["certificate"]["bound"] == "training.product_bound"
    assert "of the rows it" in trained["sentence"]
    shown = run("fit", str(old), "--target", "state", *STUMPS)
    assert " ".join(shown.output.split()).startswith("At most ")


def test_few_rows_are_all_learned_from(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "old.csv").read_text().splitlines()
    few = [lines[0], *[line for line in lines[1:] if line.endswith("well")][:20]]
    few += [line for line in lines if line.endswith("ill")][:19]
    (tmp_path / "few.csv").write_text("\n".join(few))
    made = answer("fit", tmp_path / "few.csv", "--target", "state", *STUMPS)["certificate"]
    assert made["bound"] == "training.product_bound"


def test_forests_and_filtering_count_their_held_out_rows_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    y = np.where(X[:, 0] > 0.5, "a", "b")
    for model in (
        pacboost.RandomForestClassifier(10, certify="holdout", random_state=0),
        pacboost.FilterBoostClassifier(n_estimators=3, n_certify=200, random_state=0),
        pacboost.theory.MajorityOfBoosters(3, certify="holdout", random_state=0),
    ):
        model.fit(X, y).save(tmp_path / "m.pacb")
        again = pacboost.load(tmp_path / "m.pacb").model_.held_out
        assert again is not None
        assert again.rows == model.certificate_.size
        assert again.matrix(2).sum() == again.rows
        assert all(check.holds for check in pacboost.verify(tmp_path / "m.pacb"))


def test_an_error_names_the_option_of_its_parameter() -> None:
    asked = ["plan", "holdout", "--delta", "0.05", "--epsilon"]
    assert "(option --delta)" in refused(*asked[:3], "2", "--epsilon", "0.1")
    assert "(option" not in refused(*asked, "3")
