"""Boosting over texts: rules about words, and a vote that people can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.boosted import Boosted
from pacboost.estimators.boosting.boosting import EstimatorChooser
from pacboost.estimators.boosting.choosing_words import WordsChooser
from pacboost.estimators.boosting.text_columns import Features, text_columns
from pacboost.estimators.fitted.classifier import Classifier
from pacboost.estimators.fitted.explaining import explain_row
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented_like
from pacboost.estimators.inputs.rows import takes_rows
from pacboost.estimators.parameters.values import Values
from pacboost.models.explain import explanation
from pacboost.models.explain.explanation import Explanation, class_number
from pacboost.models.model import Model, answer_names
from pacboost.models.schema import ColumnOptions
from pacboost.numerics.checks import positive_whole
from pacboost.sources.explained_errors import explains_input
from pacboost.sources.rows import FrameRows, Rows
from pacboost.sources.text import MAX_FEATURES

CLASSES_NAMED = 3


@accepts_aliases
@documented_like(BoostClassifier)
@dataclass(eq=False, repr=False)
class TextBoostClassifier(Boosted, Classifier):
    """Classify texts by the words in them: boosted lists of words, with readable rules and a bound.

    The first round is a linear support vector machine: every word of a text adds its votes on all
    classes. Every other round is a list: if the text contains this word, these votes; else if it
    contains that one, those; and so on. Each word of a list is the best of some drawn at random.

    Parameters
    ----------
    ngrams : (int, int) or None, default=(1, 2)
        The shortest and longest n-grams of words.
    skips : int, default=0
        The maximum number of words to skip between two words of an n-gram.
    characters : (int, int) or None, default=None
        The shortest and longest n-grams of letters within words.
    min_count : int, default=1
        n-grams that occur in fewer texts are dropped.
    max_features : int, default=500000
        If there are more, the rarest are dropped, with a warning.
    lowercase : bool, default=True
        Whether "Card" and "card" are the same word.
    times : list of int or None, default=(2, 3, 5, 8)
        Ask of single words whether a text contains them at least so many times. This and the next
        two need ``ngrams`` that begin with 1; None asks nothing.
    beginning : list of int or None, default=(1, 3, 10)
        Ask whether a single word is among so many at the beginning of a text.
    prefixes : (int, int) or None, default=(3, 6)
        Ask whether a text contains a word that begins with these letters: the least and the most.
    text_columns : list of str, default=None
        For data frames: the columns that hold texts. None: those that read like sentences. Columns
        of numbers are asked whether they are above some thresholds, all others which category they
        hold, and either if they are missing; a missing text is an empty one.
    n_estimators : int or None, default=None
        The maximum number of rounds. The first is linear, and each other one adds a list. None: 8,
        or 1000 without a linear round. Fewer are faster.
    learning_rate : float, default=0.1
        Scales what every round adds, above 0 and at most 1. Smaller values need more rounds and are
        often better.
    length : int, default=100
        The maximum number of words in a list.
    candidates : int or None, default=20
        Each word of a list is the best of so many drawn by chance; None: the best of all. Fewer are
        faster, and make lists differ more.
    abstain : bool, default=True
        Whether a list says nothing of texts that contain none of its words.
    booster : str or booster, default="logit"
        With several labels a row "logit" gives way to "adaboost", which votes on each of them. Only
        "logit" of texts alone begins with a linear round; ``Logit(0.1)`` begins without.
    l2 : float, default=0.2
        For "logit": weight p(1 - p) that holds back what a word says of each class.
    certify : "holdout" or None, default=None
        What ``certificate_`` is about. None: the error on the training rows, without assumptions.
        "holdout": the error on new examples, by rows that are held out before anything is learned;
        the vocabulary comes from the others.

    Attributes
    ----------
    features_ : the options and the vocabulary by which texts are read
    ledger_, certificate_, classes_ : as in AdaBoostClassifier

    Examples
    --------
    >>> texts = ["I lost my card", "my card was stolen", "top up my phone", "how do I top up"] * 5
    >>> model = TextBoostClassifier(n_estimators=20, random_state=0)
    >>> model = model.fit(texts, ["lost card", "lost card", "top-up", "top-up"] * 5)
    >>> model.predict(["Help, they took my card", "top up please"]).tolist()
    ['lost card', 'top-up']
    >>> print(model.explain("hello", for_class="top-up"))
    predicted: top-up (probability of top-up: 0.5082)
       +0.0164  no known word, so only the constant counts
       +0.0164  score of top-up
    """

    ngrams: tuple[int, int] | None = (1, 2)
    skips: int = 0
    characters: tuple[int, int] | None = None
    min_count: int = 1
    _: KW_ONLY
    max_features: int = MAX_FEATURES
    lowercase: bool = True
    text_columns: Sequence[str] | None = None
    times: Sequence[int] | None = (2, 3, 5, 8)
    beginning: Sequence[int] | None = (1, 3, 10)
    prefixes: tuple[int, int] | None = (3, 6)
    booster: Any = "logit"
    n_estimators: int | None = None
    learning_rate: float = 0.1
    l2: float = 0.2
    # lists of a hundred words, each the best of twenty drawn, have an error of .105 on banking77;
    # the best word of all in every round has .136 (docs/decisions/0010)
    length: int = 100
    candidates: int | None = 20
    abstain: bool = True
    class_weight: Any = None
    early_stopping: Any = False
    validation_fraction: float = 0.1
    eval_metric: Any = "log_loss"
    calibrate: str | None = "auto"
    certify: str | None = None
    holdout: float = 0.2
    delta: float = 0.05
    warm_start: bool = False
    callbacks: Any = None
    n_jobs: int | None = None
    device: str = "cpu"
    verbose: bool | int | str = "auto"
    random_state: Any = None

    _other_meaning = ("max_features",)
    """Parameters that mean something else than in other classes: here the size of the vocabulary,
    as in scikit-learn's vectorizers."""

    @explains_input
    def rules(self, k: int | None = 20, label: object = None) -> list[str]:
        """Return the k words that add most to any score, or to that of ``label`` (None: all).

        The numbers are sums over the linear round and all lists that contain the word. In a text
        with other words of a list a word adds less, because only the first one counts: see
        ``explain``.
        """
        return word_rules(self._fitted("rules"), k, label)

    @takes_rows
    def explain(
        self, text: object, top: int = 10, *, for_class: object = None, by: str = "rule"
    ) -> Explanation:
        """Return the ``top`` words of a text that voted for and against a class, and the rest.

        By default it is the class with the largest score; of two classes the second. For a table
        pass a data frame of one row, or a mapping from column names to values.
        """
        rows = text if isinstance(Rows.of(text), FrameRows) else [text]
        return explain_row(self, rows, top, for_class=for_class, by=by)

    def _chooser(self, asked: Values) -> EstimatorChooser:
        return WordsChooser(asked)

    @property
    def features_(self) -> Features:
        """The options for reading texts, and the vocabulary, if rows hold texts."""
        text = self._fitted("features_").text
        if text is None:
            raise AttributeError("features_ is missing: the rows of the fit held no texts")
        return text

    def _column_options(self) -> ColumnOptions:
        asked = Values.of(self.get_params(deep=False))
        return text_columns(asked, type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks hand texts to estimators with these tags, and numbers to all others
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = tags.input_tags.sparse = tags.input_tags.allow_nan = False
        return tags


def word_rules(model: Model, k: int | None, label: object) -> list[str]:
    """Return the k words that add most to any score, or to that of a label."""
    features = model.text
    assert features is not None  # every fit of texts leaves it
    asked, added = explanation.totals(model.vote)
    number = class_number(model.classes.tolist(), label)
    if added.shape[1] == 1:  # one score, which speaks for the second class
        added = np.concatenate([-added, added], axis=1)
    rank = added.max(axis=1) if number is None else added[:, number]
    best = np.argsort(-rank, kind="stable")[: None if k is None else positive_whole("k", k)]
    names, lines = answer_names(model.classes), []
    for word, own in zip(asked[best].tolist(), added[best], strict=True):
        largest = np.argsort(-own, kind="stable")[:CLASSES_NAMED]
        shown = [j for j in largest if own[j] > 0] if number is None else [number]
        said = ", ".join(f"{names[j]} {own[j]:+.2f}" for j in shown or largest[:1])
        lines.append(f"if {features.say(word)} → {said}")
    return lines
