"""Rules that agree with kinds of rows by chance, and their largest soft margin."""

import numpy as np
from hypothesis import strategies as st

from pacboost.numerics.soft_margin import Balance, Columns, Floats, balance, whole_weights

shares = st.one_of(st.just(0.0), st.floats(0.05, 0.9))


def drawn_rules(rules: int, kinds: int, seed: int, lean: float = 0.2) -> tuple[Columns, Floats]:
    generator = np.random.default_rng(seed)
    right = generator.random((rules, kinds)) < 0.5 + lean * generator.random((rules, 1))
    columns = np.where(right, 1, -1).astype(np.int8)
    columns[generator.random(columns.shape) < 0.05] = 0
    return columns, whole_weights(generator.dirichlet(np.full(kinds, 3.0)))


def solved(columns: Columns, base: Floats, share: float) -> Balance:
    votes = np.eye(len(columns))[0]
    return balance(columns, base, share, Balance(votes, base, 2.0), 1e-9)
