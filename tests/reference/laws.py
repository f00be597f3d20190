"""Random distributions on [0, 1], with atoms on grid points and elsewhere, and uniform pieces."""

import numpy as np

from trueup.distributions import discrete, mix, uniform


def random_law(rng):
    """Return a random mixture of atoms and uniform pieces."""
    kind = rng.integers(4)
    if kind == 0:
        return discrete([float(rng.uniform())], [1.0])
    places = rng.choice(
        [rng.uniform(size=6), rng.integers(0, 17, 6) / 16, rng.normal(0.5, 0.02, 6)]
    )
    atoms = discrete(np.clip(places, 0, 1), rng.dirichlet(np.full(6, 0.5)))
    if kind == 1:
        return atoms
    start, end = sorted(rng.uniform(size=2))
    piece = uniform(float(start), float(end))
    return piece if kind == 2 else mix([atoms, piece], [0.5, 0.5])


def random_laws(count, seed):
    """Return many of them."""
    rng = np.random.default_rng(seed)
    return [random_law(rng) for _ in range(count)]
