"""The engine's bookkeeping in plain Python: a dictionary of bettors, one product for each."""

import math

RATES = [0.5**j for j in range(1, 21)]


def prior(level):
    """Return the mass of a claim of scale 2^-level."""
    return 1 / ((level + 1) * (level + 2)) / (4 * (2**level + 1))


def spacing_level(number, c):
    """Return K with 2^-K the largest power of 1/2 up to c / sqrt(number)."""
    level = 0
    while 0.5**level > c / math.sqrt(number):
        level += 1
    return level


class Wealth:
    """Wealth of every bettor against every claim, by products."""

    def __init__(self):
        self.bettors = {}

    def claim(self, level, place, xi):
        """Return the wealths of the bettors against a claim, by rate."""
        return self.bettors.setdefault((level, place, xi), [prior(level) / 20] * 20)

    def weight(self, level, place, xi):
        """Return the sum of rate times wealth."""
        return sum(eta * p for eta, p in zip(RATES, self.claim(level, place, xi), strict=True))

    def total(self):
        """Return W: 1, and what the bettors that have moved have won or lost."""
        moved = sum(sum(wealths) - prior(level) for (level, _, _), wealths in self.bettors.items())
        return 1 + moved

    def learn(self, level, place, finest, outcome):
        """Move the bettors of the drawn pair after an outcome of absolute loss."""
        for xi, off in claims(level, place, finest, outcome).items():
            wealths = self.claim(level, place, xi)
            self.bettors[level, place, xi] = [
                p * (1 + eta * off) for eta, p in zip(RATES, wealths, strict=True)
            ]


def claims(level, place, finest, outcome):
    """Return by how much each claim that can fail is exceeded, by xi."""
    r, gamma = 0.5**level, 0.5**finest
    b, far, near = place * r, 0.5 - gamma / (4 * r), 0.5 - gamma / (2 * r)
    off = {}
    if b + 2 * r < 1:
        off[2] = (outcome > b + 2 * r) - far
    if b - 2 * r > 0:
        off[-2] = (outcome < b - 2 * r) - far
    if r > gamma and b > 0:
        off[1] = near - (outcome >= b)
    if r > gamma and b < 1:
        off[-1] = near - (outcome <= b)
    return off
