"""Regrets: what the best rule in hindsight would have saved, in the losses' natural units."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.metrics._minimise import (
    Terms,
    bisected_minimiser,
    differences,
    minimisers,
    sums,
    terms_of_losses,
    terms_of_outcomes,
)
from trueup.protocols import ArrayLike, FloatArray, IntArray, Loss, Property
from trueup.record import Record

__all__ = [
    "SwapRegret",
    "external_regret",
    "pseudo_swap_regret",
    "pseudo_swap_regret_by_group",
    "swap_regret",
    "swap_regret_by_group",
]


class SwapRegret(NamedTuple):
    """Swap regret, group by group."""

    groups: Any  # the forecast or label of each group, shape (n_groups, ...)
    counts: FloatArray  # rounds (or probability) in each, shape (n_groups,)
    best: FloatArray  # the constant that would have been best, shape (n_groups,)
    regrets: FloatArray  # what it would have saved, shape (n_groups,)

    @property
    def total(self) -> float:
        """The swap regret of the run."""
        return float(self.regrets.sum())


def swap_regret(
    forecasts: ArrayLike | Record,
    losses: Sequence[Loss] | ArrayLike | None = None,
    property: Property | None = None,  # noqa: A002 - the word for the idea
    *,
    by: ArrayLike | str = "forecast",
) -> float:
    """Return how much the best rule "whenever it said A, use B" would have saved.

    Parameters
    ----------
    forecasts : array, shape (T,), or Record
        A record brings its losses along.
    losses : sequence of losses, or outcomes with shape (T,)
        Outcomes need the `property` that was forecast.
    property : Property, optional
        What was forecast; its loss is used.
    by : "forecast" or array, shape (T,) or (T, k)
        Which rounds the rule must treat alike: those of equal forecasts (the definition), or those
        with the same label, as for refined forecasts, where the label is the drawn bin. A label
        that no constant would have improved on counts 0: the rule may leave it alone.

    Examples
    --------
    >>> from trueup import Median
    >>> swap_regret([0.5, 0.5, 0.0], [0.75, 1.0, 0.0], Median())
    0.5
    >>> from trueup.losses import Absolute, Linear
    >>> swap_regret([0.5, 0.5], [Absolute(1.0), Linear(-1.0)])
    1.0
    """
    return swap_regret_by_group(forecasts, losses, property, by=by).total


def swap_regret_by_group(
    forecasts: ArrayLike | Record,
    losses: Sequence[Loss] | ArrayLike | None = None,
    property: Property | None = None,  # noqa: A002
    *,
    by: ArrayLike | str = "forecast",
) -> SwapRegret:
    """Return swap regret with the part and the best constant of every group.

    Parameters are those of `swap_regret`.

    Examples
    --------
    >>> from trueup import Mean
    >>> swap_regret_by_group([0.0, 0.0, 1.0], [0.5, 1.0, 1.0], Mean()).best
    array([0.75, 1.  ])
    """
    said, listed, terms = _given(forecasts, losses, property)
    groups, group = _grouped(said, by)
    return _regrets(groups, group, said, np.ones(said.size), listed, terms)


def external_regret(
    forecasts: ArrayLike | Record,
    losses: Sequence[Loss] | ArrayLike | None = None,
    property: Property | None = None,  # noqa: A002
) -> float:
    """Return how much the best single forecast would have saved (negative if it would have cost).

    Examples
    --------
    >>> from trueup import Median
    >>> external_regret([0.0, 1.0], [0.0, 1.0], Median())
    -1.0
    """
    said, listed, terms = _given(forecasts, losses, property)
    one = np.zeros(said.size, dtype=np.int64)
    result = _regrets(one[:1], one, said, np.ones(said.size), listed, terms, at_least=-np.inf)
    return result.total


def pseudo_swap_regret(record: Record) -> float:
    """Return the swap regret of the mixtures of a run, as if each were played in proportion.

    The rule is chosen outside the expectation over the draws: for a forecast b it is judged by
    the sum over rounds of the probability of b times the loss.

    Examples
    --------
    >>> from trueup.losses import Absolute
    >>> from trueup.record import Mixture, record_of
    >>> half = np.array([0.5, 0.5])
    >>> ends = Mixture(np.array([0.0, 1.0]), half, half, 0.0)
    >>> pseudo_swap_regret(record_of([ends, ends], [Absolute(1.0)] * 2))
    1.0
    """
    return pseudo_swap_regret_by_group(record).total


def pseudo_swap_regret_by_group(record: Record) -> SwapRegret:
    """Return pseudo swap regret with the part and the best constant of every forecast.

    `counts` are sums of probabilities.
    """
    check.instance("record", record, Record, "a Record")
    rounds = np.repeat(np.arange(record.rounds), np.diff(record.starts))
    groups, group = np.unique(record.support, return_inverse=True)
    terms = terms_of_losses(record.losses)
    flat = None if terms is None else terms.take(rounds)
    listed = None if flat is not None else [record.losses[t] for t in rounds]
    return _regrets(groups, group, record.support, record.probabilities, listed, flat)


def _given(
    forecasts: Any, losses: Any, wanted: Property | None
) -> tuple[FloatArray, Sequence[Loss] | None, Terms | None]:
    """Return the forecasts and their losses, from arrays or from a record."""
    if isinstance(forecasts, Record):
        if losses is not None or wanted is not None:
            raise InvalidArgument("losses must be left out where a record brings its own.")
        forecasts, losses = forecasts.forecasts, forecasts.losses
    said = check.unit_vector("forecasts", forecasts)
    return said, *_terms(said, losses, wanted)


def _grouped(said: FloatArray, by: ArrayLike | str) -> tuple[Any, IntArray]:
    """Return the distinct labels and the number of each round's one."""
    if isinstance(by, str):
        if by != "forecast":
            raise check.refuse("by", "'forecast' or an array of labels", by)
        groups, group = np.unique(said, return_inverse=True)
        return groups, group
    try:
        labels = np.asarray(by)
        np.sort(labels, axis=0)
    except (TypeError, ValueError):
        raise InvalidArgument("by must be labels of one kind, that can be sorted.") from None
    if labels.ndim not in (1, 2) or len(labels) != said.size:
        raise InvalidArgument(
            f"by must have one label per forecast: {said.size}, got {labels.shape}."
        )
    groups, group = np.unique(labels, axis=0, return_inverse=True)
    return groups, group.ravel()


def _terms(
    said: FloatArray, losses: Any, wanted: Property | None
) -> tuple[Sequence[Loss] | None, Terms | None]:
    """Return the losses as a list where they are known by functions alone, else as terms."""
    if wanted is None:
        if isinstance(losses, str) or not np.iterable(losses):
            raise check.refuse("losses", "a sequence of losses, or outcomes and a property", losses)
        listed = list(losses)
        check.same_length("forecasts and losses", said, listed)
        terms = terms_of_losses(listed)
        return (listed, None) if terms is None else (None, terms)
    check.instance("property", wanted, Property, "a property such as Median()")
    outcomes = check.unit_vector("outcomes", losses)
    check.same_length("forecasts and outcomes", said, outcomes)
    terms = terms_of_outcomes(outcomes, wanted)
    if terms is not None:
        return None, terms
    return _terms(said, [wanted.loss(float(outcome)) for outcome in outcomes], None)


def _regrets(
    groups: Any,
    group: IntArray,
    said: FloatArray,
    weights: FloatArray,
    listed: Sequence[Loss] | None,
    terms: Terms | None,
    *,
    at_least: float = 0.0,
) -> SwapRegret:
    """Minimise each group's sum and compare."""
    size = len(groups)
    counts = sums(group, weights, size)
    if terms is not None:
        best = minimisers(terms, weights, group, size)
        saved = differences(terms, weights, said, best[group])
    else:
        best, saved = _by_functions(group, said, weights, listed or [], size)
    regrets = np.maximum(sums(group, saved, size), at_least)  # rounding may go below 0
    return SwapRegret(groups, counts, best, regrets)


def _by_functions(
    group: IntArray, said: FloatArray, weights: FloatArray, losses: Sequence[Loss], size: int
) -> tuple[FloatArray, FloatArray]:
    best, saved = np.empty(size), np.empty(said.size)
    for number in range(size):
        rounds = np.flatnonzero(group == number)
        members = [losses[int(t)] for t in rounds]
        best[number] = bisected_minimiser(members, weights[rounds])
        for t, loss in zip(rounds, members, strict=True):
            saved[t] = weights[t] * (loss.value(float(said[t])) - loss.value(best[number]))
    return best, saved
