"""Make the file of requests to a bank: what somebody says, and which desk it is for.

python examples/make_intents.py
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

REQUESTS = {
    "lost_card": ("I lost my card", "my card was stolen", "somebody took my wallet and the card"),
    "top_up": ("how do I top up", "please add money to my account", "can I top up by card"),
    "exchange": ("which exchange rate do you use", "can I change euros to dollars"),
    "pin": ("I forgot my PIN", "how can I change my PIN", "the machine does not take my PIN"),
}
BEFORE = ("hello,", "excuse me,", "good morning,", "", "", "")
AFTER = ("please help", "what now?", "it is urgent", "thank you", "", "", "")
BY_CHANCE = 0.03


def write_intents(path: Path, rows: int = 600, seed: int = 0) -> None:
    """Write requests with the desk of each; a few labels are wrong."""
    draw = np.random.default_rng(seed)
    desks = list(REQUESTS)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["utterance", "intent"])
        for _ in range(rows):
            desk = desks[int(draw.integers(len(desks)))]
            parts = [str(draw.choice(part)) for part in (BEFORE, REQUESTS[desk], AFTER)]
            wrong = draw.random() < BY_CHANCE
            writer.writerow([" ".join(" ".join(parts).split()),
                             desks[int(draw.integers(len(desks)))] if wrong else desk])  # fmt: skip


if __name__ == "__main__":
    write_intents(Path(__file__).parent / "intents.csv")
