"""The multi-scale bins: sizes, exactness, and which claims can fail."""

import numpy as np
import pytest

from reference.claims import claims_at, outcomes_that_matter
from trueup.errors import InvalidArgument
from trueup.grid import MultiScaleBins

GAMMAS = [1.0, 0.7, 0.5, 0.34, 0.218, 0.2, 0.1, 0.0921034, 1 / 16, 1 / 49, 0.0138]


@pytest.mark.parametrize("k", range(1, 9))
def test_a_dyadic_grid_has_the_sizes_of_the_closed_forms(k):
    """|Theta| = 2^(K+1) + K and 2^K cells for gamma = 2^-K."""
    bins = MultiScaleBins(2.0**-k)

    assert (bins.n_pairs, bins.n_cells) == (2 ** (k + 1) + k, 2**k)


@pytest.mark.parametrize(("k", "live"), [(3, 30), (4, 74), (5, 166), (6, 354), (7, 734)])
def test_a_dyadic_grid_has_the_known_number_of_live_claims(k, live):
    """Claims that hold for every outcome are not counted."""
    assert MultiScaleBins(2.0**-k).live.sum() == live


@pytest.mark.parametrize("gamma", GAMMAS)
def test_scales_double_and_bins_are_their_multiples(gamma):
    """R and B_r by their definitions."""
    bins = MultiScaleBins(gamma)
    scales = [gamma * 2**s for s in range(20) if gamma * 2**s <= 1]

    np.testing.assert_allclose(bins.scales, scales)
    for scale in bins.scales:
        found = bins.bin[bins.scale == scale]
        expected = [j * scale for j in range(2000) if j * scale <= 1 + 1e-12]
        np.testing.assert_allclose(found, expected[: found.size], atol=1e-12)
        assert found.max() <= 1
        assert found.max() + scale > 1 - 1e-12


@pytest.mark.parametrize("gamma", GAMMAS)
def test_there_is_one_outcome_inside_every_cell(gamma):
    """Cells are open: none of their representatives is a grid point."""
    bins = MultiScaleBins(gamma)
    ends = np.unique(np.append(bins.points, 1.0))

    assert bins.cells.size == bins.n_cells == ends.size - 1
    assert np.all((bins.cells > ends[:-1]) & (bins.cells < ends[1:]))


@pytest.mark.parametrize("gamma", [0.5, 0.25, 0.2, 0.218, 0.125, 0.0921034])
def test_dead_claims_are_exactly_those_that_no_outcome_breaks(gamma):
    """By trying every outcome that matters."""
    bins = MultiScaleBins(gamma)
    for pair in range(bins.n_pairs):
        tried = [
            claims_at(bins.scale[pair], bins.bin[pair], gamma, v)
            for v in outcomes_that_matter(bins)
        ]
        alive = np.max(tried, axis=0) > 1e-12
        np.testing.assert_array_equal(alive, bins.live[pair])


def test_pairs_are_found_by_scale_and_bin():
    """And an unknown pair is refused."""
    bins = MultiScaleBins(0.25)

    assert bins.bin[bins.index(0.5, 1.0)] == 1.0
    with pytest.raises(InvalidArgument, match="must be a pair of"):
        bins.index(0.5, 0.25)


@pytest.mark.parametrize("gamma", [0.0, -1.0, 1.5, float("nan")])
def test_a_spacing_outside_the_interval_is_refused(gamma):
    """Gamma must be above 0 and at most 1."""
    with pytest.raises(InvalidArgument, match="gamma must be"):
        MultiScaleBins(gamma)
