"""Check the certificates in a pacboost model file with Python's standard library alone.

Written from docs/model-file.md and docs/proofs, not from pacboost's code; exact, rounded outward.
``python pacboost_check.py FILE`` ends with 0 if all holds, 1 if not all can be checked, else 2."""

# fmt: off
from __future__ import annotations

import json
import math
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import sha256
from itertools import accumulate, pairwise
from operator import mul
from pathlib import Path
from typing import Any

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be checked"
NOTE = "This shows that the file is consistent, not who wrote it or how its rows were counted."
TYPES = {"b1": "B", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
         "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "f4": "f", "f8": "d"}
RULES = {"stump": "feature threshold cut above missing",
         "tree": "feature cut missing_left left right member members gain cover values",
         "word_list": "asked values abstains every"}
NOTED = "without_weights distinct_rows have_times share_learned near missing_abstain missing_wrong"
MEASURED = "class threshold largest cutoff seen group unit method"
GROUNDS, ASSUMED = (dict(re.findall(r"(\w[\w. ]*) (\w{8})", texts)) for texts in (
    "holdout.clopper_pearson 092e0939, holdout.clopper_pearson models 9ee5778f, "
    "holdout.clopper_pearson look c73e4051, holdout.clopper_pearson look models 56ee1059, "
    "deciding.precision_lower f45e34e8, rates.rate_upper b01ad405, rates.rate_lower ce9903a0, "
    "deciding.curve_upper 6c0dcba5, deciding.cost_upper 36a5748f, deciding.curve_lower 79038453, "
    "deciding.order_upper bdbdb076, deciding.order_lower c29ae199, "
    "deciding.passed_lower c0f56b52, covering.covered_lower 3261b51e, exponential acf37c77, "
    "logistic 10d5a76e, clipped 2e22e166, hinge 509d4a49, weight af0dbff9, binomial 2fa15200",
    "drawn 7e0c9696, groups e6678f9e, fixed e5bd0ced, planned 72d36f5a, classes acab146f, "
    "unchecked ec572ea3, distinct_rows b79ba631, have_times 0988540e, share_learned 33a66fd4, "
    "near 9520e3c1, without_weights 8cc48d1e, missing_abstain a3d1caf1, missing_wrong b08206c8"))
ROWS = "held_out votes groups test calibration calibration_groups as_they_came by_coins"
FACTS = {"rows": str, "order": str, "copies": bool, "validation": int, "training": int, "of": int}
ORDERS = "independent shuffled replaced stream"
LOWER = "precision_lower rate_lower curve_lower order_lower passed_lower covered_lower"
TIMES = {"mh": ", times {} for the class that is named", "pairs": ", times {} for the class"}
WISHES = ("recall order_lower false_positive_rate rate_upper precision precision_lower",
          "false_positive_rate order_upper recall rate_lower precision precision_lower",
          "precision passed_lower recall curve_lower false_positive_rate curve_upper",
          "cost cost_upper recall curve_lower false_positive_rate curve_upper")
COSTS = {"exponential": 2, "logistic": 2, "clipped": 2, "hinge": 2, "weight": 1, "binomial": 1}
LN2, LOOSER, PLACES, BITS = Fraction("0.693147180559945309417232"), Fraction(1, 10**9), 80, 128
Part = dict[str, Any]
class UndecidedError(Exception):
    """Something cannot be checked; what does not hold is a ValueError."""
def need(condition: object, reason: str, error: type[Exception] = ValueError) -> None:
    if not condition:
        raise error(reason)
known = partial(need, error=UndecidedError)
@dataclass(frozen=True)
class Array:
    kind: str
    shape: tuple[int, ...]
    raw: bytes
    sizes: Array | None = None  # of words, whose letters are the numbers
    def numbers(self) -> Any:
        return array(TYPES[self.kind], self.raw) if self.kind != "b1" else [*map(bool, self.raw)]
    def slices(self, sizes: Any, more: int = 0, times: int = 1) -> Iterator[Array]:
        at, row = 0, len(self.raw) // max(self.shape[0], 1)
        for size in sizes:
            end = at + times * size + more
            need(at <= end <= self.shape[0], "an array is shorter than others say")
            yield Array(self.kind, (end - at, *self.shape[1:]), self.raw[at * row : end * row])
            at = end
    def lines(self) -> list[Any]:
        if self.sizes:
            return [own.raw.decode() for own in self.slices(self.sizes.numbers())]
        lists = [own.numbers().tolist() for own in self.slices([1] * self.shape[0])]
        return lists if len(self.shape) > 1 else [own for (own,) in lists]
def written(content: Part) -> Iterator[bytes]:
    arrays: list[Array] = []
    def take_out(own: Array) -> Part:
        arrays.extend([own, own.sizes] if own.sizes else [own])
        last = len(arrays) - 1
        return {"strings": [last - 1, last]} if own.sizes else {"array": last}
    form: Any = {"sort_keys": True, "separators": (",", ":"), "allow_nan": False}
    text = json.dumps(content, default=take_out, **form)
    heads = json.dumps([[own.kind, *own.shape] for own in arrays], **form)
    text = f'{{"arrays":{heads},"content":{text}}}'
    yield b"%d\n%s" % (len(text), text.encode())
    yield from (own.raw for own in arrays)
def read(raw: bytes) -> Part:
    need(sha256(raw[:-32]).digest() == raw[-32:], "its SHA-256 is not the one at its end")
    first, size, rest = raw[:-32].split(b"\n", 2)
    kinds = (b"pacboost model 4", b"pacboost forest 4")
    known(first in kinds and sys.byteorder == "little", f"{first[:40]!r} cannot be read here")
    text, at, arrays = rest[: int(size)].decode("ascii"), int(size), list[Array]()
    for kind, *sizes in json.loads(text)["arrays"]:
        start, at = at, at + array(TYPES[kind]).itemsize * math.prod(sizes)
        arrays.append(Array(kind, tuple(sizes), rest[start:at]))
    need(at == len(rest), "the arrays do not take up the bytes that are there")
    def put_back(part: Part) -> Any:
        if "strings" not in part:
            return arrays[part["array"]] if "array" in part else part
        letters, sizes = (arrays[place] for place in part["strings"])
        return Array(letters.kind, letters.shape, letters.raw, sizes)
    content: Part = json.loads(text, object_hook=put_back)["content"]
    known(next(written(content)) == size + b"\n" + rest[: int(size)], "it is not in normal form")
    need(("ledger" in content["model"]) == (first == b"pacboost model 4"), "it is of another kind")
    return content
def digest(parts: Iterable[bytes]) -> str:
    return sha256(b"".join(parts)).hexdigest()
def check_digest(content: Part, name: str) -> str:
    own = content[name]
    known(own.get("model_digest", "unbound") not in ("", "unbound"), "no digest binds the claim")
    body = {part: value for part, value in content.items() if part not in CLAIMS}
    body["about"] = {
        part: {k: v for k, v in own.items() if k != "seconds"} if isinstance(own, dict) else own
        for part, own in content["about"].items() if part != "versions"}
    made = {"body": digest(written(body)), "claim": {k: own[k] for k in own if k != "model_digest"}}
    need(digest(written(made)) == own["model_digest"], "it was made for other content than this")
    return "It was made for what the file holds"
def classes(model: Part) -> list[str]:
    return own.lines() if isinstance(own := model["classes"], Array) else [*map(str, own)]
def ledger_of(model: Part) -> Part:
    ledger = dict(model["ledger"])
    for table in ("rounds", "refills", "hard"):
        columns = {name: own for name, own in ledger[table].items() if name != "count"}
        for name, own in columns.items():
            lines = own.lines() if isinstance(own, Array) else own
            columns[name] = [x if x == x else None for x in lines]  # noqa: PLR0124 - NaN for None
        ledger[table] = [
            {k: v for k, v in zip(columns, own, strict=True) if v is not None or k == "validation"}
            for own in zip(*columns.values(), strict=True)]
        need(len(ledger[table]) == model["ledger"][table]["count"], f"{table} are not as many")
    return {k: v for k, v in ledger.items() if v or k not in ("revised", "hard", "vote_digest")}
def pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, Array):
        kind = "d" if value.kind[0] == "f" else "Q" if value.kind == "u8" else "q"
        yield repr(value.shape).encode() + array(kind, value.numbers()).tobytes()
    elif isinstance(value, list):
        yield repr(len(value)).encode() + b"".join(piece for own in value for piece in pieces(own))
    elif isinstance(value, dict):
        yield b"".join(name.encode() + b"".join(pieces(own)) for name, own in value.items())
    else:
        yield value if isinstance(value, bytes) else repr(value).encode()
def rules(entry: Part, bins: bytes) -> Iterator[Part]:
    known(entry["kind"] in RULES, f"there is no digest here for rules that are {entry['kind']}")
    name, own = entry["kind"], {}
    for field in RULES[name].split():
        column = entry[field]
        sizes = entry.get("subsets" if field == "members" else "splits", entry.get("words"))
        if field == "members":
            raw = bytes(int(bit) for byte in column.raw for bit in f"{byte:08b}")
            column = Array("u1", (column.shape[0], 256), raw)
        if field == "values" and column.kind in ("i2", "i4"):
            steps = array("d", (step / 65536 for step in column.numbers()))
            column = Array("f8", column.shape, steps.tobytes())
        own[field] = column.numbers() if sizes is None or field in ("abstains", "every") else \
            column.slices(sizes.numbers(), field in ("cover", "values"), 1 + (field == "cover"))
    first = {name: b"", "bins": bins} if name == "tree" else {name: b""}
    for line in zip(*own.values(), strict=True):
        yield {**first, **dict(zip(own, line, strict=True))}
def rules_digest(model: Part) -> str:
    own, names = model["bins"], ("thresholds", "sizes", "levels", "middle")
    bins = b"" if own is None else sha256(b"".join(pieces([own[n] for n in names]))).digest()
    if "ledger" in model:
        found = [rule for entry in model["rules"] for rule in rules(entry, bins)]
        fields = {"hypotheses": found, "votes": model["votes"], "outputs": model["outputs"]}
        return digest(pieces({"vote": b"", **fields}))
    size, parts = len(classes(model)), ("nodes", "firsts", "table", "bases")
    blocks = [{"block": b"", **{name: block[name] for name in parts}} for block in model["blocks"]]
    own = {**model, "bins": bins, "blocks": blocks, "classes": max(2, size) if size else 0}
    order = ("bins", "classes", "importances", "blocks", "middle", "scale", "hard")
    return digest(pieces({"forest": b"", **{name: own[name] for name in order}}))
@lru_cache(10**5)
def upper(k: int, n: int, delta: Fraction, places: int = PLACES, low: int = 0) -> Fraction:
    """Return BinInv(k, n, delta) = sup{p : P[Bin(n, p) ≤ k] ≥ delta}, rounded up."""
    need(0 <= k <= n and n > 0 and delta > 0, f"{k} of {n} rows at {float(delta)} is no count")
    known(2 * delta < 1 and k * (n - k) <= 10**7 * n, f"a tail of {n} rows is too long to sum")
    low, high = max(low, (k << places) // n), 1 << places  # for np ≤ k the tail is at least 1/2
    while high - low > 1:
        half = (low + high) // 2
        low, high = (low, half) if rare(k, n, half << PLACES - places, delta) else (half, high)
    return Fraction(high, 1 << places)
def rare(k: int, n: int, p: int, delta: Fraction) -> bool:
    """Check whether P[Bin(n, p/2^PLACES) ≤ k] ≤ delta, by terms relative to the one at k."""
    rest, half, term, below = (1 << PLACES) - p, BITS // 2, 1 << BITS, 1 << BITS
    for j in range(k, 0, -1):  # terms of at most k, rounded up
        times, by = j * rest, (n - j + 1) * p
        term = -(-term * times // by)
        below += term
        if term * times < (by - times) * (below >> half):
            below += below >> half  # more than all further terms together
            break
    j, term, left = k, 1 << BITS, math.ceil(below * (1 - delta) / delta)
    while left > 0 and term and j < n:  # terms of more than k, rounded down
        j, term = j + 1, term * (n - j) * p // ((j + 1) * rest)
        left -= term
    return left <= 0
def ranks(n: int) -> list[int]:
    listed = [1]
    while listed[-1] < n:
        listed.append(min(n, listed[-1] + max(1, math.isqrt(listed[-1]) // 4)))
    return listed
def all_hold(n: int, level: Fraction) -> Fraction:
    """Return a lower bound on the chance that no listed rank of n is beyond its end at a level."""
    law, first, before, scale = [1], 0, 0, 0  # how many lie below the last end, from first on
    for rank in ranks(n):
        end, terms = int(upper(rank - 1, n, level, 32, before) * 2**32) - 1, [1 << 64]
        while terms[-1]:  # those of a Poisson law, but for a constant
            terms.append(terms[-1] * n * (end - before) // (len(terms) << 32))
        size, start = len(terms), max(0, rank - first)
        law = [sum(map(mul, law[max(0, j - size + 1) : j + 1], terms[min(j, size - 1) :: -1]))
               for j in range(start, min(len(law) + size - 1, n - first + 1))]
        shift, first, before = max(0, max(law).bit_length() - 64), first + start, end
        law, scale = [own >> shift for own in law], scale + 64 - shift
    return Fraction(law[0] * math.factorial(n), n**n) / Fraction(2) ** scale
@lru_cache
def claims_at_once(n: int, delta: Fraction) -> int:
    known(n <= 5000, f"a curve of {n} rows takes too long")
    low, high, trial = 0, n, math.ceil(6 * math.log(n + 1))
    while high - low > 1:
        trial = min(max(trial, low + 1), high - 1)
        failing = 1 - all_hold(n, delta / trial)
        low, high = (low, trial) if failing <= delta else (trial, high)
        trial = math.ceil(trial * failing / delta)
    return high
def curve(k: int, n: int, delta: Fraction) -> Fraction:
    need(0 <= k <= n, f"{k} of {n} rows is no count")
    rank = min(rank for rank in [*ranks(n), n + 1] if rank > k)
    return upper(rank - 1, n, delta / claims_at_once(n, delta)) if k < n else Fraction(1)
def cost(missed: int, positives: int, alarms: int, negatives: int, miss_cost: Fraction,
         alarm_cost: Fraction, delta: Fraction, constant: int = 0) -> Fraction:
    n, counts = positives + negatives, ((missed, positives), (alarms, negatives))
    a, b = (Fraction(k, m) if constant else curve(k, m, delta / 3) for k, m in counts)
    ends = 1 - upper(negatives, n, delta / 6), upper(positives, n, delta / 6)
    return max(s * miss_cost * a + (1 - s) * alarm_cost * b for s in ends)
def precision(found: int, positives: int, alarms: int, negatives: int, delta: Fraction) -> Fraction:
    share = 1 - upper(negatives, positives + negatives, delta / 3)
    right = share * (1 - upper(positives - found, positives, delta / 3))
    return right / (right + (1 - share) * upper(alarms, negatives, delta / 3) or 1)
OF_ROWS: dict[str, Callable[..., Fraction]] = {
    "holdout.clopper_pearson": upper, "deciding.precision_lower": precision,
    "rates.rate_upper": upper, "rates.rate_lower": lambda k, n, delta: 1 - upper(n - k, n, delta),
    "deciding.curve_upper": curve, "deciding.cost_upper": cost,
    "deciding.curve_lower": lambda k, n, delta: 1 - curve(n - k, n, delta),
    "deciding.order_upper": lambda rank, n, delta: upper(rank - 1, n, delta),
    "deciding.order_lower": lambda rank, n, delta: 1 - upper(rank - 1, n, delta),
    "deciding.passed_lower":
        lambda k, n, delta, target: target * (upper(n - k, n, delta) <= 1 - target),
    "covering.covered_lower": lambda rank, n, delta: 1 - upper(n - rank, n, delta)}
def short(text: str, numbers: str = "(?!)") -> str:
    return sha256(re.sub(numbers, "#", text).encode()).hexdigest()[:8]
def check_words(own: Part, known_classes: bool) -> None:
    """Check the texts of a claim; each detail of its rows stands beside its assumption."""
    details, look, facts = own.get("details", {}), own["inputs"].get("look", 0), own["sample"]
    models = own["inputs"].get("models", 1)
    kind = own["bound"] + " look" * (look > 0) + " models" * (models > 1)
    text = "; ".join(own[name] for name in ("theorem", "reference", "independent_of"))
    text = text.replace(f" other {models - 1} ", " other # ")
    need(short(text) == GROUNDS[kind], "it names another theorem")
    beside = [name for name in NOTED.split() if name in details]
    beside += ["fixed", "groups" if details.get("unit") == "groups" else "drawn"]
    beside += ["planned"] * (look > 1) + ["classes"] * known_classes
    beside += ["unchecked"] * (not own.get("rows_checked", True))
    stated = sorted(short(text, r"[\d.]+(?= %\))") for text in own["assumptions"])
    need(stated == sorted(ASSUMED[name] for name in beside), "its assumptions are others")
    missing = sum(details.get(name, 0) for name in NOTED.split()[-2:])
    for text in re.findall(r"\(([\d.]+) %\)", " ".join(own["assumptions"])):
        need(abs(float(text) / 100 - missing) <= min(6e-4, missing / 50) + 1e-8, "answers differ")
    fits = all((n in "rows order" or v > 0) and type(v) is FACTS.get(n) for n, v in facts.items())
    fits &= facts.get("rows") in ROWS.split() and facts.get("order", "stream") in ORDERS.split()
    fits &= ("order" in facts) == (facts.get("rows") in ROWS.split()[-2:])
    need(fits and facts.get("training", 0) <= facts.get("of", 0), "its sample is another")
def area(one: Part) -> bool:  # rows between two points of a curve may lie in any order
    right, wrong = one["positive"].numbers(), one["negative"].numbers()
    pairs, most = sum(right) * sum(wrong), sum(map(mul, accumulate(right), wrong))
    return bool(most - sum(map(mul, right, wrong)) - 1e-6 <= one["auc"] * pairs <= most + 1e-6)
def check_table(held: Part, ways: int, labels: int) -> int | None:
    """Check what the table of classes and predictions determines; return how many are wrong."""
    own, said, count = (held[name].numbers().tolist() for name in ("own", "said", "count"))
    rows, common, others = held["rows"], held["commonest"], held["baseline_wrong"]
    curves = {one["class"]: (one["positive"], one["negative"]) for one in held.get("ranks", [])}
    counted = {at: tuple(sum(one.numbers()) for one in curve) for at, curve in curves.items()}
    need(all(map(area, held.get("ranks", []))), "an area is not that of its curve")
    few = rows <= 200_000  # a curve counts some of more rows
    need(held["labels"] == labels and 0 <= others <= rows, "rows have other labels")
    if labels:
        fits = not own and common == sorted({*common}) and max(common, default=0) < labels
        fits &= not few or all(sum(pair) == rows for pair in counted.values())
        rarer = sum(map(min, counted.values())) if few and len(counted) == labels else rows
        differ = max((pair[at in common] for at, pair in counted.items() if few), default=0)
        need(fits and differ <= others <= rarer, "the most frequent set of labels is another")
        return None
    table, sizes = [*zip(own, said, count, strict=True)], [0] * (ways + 1)
    fits = len({line[:2] for line in table}) == len(own) and min(own + said) >= 0 < min(count)
    need(fits and max(own + said) <= ways and sum(count) == rows, "the table counts other rows")
    for place, _, n in table:
        sizes[place] += n
    top = max(range(ways), key=sizes.__getitem__)
    need(common == [top] and others == rows - sizes[top] < rows, "the baseline is another")
    shown = sorted(range(ways), key=lambda at: -sizes[at])[:50] if ways != 2 else [1]
    drawn = {at: (sizes[at], rows - sizes[at]) for at in shown if 0 < sizes[at] < rows}
    fits = not few or counted == drawn
    if few and fits and ways == 2 and drawn:  # those called second lie above some score
        hits = [sum(n for a, b, n in table if b == 1 and (a == 1) == of) for of in (True, False)]
        steps = zip(*(pairwise([0, *accumulate(one.numbers())]) for one in curves[1]), strict=True)
        fits = any(a <= hits[0] <= b and c <= hits[1] <= d for (a, b), (c, d) in steps)
    need(fits, "the table is not that of its curves")
    return sum(int(n) for a, b, n in table if a != b)
def number(own: Part, *beside: Part, known_classes: bool = False) -> str:
    bound, held = own["bound"], own["bound"] == "holdout.clopper_pearson"
    known(bound in OF_ROWS, f"this checker does not know the bound {bound}")
    inputs = {name: Fraction(v) if isinstance(v, float) else v for name, v in own["inputs"].items()}
    for name, v in inputs.items():
        whole = type(v) is int and v >= (name not in ("k", "found", "alarms", "missed"))
        whole |= name.endswith("_cost") and v >= 0
        need(0 < v < 1 if name in ("delta", "target") else whole, f"{name} is {v}")
    need(own["delta"] == inputs["delta"], "delta is not that of its inputs")
    claims, look = inputs.pop("models" if held else "claims"), inputs.pop("look", 0) if held else 0
    inputs["delta"] /= claims * (look * (look + 1) or 1)
    rows = inputs.get("n", inputs.get("positives", 0) + inputs.get("negatives", 0))
    need({own["size"], *(part.get("rows", rows) for part in beside)} == {rows}, "its rows differ")
    details = own.get("details", {})
    known(not {"ratio_bound", "unmoved_pairs"} & {*details}, "its rows were chosen by weights")
    need(details.keys() <= {*(NOTED + " " + MEASURED * (not held)).split()}, "unknown details")
    fits = (own.get("of_what", "new examples") == "new examples") == held
    need(fits and own["valid_after_looking"] is False, "it speaks of something else")
    shares, seen = [details.get(name, 1) for name in NOTED.split()], details.get("seen", 0)
    need(shares[:3] == [1] * 3 and min(shares) > 0 and max(shares) == 1 >= seen >= 0, "no share")
    most = max(inputs.get("miss_cost", 0), inputs.get("alarm_cost", 0))
    need(details.get("largest", 0) == most, "its largest cost is another")
    check_words(own, known_classes)
    found, sign = OF_ROWS[bound](**inputs), -1 if bound.split(".")[1] in LOWER.split() else 1
    need(0 <= sign * (Fraction(own["value"]) - found) <= found * LOOSER, f"it is {float(found)}")
    return f"{bound} gives {own['value']:.6g} for {own['inputs']}"
def several(own: list[Part], name: str, places: list[float], delta: Any) -> str:
    need([one["details"].get(name) for one in own] == places, f"a claim is for another {name}")
    shares = sum(Fraction(1, one["inputs"]["claims"]) for one in own)
    need(delta is None or (shares <= 1 and {one["delta"] for one in own} <= {delta}), "overspent")
    return "; ".join(number(one) for one in own)
def exp(x: Fraction) -> Fraction:
    one, found = 1 << 400, 2 << 400  # 2 is more than the terms left out come to
    for j in range(60 + 4 * math.ceil(abs(x)), 0, -1):
        found = one + math.ceil(found * abs(x) / j)
    return Fraction(found, one) if x >= 0 else Fraction(one, found)
def near(a: Any, b: Any) -> bool:
    return abs(Fraction(a) - Fraction(b)) <= LOOSER * abs(Fraction(b))
def sums(content: Part) -> dict[str, Fraction]:
    model, ledger, own = content["model"], ledger_of(content["model"]), content["certificate"] or {}
    lines, pairs, ways = ledger["rounds"], ledger["rows"] * ledger["classes"], len(classes(model))
    size = ways if ledger["several_labels"] or ways > 2 else 1
    need(model["outputs"] == size and ledger["classes"] > 0, "outputs and classes differ")
    product, slack, errors, edges, cast = Fraction(1), Fraction(0), Fraction(1), Fraction(0), []
    def up(x: Fraction) -> Fraction:
        return Fraction(math.ceil(x * 2**1200), 2**1200)
    need(rules_digest(model) == ledger.get("vote_digest"), "the rules are not those of the ledger")
    for line in lines:
        error, vote, z, edge = (Fraction(line[n]) for n in ("error", "vote", "normaliser", "edge"))
        fits = line["weight"] > 0 and z > 0 and abs(edge - 1 + 2 * error) * 10**12 <= 1
        fits &= line["effective_size"] >= 0 and (line["training_error"] >= 0 or not ways)
        grown = exp(min(abs(vote), Fraction(700)))
        shift = (Fraction(2 * pairs, line["weight"]) + Fraction(1, 10**13)) * grown
        slack = up(slack * (z + shift) + product * shift)
        if ledger["potential"] == "exponential" and not ledger["cells"]:
            grown = grown if vote > 0 else 1 / grown
            fits &= near(error * grown + (1 - error) / grown, z)
        product, edges = up(product * z), edges + edge**2
        errors = up(errors * (1 - edge**2 if edge < 1 else z**2))
        most = Fraction(ledger["factor"]) * product * (1 + 1000 * LOOSER) + LOOSER
        fits &= Fraction(line["training_error"]) <= most or bool(
            ledger["multiclass"] == "samme" or ledger["refills"])
        need(fits, f"round {line['number']} contradicts itself")
        cast.append(line["vote"] if ledger.get("revised") or not ledger["cells"] else 1.0)
    made = own.get("bound") == "compression.vote_bound"
    need(made or cast == model["votes"].numbers().tolist(), "the votes are not those of the rounds")
    if ledger["potential"] != "exponential":
        slack = Fraction(pairs * ledger["classes"], 2**50) + product / 10**9
    told = {"product of Z": product, "rounding": slack, "rounds": Fraction(len(lines))}
    told |= {"measured": Fraction(lines[-1]["training_error"])} if lines else {}
    root = Fraction(math.isqrt(int(errors * 4**1200)), 2**1200)
    plain = {"from errors": root, "from edges": exp(-edges / 2)}
    return {**told, **plain} if ledger["plain_votes"] and lines else told
def training(content: Part, ledger: Part) -> str:
    own, many, told = content["certificate"], ledger["multiclass"], sums(content)
    known(ledger["potential"] in COSTS, f"there is no potential {ledger['potential']} here")
    need(not ledger["refills"] and many != "samme", "there is no bound on this training error")
    means = [made for made in content["model"].get("derived", []) if made[0] == "mean"]
    need(not means, "the rows of the fit had other means of levels than predict gives them")
    factor, ways, labels = Fraction(ledger["factor"]), ledger["classes"], ledger["several_labels"]
    cost = COSTS[ledger["potential"]] if many in ("mh", "pairs") and not labels else ways
    fits = factor * cost == ways or (many == "softmax" and near(exp(factor * LN2), ways))
    told["product of Z"] *= factor if ledger["rounds"] else 1
    found = min(Fraction(1), told["product of Z"] + factor * told["rounding"])
    need(fits and found <= own["value"] <= found * (1 + LOOSER), f"it is not {float(found)}")
    fits = all(near(own["inputs"][name], value) for name, value in told.items())
    need(fits and len(told) == len(own["inputs"]), "its inputs are not those of the rounds")
    fixed: Part = {"of_what": f"training {'labels' if labels else 'rows'}", "size": ledger["rows"]}
    fixed |= {"details": {"weighted": 1} if ledger["weighted"] else {}, "assumptions": []}
    fits = own["valid_after_looking"] and own["delta"] == 0 and own.get("rows_checked", True)
    need(fits and fixed | own == own | fixed, "its rows or delta are others")
    times = TIMES.get("" if labels else many, "")
    times = times.format("K" if COSTS[ledger["potential"]] == 1 else "K/2")
    texts = [own["theorem"], own["reference"], own["independent_of"]]
    text = short("; ".join([texts[0].removesuffix(times), *texts[1:]]))
    fits = texts[0].endswith(times) and own["sample"] == {}
    need(fits and text == GROUNDS[ledger["potential"]], "another theorem")
    return f"{len(ledger['rounds'])} rounds give {own['value']:.6g}"
def certificate(content: Part) -> str:
    own, model, held = content["certificate"], content["model"], content.get("held_out")
    known(own is not None, "the file holds no certificate")
    ledger = ledger_of(model) if "ledger" in model else {}
    made = digest([json.dumps(ledger, sort_keys=True).encode()]) if ledger else rules_digest(model)
    need(own["ledger_digest"] == made, "it was made for another ledger, or for other trees")
    need(own["bound"] not in list(OF_ROWS)[1:], "this bound is of no model")
    several = ledger["several_labels"] * len(classes(model)) if ledger else model.get("labels", 0)
    wrong = check_table(held, len(classes(model)), several) if held else None
    if ledger and own["bound"] == "training.product_bound":
        return training(content, ledger)
    if own["bound"] == "holdout.clopper_pearson":
        k, rows = own["inputs"]["k"], own["inputs"]["n"]  # bags keep no table
        need(wrong in (None, k) and (held or not ledger or k == rows), "its table differs")
        need(not ledger.get("weighted") or "without_weights" in own["details"], "weights differ")
    return number(own, *([held] if held else []), known_classes=bool(ledger.get("refills")))
def planned(rows: int, claims: int, delta: float, target: float, **_: Any) -> bool:
    least = [math.ceil(math.log(delta / m) / math.log(target)) for m in range(1, 100)]
    begun = (1 + sum(2 * rows >= 3**j * n for j in range(2, 40)) for n in least)
    return claims in (m * count for m, count in enumerate(begun, start=1))  # models · tests
def decision(content: Part) -> str:
    own, place = content["decision"], [content["decision"]["threshold"]]
    most = [own["positives"], own["negatives"]]
    fits = all(0 <= k <= n for point in own["points"] for k, n in zip(point[1:], most, strict=True))
    need(fits and 0 < own["curve_delta"] < 1 and min(most) > 0, "its curve contradicts itself")
    claims, label = [own["certificate"], *own["others"]], str(own["positive"])
    named = " ".join(f"{one['of_what']} {one['bound'].split('.')[1]}" for one in claims)
    need(named in WISHES and named.split()[0] == own["wish"], "its claims are of another wish")
    tests, sizes = own["wish"] == "precision", {"recall": most[0], "false_positive_rate": most[1]}
    fits = all(one["size"] == sizes.get(one["of_what"], sum(most)) for one in claims[tests:])
    test, *beside = (one["inputs"].get("k") for one in claims)
    need(fits and (not tests or beside == [test, claims[0]["size"] - test]), "it counts other rows")
    first, top = claims[0]["inputs"], 1e150
    flat = {-top: [0, most[1]], top: [most[0], 0]}.get(place[0]) if own["wish"] == "cost" else None
    fits = flat == ([first["missed"], first["alarms"]] if "constant" in first else None)
    need(fits and (not tests or planned(sum(most), **first)), "it was made for another rule")
    named_classes = {one["details"].get("class") for one in claims if one["of_what"] != "cost"}
    need(named_classes == {label}, "a claim is about another class")
    others = several(own["others"], "threshold", place * len(own["others"]), own["others_delta"])
    return f"{several([own['certificate']], 'threshold', place, None)}; {others}"
def coverage(content: Part) -> str:
    own = {"delta": None, "floor": 1, "groups": [], "score": [0, 0, 0], **content["coverage"]}
    claims, places = own["certificates"], own.get("cutoffs") or [own["cutoff"]]
    fits = own["floor"] > 0 and own["score"][1] >= 0 and 0 < own["coverage"] < 1
    need(fits and (own["delta"] is None) == (len(places) == 1 and not own["groups"]), "it is wrong")
    single, groups, names = own["delta"] is None, own["groups"], classes(content["model"])
    of, key = (own["kind"][:-1], "group") if single or groups else ("class", "class")
    fits = [one["details"].get(key) for one in claims] == ([None] if single else groups or names)
    named = {(one["of_what"], one["bound"]) for one in claims}
    need(fits and named == {(f"{of}_coverage", "covering.covered_lower")}, "of other classes")
    method = own.get("method", own["score"][0]) if single else None
    need({one["details"].get("method") for one in claims} == {method}, "it has another method")
    counts = [(one["details"]["seen"] * one["size"], one["inputs"]["rank"]) for one in claims]
    need(all(round(seen) >= rank for seen, rank in counts), "fewer rows were covered than it says")
    return several(claims, "cutoff", places, own["delta"])
def answering(content: Part) -> str:
    own, points = {"models": 1, **content["answering"]}, content["answering"]["points"]
    need([*map(short, own.get("assumptions", []))] in ([], [ASSUMED["distinct_rows"]]), "odd words")
    known(own.get("tested") is None, "this checker does not know tests of a target error")
    fits = {(type(c), c >= 0) for point in points for c in point[1:]} == {(int, True)}
    fits &= all(max(k, a) <= n <= b <= own["rows"] <= n + (t > 0) * 9e9 for t, n, k, a, b in points)
    fits &= all(a[0] < b[0] and 0 <= a[2] - b[2] <= a[1] - b[1] for a, b in pairwise(points))
    fits &= 0 <= points[0][0] <= points[-1][0] <= 1 and len(points) <= own["thresholds"]
    need(fits and 0 < own["delta"] < 1 <= own["models"], "its counts contradict each other")
    level, goal = Fraction(own["delta"]) / own["thresholds"] / own["models"], own["target_error"]
    good = [j for j, p in enumerate(points) if goal and p[1] and upper(p[2], p[1], level) <= goal]
    chosen = [good[0] if good else None] if goal is not None else [None, *range(len(points))]
    need(own["chosen"] in chosen, "the threshold that was chosen is another")
    return f"the bounds at {len(points)} thresholds follow from counts"
def counterexample(content: Part) -> str:
    ledger, own = content["model"]["ledger"], content["model"]["ledger"]["counterexample"]
    names, mass, rules = own["rows"] + own["kinds"], [0] * (max(own["kinds"]) + 1), own["agreement"]
    for kind, weight in zip(own["kinds"], own["weights"], strict=True):
        mass[kind] += weight
    fits = min(names) >= 0 < min(own["weights"]) and {*map(type, names + own["weights"])} == {int}
    fits &= len({*own["rows"]}) == len(own["rows"]) == len(own["kinds"])
    fits &= all(len(signs) == len(mass) and {*signs} <= {-1, 0, 1} for signs in rules)
    need(fits and len(rules) >= ledger["rounds"]["count"], "rows, weights or rules make no sense")
    edge = Fraction(max([sum(map(mul, signs, mass)) for signs in rules] or [0]), sum(mass))
    fits = edge < own["promised"] <= 1 and float(edge) == own["edge"]
    need(fits, f"a rule has an edge of {float(edge):.6g}")
    return f"no rule has more than {own['edge']:.4g} of the promised edge {own['promised']:g}"
CLAIMS = {own.__name__: own for own in (certificate, answering, decision, coverage)}
def check(raw: bytes) -> list[tuple[str, str, str]]:
    answers, content = [], Part()
    def ask(name: str, *questions: Callable[..., Any]) -> None:
        try:
            answers.append((name, HOLDS, ". ".join([question(content) for question in questions])))
        except Exception as why:  # whatever makes no sense
            answers.append((name, UNKNOWN if isinstance(why, UndecidedError) else FAILS, str(why)))
    ask("file", lambda _: content.update(read(raw)) or "its SHA-256 is right")
    if "ledger" in content.get("model", {}):
        ask("rounds", lambda _: f"{sums(content)['rounds']} rounds agree with votes and rules")
    if "counterexample" in content.get("model", {}).get("ledger", {}):
        ask("counterexample", counterexample)
    for name in [n for n in CLAIMS if content.get(n)] or ["certificate"] * bool(content):
        ask(name, CLAIMS[name], lambda _, name=name: check_digest(content, name))
    return answers
def main() -> int:
    answers = check(Path(sys.argv[1]).read_bytes())
    sys.stdout.write("\n".join([*(f"{b:<17}  {a}: {c}" for a, b, c in answers), NOTE, ""]))
    return max((HOLDS, UNKNOWN, FAILS).index(answer) for _, answer, _ in answers)
if __name__ == "__main__":
    sys.exit(main())
