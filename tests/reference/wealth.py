"""The engine's bookkeeping in plain Python: dictionaries of bettors, stakes written out, sums.

Evidence comes as a law of v with `cdf` and `cdf_left`, not as slopes of a loss.
"""

import math

RATES = [0.5, 0.5**3, 0.5**5, 0.5**7, 0.5**9, 0.5**11]


class Point:
    """The law of a certain v."""

    def __init__(self, v):
        self.v = v

    def cdf(self, x):
        """Return Pr[v <= x]."""
        return float(self.v <= x)

    def cdf_left(self, x):
        """Return Pr[v < x]."""
        return float(self.v < x)


def finest_level(number, c):
    """Return K with 2^-K the largest power of 1/2 up to c / sqrt(number)."""
    level = 0
    while 0.5**level > c / math.sqrt(number):
        level += 1
    return level


def money(number):
    """Return what the pair that is the number-th to arrive gets, counted from 0."""
    return 1 / ((number + 1) * (number + 2))


def claims(level, place, finest, law):
    """Return by how much each claim that can fail is exceeded under a law of v, by xi."""
    r, gamma = 0.5**level, 0.5**finest
    b, far, near = place * r, 0.5 - gamma / (4 * r), 0.5 - gamma / (2 * r)
    off = {}
    if b + 2 * r < 1:
        off[2] = (1 - law.cdf(b + 2 * r)) - far
    if b - 2 * r > 0:
        off[-2] = law.cdf_left(b - 2 * r) - far
    if r > gamma and b > 0:
        off[1] = near - (1 - law.cdf_left(b))
    if r > gamma and b < 1:
        off[-1] = near - law.cdf(b)
    return off


def most_lost(level, finest, xi):
    """Return the most by which a claim can be kept, which is what a unit of stake can lose."""
    ratio = 0.5 ** (finest - level)
    return 0.5 - ratio / 4 if abs(xi) == 2 else 0.5 + ratio / 2


class Wealth:
    """What every bettor has, and what is staked on the rounds that are open.

    A bettor is (group, level, place, xi, rate); a mixture is a list of (level, place, share).
    """

    def __init__(self):
        self.order = []  # pairs of groups, as they came
        self.has = {}
        self.open = {}  # round -> the spacing, and the stake of each bettor

    def arrive(self, group, level, place):
        """Give a pair its money, if it is new."""
        if (group, level, place) in self.order:
            return
        share = money(len(self.order)) / 24
        self.order.append((group, level, place))
        for xi in (2, -2, 1, -1):
            for rate in RATES:
                self.has[group, level, place, xi, rate] = share

    def free(self, bettor):
        """Return what a bettor cannot have lost already."""
        _, level, _, xi, _ = bettor
        held = [
            stakes[bettor] * most_lost(level, finest, xi)
            for finest, stakes in self.open.values()
            if bettor in stakes
        ]
        return self.has[bettor] - math.fsum(held)

    def weights(self, groups, level, place):
        """Return the sum of rate times free wealth of each claim, over the groups of a round."""
        fresh = len(self.order)
        total = dict.fromkeys((2, -2, 1, -1), 0.0)
        for group in groups:
            if (group, level, place) not in self.order:
                for xi in total:
                    total[xi] += sum(RATES) * money(fresh) / 24
                fresh += 1
                continue
            for xi in total:
                bettors = [((group, level, place, xi, rate), rate) for rate in RATES]
                total[xi] += math.fsum(rate * self.free(bettor) for bettor, rate in bettors)
        return total

    def gain(self, groups, mixture, finest, laws):
        """Return the expected gain of all bettors under a mixture, for each law of v."""
        known = [(self.weights(groups, level, place), *_) for level, place, *_ in mixture]
        return [
            math.fsum(
                share * weights[xi] * off
                for (weights, share), (level, place, _) in zip(known, mixture, strict=True)
                for xi, off in claims(level, place, finest, law).items()
            )
            for law in laws
        ]

    def stake(self, number, groups, learners, finest):
        """Write down what is staked on a round: for the drawn pair, or for several with shares."""
        stakes = {}
        for level, place, share in learners:
            for group in sorted(groups, reverse=True):  # of new ones the highest group comes first
                self.arrive(group, level, place)
                for xi in claims(level, place, finest, Point(0.5)):
                    for rate in RATES:
                        bettor = (group, level, place, xi, rate)
                        stakes[bettor] = rate * share * self.free(bettor)
        self.open[number] = finest, stakes

    def pay(self, number, law):
        """Pay out what was staked on a round."""
        finest, stakes = self.open.pop(number)
        for bettor, stake in stakes.items():
            _, level, place, xi, _ = bettor
            self.has[bettor] += stake * claims(level, place, finest, law)[xi]

    def total(self):
        """Return W: what all bettors have, with the money that has not been handed out."""
        left = 1 - math.fsum(money(number) for number in range(len(self.order)))
        return left + math.fsum(self.has.values())

    def by_claim(self, group):
        """Return the wealth of each claim of each pair of a group, in the order of arrival."""
        return [
            [math.fsum(self.has[*pair, xi, rate] for rate in RATES) for xi in (2, -2, 1, -1)]
            for pair in self.order
            if pair[0] == group
        ]
