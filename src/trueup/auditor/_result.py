"""What an audit found: plain data, and the sentence that says it."""

import builtins
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from trueup.auditor._curve import Curve
from trueup.auditor._saving import Saving


class Evidence(NamedTuple):
    """Evidence in one place: all rounds, a region of forecasts, a group.

    `log10` pays for the search: it is at least log10(1/alpha) anywhere, ever, with probability at
    most alpha. `wanted` and `got`, over all rows of the place, are the level and the share of
    outcomes below for a quantile, the mean forecast and the mean outcome for a mean; for an
    expectile, and where `direction` is about the spread, both are on the scale of the bet (0 to 1).
    """

    where: str
    level: float | None  # of the quantile, where several are audited
    rows: int
    log10: float
    direction: str  # "too low", "too high", "too extreme", "too flat": the side with more evidence
    wanted: float
    got: float
    low: float | None  # forecasts of a region lie between these, as they are cut now
    high: float | None


class Break(NamedTuple):
    """A run of rounds that were wrong after the forecasts had been better.

    `start` and `end` are estimates, as indices (sentences count rows from 1). The evidence is that
    of one bettor who began then; it is part of all evidence, and pays for the search.
    """

    start: int
    end: int  # the first round after it
    log10: float
    direction: str
    level: float | None
    since: float | str | None  # the time of `start`, where times were given


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    rows, missing : int
        Rounds that count; rounds left out because the outcome or the forecast is missing.
    alpha : float
        Allowed probability of a false alarm, over all times at which one looks.
    log10_evidence, log10_peak : float
        Evidence now, and the most it has ever been.
    log10_start, log10_restarted : float
        Now, of bettors that play from the start, and of those that start later.
    crossed_at : int or None
        After how many rounds evidence first reached 1/alpha.
    valid : bool
        Whether the probability of a false alarm is really at most alpha.
    reason : str
        On what that rests, or why it is withheld.
    evidence : tuple of Evidence
        By place, the strongest first.
    break_at : Break or None
        When forecasts went wrong, if they were better before.
    saving : Saving or None
        What recalibration would have saved.
    curve, restarted_curve : Curve
        log10 of all evidence, and of bettors that start later, after so many rounds.
    """

    property: str
    rows: int
    missing: int
    alpha: float
    log10_evidence: float
    log10_peak: float
    log10_start: float
    log10_restarted: float
    crossed_at: int | None
    valid: bool
    reason: str
    evidence: tuple[Evidence, ...]
    break_at: Break | None
    saving: Saving | None
    curve: Curve
    restarted_curve: Curve

    @builtins.property
    def rejected(self) -> bool:
        """Whether there is evidence of 1/alpha or more, and the claim to it is valid."""
        return self.valid and self.crossed_at is not None

    @builtins.property
    def verdict(self) -> str:
        """One sentence."""
        peak, needed = f"{_power(self.log10_peak)} to 1", f"{1 / self.alpha:.4g} to 1"
        if self.crossed_at is None:
            said = f"No evidence against calibration in {self.rows:,} rows"
            said += f" (it peaked at {peak}; {needed} is needed)"
            return said + ("." if self.valid else f", and no valid claim, because {self.reason}.")
        said = f"vidence against calibration in {self.rows:,} rows: it peaked at {peak}"
        said += f" ({needed} is needed, and was reached after {self.crossed_at:,} rows)"
        if not self.valid:
            return f"No valid claim, because {self.reason}; at face value, e{said}."
        first = self.break_at
        if first is not None:
            since = "" if first.since is None else f" ({first.since})"
            where = f"from row {first.start + 1:,}{since} on"
            return f"E{said}; forecasts were {first.direction} {where}."
        return f"E{said}; {self.evidence[0].where}: {self.evidence[0].direction}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers, text, lists and None, fit for JSON."""
        answer = {k: v for k, v in asdict(self).items() if not isinstance(v, Curve)}
        answer |= {"verdict": self.verdict, "rejected": self.rejected}
        answer["evidence"] = [item._asdict() for item in self.evidence]
        for name in ("break_at", "saving"):
            value = getattr(self, name)
            answer[name] = None if value is None else value._asdict()
        for name in ("curve", "restarted_curve"):
            curve = getattr(self, name)
            answer[name] = {k: np.asarray(v).tolist() for k, v in curve._asdict().items()}
        return answer

    def __str__(self) -> str:
        lines = [self.verdict]
        lines += [_line(item) for item in self.evidence[:4] if item.log10 > 0]
        if self.saving is not None:
            s = self.saving
            word = "saved" if s.saved >= 0 else "cost"
            lines.append(
                f"  recalibration would have {word} {abs(s.saved):.3g} a row, where the loss was"
                f" {s.loss:.3g} (95 % interval of the saving: {s.low:.3g} to {s.high:.3g})"
            )
        if self.valid:
            lines.append(f"  valid whenever one looks: {self.reason}")
        return "\n".join(lines)


def _line(item: Evidence) -> str:
    level = "" if item.level is None else f" (level {item.level:g})"
    return (
        f"  {item.where}{level}: {item.direction}, {_power(item.log10)} to 1,"
        f" {item.got:.4g} instead of {item.wanted:.4g} in {item.rows:,} rows"
    )


def _power(log10: float) -> str:
    """A number given by its logarithm, short.

    >>> _power(1.5), _power(12.34)
    ('31.6', '10^12.3')
    """
    return f"{10**log10:.3g}" if log10 < 4 else f"10^{log10:.1f}"
