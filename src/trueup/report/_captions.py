"""The words under the figures."""

from typing import Any

from trueup.report._numbers import percent
from trueup.report._run_figures import MOST_BINS, levels_shown
from trueup.report._summary import Summary


def time(summary: Summary) -> str:
    """Say what is drawn over time."""
    width, count = summary.series.width, len(summary.numbers)
    text = "Each dot is an outcome."
    if width > 1:
        text = (
            f"Means of {width:,} consecutive rounds; the pale bands reach from the smallest to the"
            " largest value of each stretch."
        )
    shown = len(levels_shown(count))
    return text if shown == count else f"{text} {shown} of the {count} numbers are drawn."


def reliability(summary: Summary) -> str:
    """Say how to read the bins."""
    number = summary.numbers[0].number
    if number.level is not None:
        what = (
            "Where it said so, how many outcomes were below? As many as wanted (dashed) is right."
        )
    elif number.chance:
        what = "Where it said so, how many outcomes were 1? As many as said (dashed) is right."
    elif number.compares_means:
        what = "Where it said so, by how much was the mean outcome above it? By nothing is right."
    else:
        what = "Where it said so, how steep was the loss on average? Not at all is right."
    return what + (
        " In bins of about equally many rounds. A perfectly calibrated forecaster stays inside its"
        " band in all bins at once with probability 95 % (if no outcome comes late)."
    )


PERIODS = "The same in periods of equal length, each with the band of all periods at once."


def regret(summary: Summary) -> str:
    """Say what the lines are."""
    text = (
        "What the best rule 'whenever it drew this bin, say that instead' would have saved so far,"
        " summed over all bins."
    )
    if summary.regret is not None and summary.regret.bound.size:
        text += (
            " The certificate is what it can be at most, known while the run goes on; the bound is"
            " what the theorem promises for any sequence of outcomes known at once; 0.55 √t is the"
            " value of small games, to orient by."
        )
    return text


def evidence(audit: Any) -> str:
    """Say what the bettors' wealth means."""
    return (
        "What those who bet against the model have made of 1, and those of them who began later."
        " If the model is calibrated, all together ever reach the dashed line,"
        f" {1 / audit.alpha:.4g} to 1, with probability {percent(audit.alpha)} at most."
    )


def bins(summary: Summary) -> str:
    """Say how to read the map."""
    text = "Each bar is a bin that was drawn: as wide as its scale, stronger the more often."
    most = MOST_BINS // len(summary.numbers)
    if any(one.visits is not None and one.visits.rounds.size > most for one in summary.numbers):
        text += f" The {most:,} that were drawn most often."
    if any(one.visits is not None and one.visits.wealth is not None for one in summary.numbers):
        text += (
            " Circles are the wealth of those who bet against it; all bettors together start with"
            " 1, so a large circle is a bin that has been wrong."
        )
    return text


def groups(summary: Summary) -> str:
    """Say which groups are shown."""
    shown = len(summary.numbers[0].group_names)
    text = "Each group with the band of all groups shown at once."
    if summary.n_groups > shown:
        text += f" The {shown} largest of {summary.n_groups:,}."
    return text
