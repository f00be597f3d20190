"""Bets against the user's own forecasts, beside a run that corrects them."""

from typing import Any

import numpy as np

from trueup.auditor import Audit, Auditor
from trueup.calibrator._targets import Target
from trueup.cli._evidence import known_of
from trueup.cli._feed import Feed
from trueup.cli._options import Roles
from trueup.properties import Expectile, Mean


class Bettor:
    """An audit of the model while its forecasts go by."""

    def __init__(self, wanted: Target, bounds: Any) -> None:
        self._auditor = Auditor(wanted, bounds=bounds)  # type: ignore[arg-type]
        self._outside, self._rows = False, 0

    def add(self, feed: Feed) -> None:
        """Bet on the rows of a block."""
        if self._auditor.bounds is not None:
            low, high = self._auditor.bounds
            columns = (feed.outcomes, feed.own)
            self._outside |= any(bool(((x < low) | (x > high)).any()) for x in columns)
        if self._outside:  # bets inside bounds say nothing then
            return
        times, known = feed.moments(), known_of(feed)
        if known is not None and times is None:  # its rows are counted from here
            known -= feed.clocks[0] - 1 - self._rows
        elif known is not None and times is not None:  # a row's own outcome is never known
            dated = times.dtype.kind == "M"
            known = np.maximum(
                known, times + np.timedelta64(1, "us") if dated else np.nextafter(times, np.inf)
            )
        self._rows += len(feed.block)
        self._auditor.add(feed.outcomes, feed.own, known_at=known, times=times, groups=feed.groups)

    def result(self) -> Audit | None:
        """Return what has been found; nothing where numbers left the bounds."""
        return None if self._outside else self._auditor.result()


def bettor_of(wanted: Target, settings: dict[str, Any], roles: Roles) -> Bettor | None:
    """Return one where the forecasts can be audited: a single number of what is wanted, one series.

    A mean needs bounds, and so does an expectile.
    """
    bounds = settings.get("bounds")
    if roles.forecast is None or roles.key is not None:
        return None
    if settings.get("of") is not None or hasattr(wanted, "levels"):
        return None
    if isinstance(wanted, Mean | Expectile) and bounds is None:
        return None
    return Bettor(wanted, bounds if isinstance(wanted, Mean | Expectile) else None)
