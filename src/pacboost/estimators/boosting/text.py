"""Boosting over texts: rules about words, and a vote that people can read."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pacboost.boosters.adaboost import AdaBoost
from pacboost.boosters.base.booster import Booster
from pacboost.boosters.base.choose import as_booster
from pacboost.boosters.logit import Logit
from pacboost.errors import DataError
from pacboost.estimators.boosting.boost import BoostClassifier
from pacboost.estimators.boosting.fit import Recipe
from pacboost.estimators.boosting.text_input import TextReading
from pacboost.estimators.fitted.decisions.abstaining import refuse_wish
from pacboost.estimators.fitting.nested_parameters import with_fields
from pacboost.estimators.fitting.tree_parameters import with_a_rule
from pacboost.estimators.inputs.aliases import accepts_aliases
from pacboost.estimators.inputs.documented import documented_like
from pacboost.estimators.inputs.examples import LabelledRows
from pacboost.estimators.inputs.parameters import positive_integer, real_number
from pacboost.learners.words import Words
from pacboost.models.explain import word_reasons
from pacboost.models.explain.explanation import Explanation, class_number
from pacboost.models.model import answer_names
from pacboost.sources.dataframe import is_frame

CLASSES_NAMED = 3


@accepts_aliases
@documented_like(BoostClassifier)
@dataclass(eq=False, repr=False)
class TextBoostClassifier(TextReading):
    """Classify texts by the words in them: boosted lists of words, with readable rules and a bound.

    Every round is a list: if it contains this word, these votes on all classes; else if it contains
    that one, those; and so on. Each word is the best of some drawn at random.

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
        three need ``ngrams`` that begin with 1; None asks nothing.
    beginning : list of int or None, default=(1, 3, 10)
        Ask whether a single word is among so many at the beginning of a text.
    shares : list of int or None, default=(5, 10, 20, 35)
        Ask whether a single word makes up at least so many percent of the TF-IDF length of a text.
        A word counts as often as it occurs, times a weight that is the larger the fewer training
        texts contain it; words that no training text contains count nothing.
    prefixes : (int, int) or None, default=(3, 6)
        Ask whether a text contains a word that begins with these letters: the least and the most.
    text_columns : list of str, default=None
        For data frames: the columns that hold texts. Columns of numbers are asked whether they are
        above some thresholds, all others which category they hold, and either if they are missing;
        a missing text is an empty one. None for a list of texts.
    n_rounds : int, default=1000
        The maximum number of rounds, each of which adds a list. Fewer are faster; with
        ``early_stopping``, more do no harm.
    shrinkage : float, default=0.1
        Scales what every round adds. Smaller values need more rounds and are often better.
    length : int, default=100
        The maximum number of words in a list.
    candidates : int or None, default=20
        Each word of a list is the best of so many drawn by chance; None: the best of all. Fewer are
        faster, and make lists differ more.
    abstain : bool, default=True
        Whether a list says nothing of texts that contain none of its words.
    booster : str or booster, default="logit"
        With several labels a row "logit" gives way to "adaboost", which votes on each of them.
    l2 : float, default=0.2
        For "logit": weight p(1 - p) that holds back what a word says of each class.
    certify : "holdout" or None, default=None
        What ``certificate_`` is about. None: the error on the training rows, without assumptions.
        "holdout": the error on new examples, by rows that are held out before anything is learned;
        the vocabulary comes from the others.
    target_error : float, default=None
        With ``certify="holdout"``: ``answer`` answers as many texts as it can while the error among
        the answered is certified to be at most this.
    abstain_below : float, default=None
        ``answer`` answers texts with this confidence or more; the error among them is certified if
        rows are held out. The confidence is the probability of the class that is predicted.

    Attributes
    ----------
    features_ : the options and the vocabulary by which texts are read
    answering_ : how wrong answers may be, for every threshold of the confidence
    ledger_, certificate_, classes_ : as in AdaBoostClassifier

    Examples
    --------
    >>> texts = ["I lost my card", "my card was stolen", "top up my phone", "how do I top up"] * 5
    >>> model = TextBoostClassifier(n_rounds=20, random_state=0)
    >>> model = model.fit(texts, ["lost card", "lost card", "top-up", "top-up"] * 5)
    >>> model.predict(["Help, they took my card", "top up please"]).tolist()
    ['lost card', 'top-up']
    >>> print(model.explain("hello", for_class="top-up"))
    predicted: lost card (probability of top-up: 0.5)
       +0.0000  no known word: the prior speaks
       +0.0000  score of top-up
    """

    _: KW_ONLY
    n_rounds: int = 1000
    shrinkage: float = 0.1
    length: int = 100
    candidates: int | None = 20
    abstain: bool = True
    booster: Any = "logit"
    l2: float = 0.2
    n_iter_no_change: int = 50
    eval_metric: Any = "log_loss"
    class_weight: Any = None
    target_error: float | None = None
    abstain_below: float | None = None
    random_state: Any = None

    _other_meaning = ("max_features",)
    """Parameters that mean something else than in other classes: here the size of the vocabulary,
    as in scikit-learn's vectorizers."""

    def rules(self, k: int | None = 20, label: Any = None) -> list[str]:
        """Give the k words that add most to any score, or to a label's; None for all words.

        What a word adds is summed over all lists that ask for it. In a text with other words of the
        same lists it adds less, for of each list the first word speaks: see ``explain``.
        """
        check_is_fitted(self)
        asked, added = word_reasons.totals(self.model_.vote)
        number = class_number(self.classes_.tolist(), label)
        if added.shape[1] == 1:  # one score, which speaks for the second class
            added = np.concatenate([-added, added], axis=1)
        rank = added.max(axis=1) if number is None else added[:, number]
        best = np.argsort(-rank, kind="stable")[: None if k is None else positive_integer("k", k)]
        return [self._said(int(asked[j]), added[j], number) for j in best]

    def _said(self, word: int, added: NDArray[np.float64], number: int | None) -> str:
        names = answer_names(self.classes_)
        largest = np.argsort(-added, kind="stable")[:CLASSES_NAMED]
        shown = [j for j in largest if added[j] > 0] if number is None else [number]
        said = ", ".join(f"{names[j]} {added[j]:+.2f}" for j in shown or largest[:1])
        return f"if {self.features_.say(word)} → {said}"

    def explain(self, text: Any, top: int = 10, *, for_class: Any = None) -> Explanation:
        """Say which words of a text voted for and against a class: the ``top``, and the rest.

        Without ``for_class``, it is the class with the largest score; of two classes the second.
        Of a table give a data frame of one row, or a mapping from column names to values.
        """
        table = self._open(text if is_frame(text) else [text])
        if table.n_rows != 1:
            raise DataError(f"one row can be explained at a time, and {table.n_rows} came")
        decided = self._decide(self.model_.vote.scores(table)).tolist()[0]
        return word_reasons.explain(
            self.model_, table, decided, positive_integer("top", top), for_class
        )

    def _recipe(self, examples: LabelledRows) -> Recipe:
        refuse_wish(self)
        length = positive_integer("length", self.length)
        drawn = self.candidates
        drawn = None if drawn is None else positive_integer("candidates", drawn)
        learner = Words(length, drawn, bool(self.abstain))
        rounds = positive_integer("n_rounds", self.n_rounds)
        booster = self._booster(examples.signs.shape[1])
        return Recipe(learner, booster, with_a_rule(rounds, booster))

    def _booster(self, outputs: int) -> Booster[Any]:
        choice = self.booster
        if choice == "logit" and self._several_labels:
            choice = "adaboost"
        booster = as_booster(choice)
        changes: dict[str, Any] = {}
        if isinstance(choice, str):
            rate = real_number("shrinkage", self.shrinkage)
            changes = {"learning_rate": rate} if hasattr(booster, "learning_rate") else {}
            if isinstance(booster, Logit):  # which counts l2 in rows of its first weight
                classes = max(2, outputs)
                l2 = real_number("l2", self.l2) * classes**2 / (4 * (classes - 1))
                changes |= {"prior": True, "l2": l2}
            if isinstance(booster, AdaBoost):
                changes["confidence_rated"] = True
        return with_fields(booster, changes, "booster")  # type: ignore[no-any-return]

    def _inner_estimator(self) -> Any:
        return None
