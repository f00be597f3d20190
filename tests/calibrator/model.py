"""A plain model of a calibrator: what is open, what is counted, what is refused."""

import math

EXPIRED, ANSWERED, NEVER = "has expired", "has been answered", "There is no forecast"


class Model:
    """Lists and counts alone; it does not forecast."""

    def __init__(self, max_open=None, max_groups=1_000):
        self.max_open, self.max_groups = max_open, max_groups
        self.open, self.expired = [], []
        self.issued = self.scored = self.missing = self.unguarded = 0
        self.groups, self.guarded = {}, False
        self.members, self.outcomes = {}, []

    def predict(self, groups=()):
        """Return the id of a new forecast, or None where a group too many is named."""
        new = [name for name in dict.fromkeys(groups) if name not in self.groups]
        if len(self.groups) + len(new) > self.max_groups:
            return None
        self.groups |= dict.fromkeys(new, 0)
        number, self.issued = self.issued, self.issued + 1
        self.open.append(number)
        self.members[number] = set(groups) if self.guarded else set()
        self.unguarded += not self.guarded
        if self.max_open is not None and len(self.open) > self.max_open:
            self.expired.append(self.open.pop(0))
            self.missing += 1
        return number

    def refusal(self, number):
        """Return why an id is refused, or None."""
        if number is None:
            return None if len(self.open) == 1 else "Exactly one forecast must be open"
        if number in self.open:
            return None
        if number in self.expired:
            return EXPIRED
        return ANSWERED if 0 <= number < self.issued else NEVER

    def reset(self):
        """Forget the evidence: what is open teaches no group any more."""
        self.groups = dict.fromkeys(self.groups, 0)
        self.members = {number: set() for number in self.members}

    def close(self, number, outcome):
        """Answer an open forecast, or skip it with None or NaN."""
        number = self.open[0] if number is None else number
        self.open.remove(number)
        if outcome is None or math.isnan(outcome):
            self.missing += 1
            return
        self.scored += 1
        self.outcomes.append(outcome)
        self.guarded = True
        for name in self.members[number]:
            self.groups[name] += 1
