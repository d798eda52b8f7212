"""Parameters of a run: its rounds, when it ends, the machine, and who follows it."""

from pacboost.estimators.parameters.checks import (
    Bytes,
    Described,
    Number,
    Patience,
    Whole,
)
from pacboost.estimators.parameters.param import (
    BAGS,
    BOOSTED,
    CHOSEN,
    FILTERED,
    FORESTS,
    ONE_RUN,
    VOTES,
    Param,
)
from pacboost.estimators.parameters.trees import AUTOMATIC

FILTERING_ROUNDS = 300
MOST_ROUNDS = max(settings.max_rounds for settings in AUTOMATIC)

OF_RUNS = (
    Param("n_estimators", None, Whole(least=1, optional=True),
          of=(*BOOSTED, "TextBoostClassifier", CHOSEN),
          others=("max_iter", "num_iterations", "num_boost_round", "iterations"),
          option="--rounds",
          help="Maximum number of rounds.  [default: chosen by rows held back, at most "
          f"{MOST_ROUNDS:,}; {FILTERING_ROUNDS} by filtering]"),
    Param("n_estimators", 50, Whole(least=1), of=("AdaBoostClassifier", "AdaBoostRegressor")),
    Param("n_estimators", FILTERING_ROUNDS, Whole(least=1), of=(FILTERED,), option="--rounds"),
    Param("n_estimators", 100, Whole(least=1), of=BAGS),
    # shares of votes get finer with every tree, and means hardly change
    Param("n_estimators", 400, Whole(least=1), of=FORESTS, defaults={
        name: 200 for name in FORESTS if name.endswith("Regressor")
    }),
    Param("early_stopping", "auto", Patience(), """
Whether to stop when ``eval_metric`` on validation rows has not improved for a number of
rounds (20), and keep the best one. The validation rows are ``X_val`` of ``fit``, else a
share ``validation_fraction`` of the rows that is held back (class by class); all of them
count alike, whatever their weight. False never stops: ``X_val`` is then only measured and
recorded. A number stops after so many rounds without progress. "refit" then boosts on all
rows, a tenth more rounds. "auto": True if ``X_val`` is given, and by the number of rows
otherwise (docs/choosing.md has the table).
""", of=ONE_RUN, others=("early_stopping_rounds", "n_iter_no_change", "od_wait"),
          defaults=dict.fromkeys(("AdaBoostClassifier", "TextBoostClassifier"), False)),
    Param("eval_metric", "log_loss", Described("str or function"), """
"error", "log_loss", "exponential_loss", "auc", or a function of (signs, scores), with more
classes of (labels, scores), that gets smaller as the fit gets better.
""", of=ONE_RUN, others=("metric",),
          defaults={"AdaBoostClassifier": "error", "BoostRegressor": "loss"}),
    Param("validation_fraction", 0.1, Number(), """
The share of rows that is held back to stop early, and as many again to calibrate. More of
them measure better, and leave fewer to learn from.
""", of=ONE_RUN, option="--validation",
          help="Share of rows held out for early stopping.  [default: by the number of rows]"),
    Param("warm_start", False, Described("bool"), """
Continue the last fit, with the same rows and parameters and a larger ``n_estimators``: it
ends as one longer run would have. With ``certify="holdout"`` the k-th certificate
pays delta/(k(k + 1)), the first one delta/2.
""", of=(*ONE_RUN, *BAGS, *FORESTS), absent=False),
    Param("callbacks", None, Described("sequence of functions"), """
Each is called with every ``Round``; returning True stops the run.
""", of=(*ONE_RUN, FILTERED, *BAGS, *FORESTS)),
    Param("memory", None, Bytes(optional=True), of=(FILTERED,), option="--memory",
          help='The maximum memory of the process, such as "2GB".'),
    Param("sample_rows", None, Whole(least=1, optional=True), of=(FILTERED,),
          option="--sample-rows"),
    Param("checkpoint", None, Described("str or path"), of=(FILTERED,), option="--checkpoint"),
    Param("random_state", None, Described("int, RandomState or None"), """
The seed of everything that is drawn. Give a number to get the same model again.
""", of=(*VOTES, "AdaBoostRegressor"), others=("seed", "random_seed"), option="--seed"),
    Param("n_jobs", None, Described("int or None"), """
Threads; None and -1 mean all cores. The model does not depend on it.
""", of=VOTES, others=("num_threads", "nthread", "thread_count"), option="--jobs"),
    Param("device", "cpu", Described('"cpu", "cuda" or "auto"'), """
Where trees are grown: "cuda" takes an NVIDIA GPU, "auto" takes one if there is one and the
table is large enough. The model is the same, byte for byte.
""", of=(*ONE_RUN, CHOSEN, FILTERED, *FORESTS), absent="cpu", option="--device"),
    Param("verbose", "auto", Described('bool, int or "auto"'), """
Whether to show progress: "auto" does after some seconds, if a person waits at a terminal or
in a notebook; False, 0 and negative numbers are silent.
""", of=VOTES),
)  # fmt: skip
