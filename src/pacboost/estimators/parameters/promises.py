"""Parameters of what is certified, and of the classes that it is about."""

from pacboost.estimators.parameters.checks import Choice, Described, Number, Probability
from pacboost.estimators.parameters.param import CHOSEN, FILTERED, FORESTS, Param

CERTIFIED = ("BoostClassifier", "AdaBoostClassifier", "TextBoostClassifier")
FOREST_CLASSES = tuple(name for name in FORESTS if name.endswith("Classifier"))
OUT_OF_BAG = ("BaggingClassifier", *FOREST_CLASSES)
CURVES = ("sigmoid", "isotonic", "temperature")  # models/calibration.py has them, and loads SciPy

OF_PROMISES = (
    Param("certify", None, Choice(("holdout",), optional=True), of=CERTIFIED, option="--certify"),
    # bounds/out_of_bag.py names these; they are checked where rows are divided
    Param("certify", None, Described("str or None"), of=OUT_OF_BAG),
    Param("holdout", 0.2, Number(), """
The share of rows that ``certify`` holds out. More of them give a tighter bound, and leave
fewer to learn from.
""", of=(*CERTIFIED, *OUT_OF_BAG), absent=0.2),
    Param("delta", 0.05, Probability(), """
The probability with which the certificate may fail.
""", of=(*CERTIFIED, *OUT_OF_BAG, CHOSEN, FILTERED), absent=0.05, option="--delta"),
    Param("epsilon", None, Number(optional=True), of=(CHOSEN, FILTERED), option="--epsilon"),
    Param("recall", None, Probability(optional=True), of=(CHOSEN,), option="--recall"),
    Param("precision", None, Probability(optional=True), of=(CHOSEN,), option="--precision"),
    Param("positive", None, Described("label"), of=(CHOSEN,), option="--positive"),
    Param("class_weight", None, Described('mapping, "balanced" or None'), """
The weight of the rows of each class in training; "balanced" gives all classes the same sum.
Set it if mistakes on a rare class cost more.
""", of=("BoostClassifier", "TextBoostClassifier", CHOSEN, *FOREST_CLASSES),
          option="--class-weight"),
    Param("calibrate", None, Choice(CURVES, optional=True), """
Fit probabilities to scores on ``validation_fraction`` of the rows, held back for that.
"isotonic" needs 1,000 such rows; with fewer, "sigmoid" is used instead, with a warning.
""", of=("AdaBoostClassifier",)),
    Param("calibrate", "auto", Choice(("auto", *CURVES), optional=True), """
How probabilities are found. "auto": a part of the rows says how steep they are, and all rows are
learned from in the end. Others fit a curve to ``validation_fraction`` of the rows, held back.
""", of=("BoostClassifier", "TextBoostClassifier")),
    Param("edge", None, Number(optional=True), of=(CHOSEN, FILTERED), option="--edge"),
    Param("loss", "squared_error", Described("str or function"), of=("BoostRegressor",),
          option="--loss"),
    Param("quantile", None, Number(optional=True), of=("BoostRegressor",), option="--quantile"),
    Param("alpha", 0.9, Number(), of=("BoostRegressor",), option="--alpha"),
    Param("text_columns", "auto", Described('"auto", list of str or None'), of=(CHOSEN,),
          option="--text"),
    Param("resample", False, Described("bool or int"), of=("AdaBoostClassifier",),
          option="--resample"),
)  # fmt: skip
