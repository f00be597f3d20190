"""The stationary law, on chains that are easy, reducible, periodic and nearly broken."""

import numpy as np
import pytest

from trueup.baselines._stationary import MIXING, stationary_law


def chain(kind, seed):
    """Return a random matrix of rows of one kind."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 25))
    raw = {
        "dense": rng.random((size, size)),
        "spread": np.exp(60 * rng.normal(size=(size, size))),
        "one each": np.eye(size)[rng.integers(0, size, size)],
        "cycle": np.roll(np.eye(size), 1, axis=1),
        "nearly stuck": np.eye(size) + 1e-14 * rng.random((size, size)),
    }[kind]
    return raw / raw.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["dense", "spread", "one each", "cycle", "nearly stuck"])
def test_the_law_is_left_as_it_is(kind):
    """P Q = p up to the mixing, and p is in the simplex."""
    for seed in range(100):
        rows = chain(kind, seed)
        law = stationary_law(rows)

        assert law.min() >= 0
        assert law.sum() == pytest.approx(1, abs=1e-12)
        assert np.abs(law @ rows - law).sum() <= 2 * MIXING + 1e-12


def test_the_law_agrees_with_a_long_walk():
    """A dense chain forgets its start: a high power of it has the law in every row."""
    rows = chain("dense", 7)

    np.testing.assert_allclose(
        stationary_law(rows), np.linalg.matrix_power(rows, 200)[0], atol=1e-8
    )


def test_with_nothing_to_choose_the_law_is_uniform():
    """Where every law is stationary, the mixing takes the uniform one."""
    np.testing.assert_allclose(stationary_law(np.eye(4)), np.full(4, 0.25), atol=1e-5)
