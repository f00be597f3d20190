"""Refining in plain Python: who bets on whether the belief's own number costs more than the bin."""

import math

from reference.wealth import RATES


class Refining:
    """Wealth of the bettors against refining and for it, of each group; stakes of open rounds."""

    def __init__(self, cap):
        self.cap, self.won, self.reserved = cap, 0.0, 0.0
        self.has, self.open, self.differences = {}, {}, {}

    def bettors(self, group, side):
        """Return the wealth of the bettors of a side, by rate; groups share 1 by number."""
        share = 1 / ((group + 1) * (group + 2)) / (2 * len(RATES))
        return self.has.setdefault((group, side), [share] * len(RATES))

    def free(self, group, side):
        """Return what each bettor of a side cannot have lost already."""
        left = list(self.bettors(group, side))
        for share, far, _, stakes in self.open.values():
            held = share if side == "against" else 1 - share
            for k, stake in enumerate(stakes.get((group, side), [])):
                left[k] -= held * far * stake
        return left

    def stakes(self, group, side):
        """Return rate times free wealth of each bettor."""
        return [rate * p for rate, p in zip(RATES, self.free(group, side), strict=True)]

    def say(self, groups, label, scale, point):
        """Return lambda, what is said, and the most that this round can add."""
        p = min(max(point, label - 2 * scale, 0.0), label + 2 * scale, 1.0)
        against = math.fsum(s for group in groups for s in self.stakes(group, "against"))
        favour = math.fsum(s for group in groups for s in self.stakes(group, "for"))
        most = against * abs(p - label)
        if 1 + self.won + self.reserved + most <= self.cap:
            return 1.0, p, most
        share = favour / (against + favour)
        return share, label + share * (p - label), 0.0

    def stake(self, number, groups, label, scale, point):
        """Write down the stakes of a round."""
        p = min(max(point, label - 2 * scale, 0.0), label + 2 * scale, 1.0)
        share, _, most = self.say(groups, label, scale, point)
        stakes = {}
        if p != label:
            for group in groups:
                for side in ("against", "for"):
                    stakes[group, side] = self.stakes(group, side)
        self.open[number] = share, abs(p - label), most, stakes
        self.reserved = math.fsum(most for _, _, most, _ in self.open.values())

    def pay(self, number, difference):
        """Pay out a round in which the point lost so much more than the label."""
        share, _, _, stakes = self.open.pop(number)
        for (group, side), amounts in stakes.items():
            factor = share if side == "against" else share - 1
            bettors = self.bettors(group, side)
            for k, amount in enumerate(amounts):
                bettors[k] += factor * difference * amount
                self.won += factor * difference * amount
        self.reserved = math.fsum(most for _, _, most, _ in self.open.values())
