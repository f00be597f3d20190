"""The verdict of a page, in words: what was found, never more than that."""

from typing import Any, NamedTuple

from trueup.report._numbers import percent
from trueup.report._summary import Bands, NumberSummary, Score, Summary

CLEAR, UNCLEAR, AGAINST = "clear", "unclear", "against"


class Verdict(NamedTuple):
    """What a page says first."""

    mood: str  # CLEAR, UNCLEAR or AGAINST
    headline: str
    sentences: tuple[str, ...]


def verdict_of(summary: Summary, audit: Any = None) -> Verdict:
    """Return the verdict on a run, and on the model if an audit of it is given."""
    if not summary.answered or not any(one.issued.rounds for one in summary.numbers):
        return Verdict(UNCLEAR, "Nothing can be said yet: no outcome has come.", ())
    sentences = [_counts(summary)]
    for one in summary.numbers:
        sentences += _sentences(one, several=len(summary.numbers) > 1)
    if audit is not None:
        sentences.append(f"Audit: {audit.verdict}")
    mood, headline = _headline(summary)
    return Verdict(mood, headline, tuple(sentences))


def _headline(summary: Summary) -> tuple[str, str]:
    outside = sum(_outside(one) for one in summary.numbers)
    bands = sum(one.by_forecast.rounds.size + one.by_time.rounds.size for one in summary.numbers)
    own = [one.raw_by_forecast for one in summary.numbers if one.raw_by_forecast is not None]
    before = sum(part.outside for part in own)
    if outside == 0:
        headline = "No sign against calibration in what was issued"
        if before:
            total = sum(part.rounds.size for part in own)
            headline += f"; the model alone misses in {before} of {total} bins"
        return CLEAR, headline + "."
    text = f"What was issued leaves the band of a calibrated forecaster in {outside} of {bands}"
    return AGAINST, text + " bins and periods."


def _outside(one: NumberSummary) -> int:
    return one.by_forecast.outside + one.by_time.outside


def _counts(summary: Summary) -> str:
    text = f"{summary.rounds:,} rounds, {summary.answered:,} with an outcome"
    if summary.overruled == summary.overruled:  # noqa: PLR0124 - not NaN
        text += (
            f"; the guard drew another bin than the one aimed at in {percent(summary.overruled, 1)}"
        )
    return text + "."


def _sentences(one: NumberSummary, *, several: bool) -> list[str]:
    name = f"{one.number.name[0].upper()}{one.number.name[1:]}"
    said = _met(one, one.issued)
    if one.raw is not None:
        said += f" (the model: {_met(one, one.raw)})"
    lines = [f"{name}: {said}, {_wanted(one)}."]
    lines.append(f"Calibration error {_error(one, one.issued)}{_before(one)}.")
    lines.append(_loss(one))
    return [" ".join(lines)] if several else lines


def _met(one: NumberSummary, score: Score) -> str:
    """Say how often outcomes were below, or where they were on average."""
    if one.number.level is not None:
        near = min(max(one.number.level, score.below), score.upto)
        return f"{percent(near, 2)} of outcomes were below"
    what = "share of ones" if one.number.chance else "mean outcome"
    return f"{what} {score.seen:.4g} where {score.said:.4g} was said on average"


def _wanted(one: NumberSummary) -> str:
    if one.number.level is not None:
        return f"{percent(one.number.level)} wanted"
    return f"over {one.issued.rounds:,} rounds"


def _error(one: NumberSummary, score: Score) -> str:
    if one.number.level is not None or one.number.chance:
        return f"{percent(score.error, 2)} (by chance alone about {percent(score.chance, 2)})"
    return f"{score.error:.3g} (by chance alone about {score.chance:.3g})"


def _before(one: NumberSummary) -> str:
    return "" if one.raw is None else f"; the model: {_error(one, one.raw)}"


def _loss(one: NumberSummary) -> str:
    text = f"Mean {one.number.loss_name} {one.issued.loss:.4g}"
    if one.raw is None:
        return text + "."
    text += f", the model's {one.raw.loss:.4g}"
    if one.raw.loss > 0 and one.raw.rounds == one.issued.rounds:
        change = one.issued.loss / one.raw.loss - 1
        text += f": {percent(abs(change), 1)} {'less' if change <= 0 else 'more'}"
    return text + "."


def outside_of(bands: Bands | None) -> int:
    """Return how many bins leave their band; 0 where there are none."""
    return 0 if bands is None else bands.outside
