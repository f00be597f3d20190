"""The record of a run: what was said, with which mixture, and what it cost.

A record is plain data. Metrics, experiments and reports read it; nothing in it is ever changed.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from trueup import _validation as check
from trueup.errors import InvalidArgument
from trueup.losses import refuse_wrong
from trueup.protocols import FloatArray, IntArray, Issued, Loss, Mixture

__all__ = ["History", "Mixture", "Record", "Recorder", "record_of"]


class Record(NamedTuple):
    """A finished run of T rounds.

    The mixtures are laid end to end: those of round t are the entries from `starts[t]` up to
    `starts[t + 1]` of `support`, `scales` and `probabilities`.
    """

    forecasts: FloatArray  # what was said, shape (T,)
    losses: tuple[Loss, ...]  # the loss of each round
    support: FloatArray  # shape (n,)
    scales: FloatArray  # shape (n,)
    probabilities: FloatArray  # shape (n,)
    starts: IntArray  # shape (T + 1,)

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.losses)

    def costs(self) -> FloatArray:
        """Return the loss suffered in each round, in natural units, shape (T,)."""
        pairs = zip(self.losses, self.forecasts.tolist(), strict=True)
        return np.array([loss.value(forecast) for loss, forecast in pairs])

    def outcomes(self) -> FloatArray:
        """Return the outcome of each round, for losses of one outcome v, shape (T,)."""
        missing = [loss for loss in self.losses if not hasattr(loss, "v")]
        if missing:
            raise InvalidArgument(f"losses must be those of outcomes, got {missing[0]!r}.")
        return np.array([loss.v for loss in self.losses])  # type: ignore[attr-defined]


class Recorder:
    """Collects the rounds of a run while it goes on.

    Examples
    --------
    >>> import numpy as np
    >>> from trueup.losses import Absolute
    >>> recorder = Recorder()
    >>> one = np.ones(1)
    >>> recorder.add(Mixture(one / 2, one, one, 0.5), Absolute(0.25))
    >>> recorder.record().costs()
    array([0.25])
    """

    def __init__(self) -> None:
        self._mixtures: list[Issued] = []
        self._losses: list[Loss] = []

    def __len__(self) -> int:
        return len(self._losses)

    def add(self, mixture: Issued, loss: Loss) -> None:
        """Append one round."""
        self._mixtures.append(mixture)
        self._losses.append(loss)

    def last(self) -> tuple[Issued, Loss]:
        """Return the mixture (with its draw) and the loss of the latest round."""
        return self._mixtures[-1], self._losses[-1]

    def record(self) -> Record:
        """Return what has been collected."""
        sizes = [mixture.support.size for mixture in self._mixtures]
        return Record(
            np.array([mixture.value for mixture in self._mixtures], dtype=np.float64),
            tuple(self._losses),
            _joined(mixture.support for mixture in self._mixtures),
            _joined(mixture.scales for mixture in self._mixtures),
            _joined(mixture.probabilities for mixture in self._mixtures),
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64),
        )


class History:
    """What an adversary may read of the rounds before: everything, and nothing to write to.

    >>> len(History(Recorder()))
    0
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __len__(self) -> int:
        return len(self._recorder)

    def last(self) -> tuple[Mixture, Loss]:
        """Return the mixture (with its draw) and the loss of the latest round, as a copy."""
        mixture, loss = self._recorder.last()
        return Mixture(
            mixture.support.copy(),
            mixture.scales.copy(),
            mixture.probabilities.copy(),
            mixture.value,
        ), loss

    def record(self) -> Record:
        """Return the record of the rounds so far (it takes time in proportion to them)."""
        return self._recorder.record()


def record_of(mixtures: Sequence[Mixture], losses: Sequence[Loss]) -> Record:
    """Return the record of given mixtures and losses, checking each mixture.

    >>> import numpy as np
    >>> from trueup.losses import Absolute
    >>> half = np.array([0.5, 0.5])
    >>> record_of([Mixture(np.array([0.0, 1.0]), half, half, 1.0)], [Absolute(1.0)]).rounds
    1
    """
    check.same_length("mixtures and losses", mixtures, losses)
    recorder = Recorder()
    for mixture, loss in zip(mixtures, losses, strict=True):
        check.instance("mixture", mixture, Mixture, "a Mixture")
        refuse_wrong(loss)
        support = check.unit_vector("support", mixture.support)
        probabilities = check.probabilities("probabilities", mixture.probabilities)
        check.same_length(
            "support, scales and probabilities", support, mixture.scales, probabilities
        )
        if mixture.value not in support:
            raise InvalidArgument(f"value must be a point of the support, got {mixture.value}.")
        scales = check.vector("scales", mixture.scales)
        recorder.add(Mixture(support, scales, probabilities, float(mixture.value)), loss)
    return recorder.record()


def _joined(arrays: Iterable[FloatArray]) -> FloatArray:
    parts = list(arrays)
    return np.concatenate(parts) if parts else np.empty(0)
