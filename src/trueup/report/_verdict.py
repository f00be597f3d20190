"""The verdict of a page, in words: what was found, never more than that."""

from typing import NamedTuple

from trueup.auditor import Audit
from trueup.report._numbers import percent, plain
from trueup.report._summary import Bands, NumberSummary, Score, Summary

SAME = 0.0005  # a change of the loss that is 0.0 % when written down
CLEAR, MIXED, AGAINST = "clear", "mixed", "against"


class Verdict(NamedTuple):
    """What a page says first."""

    mood: str  # CLEAR, MIXED or AGAINST
    headline: str
    sentences: tuple[str, ...]


def verdict_of(summary: Summary, audit: Audit | None = None) -> Verdict:
    """Return the verdict on a run, and on the model if an audit of it is given."""
    if not any(one.issued.rounds for one in summary.numbers):
        return Verdict(MIXED, "Nothing can be said yet: no outcome has come.", ())
    sentences = []
    for one in summary.numbers:
        sentences += _sentences(one, several=len(summary.numbers) > 1)
    if audit is not None:
        sentences.append(f"Audit of the model: {audit.verdict}")
    sentences.append(_counts(summary))
    return Verdict(*_headline(summary), tuple(sentences))


def _headline(summary: Summary) -> tuple[str, str]:
    """Return the mood, and whether the bands hold, before and after."""
    after = [bands for one in summary.numbers for bands in (one.by_forecast, one.by_time)]
    before = [
        bands
        for one in summary.numbers
        for bands in (one.raw_by_forecast, one.raw_by_time)
        if bands is not None
    ]
    missed, model = outside(after), outside(before)
    if missed == 0:
        text = "No sign against calibration in what was issued"
        if model:
            text += f"; the model alone is off in {_of(model, before)}"
        return CLEAR, f"{text}."
    halved = _halved(summary)
    if halved is not None:
        return MIXED, f"{halved}, though {_of(missed, after)} leave their bands."
    text = f"What was issued is off in {_of(missed, after)}"
    if before:
        text += f", the model alone in {model:,}" if model else ", the model alone in none"
    return AGAINST, f"{text}."


def _halved(summary: Summary) -> str | None:
    """Say how much smaller calibration errors are than the model's, if it is at least by half."""
    both = [one for one in summary.numbers if one.raw is not None]
    after = sum(one.issued.error for one in both)
    before = sum(one.raw.error for one in both if one.raw is not None)
    if not both or 2 * after > before:
        return None
    texts = [_text(both[0], error / len(both)) for error in (after, before)]
    return f"Calibration error {texts[0]} instead of the model's {texts[1]}"


def _of(missed: int, bands: list[Bands]) -> str:
    return f"{missed:,} of {sum(part.rounds.size for part in bands):,} bins and periods"


def outside(bands: list[Bands]) -> int:
    """Return how many leave their band."""
    return sum(part.outside for part in bands)


def _counts(summary: Summary) -> str:
    text = f"{summary.rounds:,} rounds, {summary.answered:,} with an outcome"
    if summary.overruled == 0:
        text += "; the aim was never overruled"
    elif summary.overruled > 0:
        text += f"; the aim was overruled in {percent(summary.overruled, 2)} of them"
    return text + "."


def _sentences(one: NumberSummary, *, several: bool) -> list[str]:
    name = f"{one.number.name[0].upper()}{one.number.name[1:]}"
    lines = [f"{name}: {_met(one)}.", _error(one), _loss(one)]
    return [" ".join(lines)] if several else lines


def _met(one: NumberSummary) -> str:
    """Say how often outcomes were below, or where they were on average."""
    if one.number.level is not None:
        text = f"{_below(one, one.issued)} of outcomes were below what was issued"
        if one.raw is not None:
            text += f", {_below(one, one.raw)} below the model"
        return f"{text}; {percent(one.number.level)} is right"
    what = "the share of ones" if one.number.chance else "the mean outcome"
    text = (
        f"{what} was {plain(one.issued.seen)}, the mean of what was issued {plain(one.issued.said)}"
    )
    return text if one.raw is None else f"{text}, the model's {plain(one.raw.said)}"


def _below(one: NumberSummary, score: Score) -> str:
    return percent(score.share(one.number.level), 2)


def _error(one: NumberSummary) -> str:
    answer = f"Calibration error {_text(one, one.issued.error)}"
    if one.raw is not None:
        answer += f" instead of the model's {_text(one, one.raw.error)}"
    return f"{answer}; chance alone makes about {_text(one, one.issued.chance)}."


def _text(one: NumberSummary, error: float) -> str:
    """Return a calibration error as text."""
    shares = one.number.level is not None or one.number.chance
    return percent(error, 2) if shares else plain(error)


def _loss(one: NumberSummary) -> str:
    text = f"Mean {one.number.loss_name} {plain(one.issued.loss)}"
    if one.raw is None:
        return f"{text}."
    if one.raw.loss <= 0 or one.raw.rounds != one.issued.rounds:
        return f"{text}; the model's {plain(one.raw.loss)} (of {one.raw.rounds:,} rounds)."
    change = one.issued.loss / one.raw.loss - 1
    if abs(change) < SAME:
        return f"{text}, the same as the model's {plain(one.raw.loss)}."
    word = "less" if change < 0 else "more"
    return f"{text}, {percent(abs(change), 1)} {word} than the model's {plain(one.raw.loss)}."
