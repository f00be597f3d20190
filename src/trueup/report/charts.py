"""The figures of a report as Altair charts: each a function of a summary.

| function | shows |
|---|---|
| `over_time` | forecast and outcome, with the user's own model |
| `reliability` | what was seen where it said so, before and after, with bands |
| `calibration_over_time` | the same in periods |
| `swap_regret` | swap regret by label against its certificate, the bound and 0.55 sqrt(t) |
| `bins` | the bins at all scales: how often each was drawn, and the wealth against it |
| `groups` | each group's calibration |
| `evidence` | the evidence of an audit, as rounds went by |

A notebook shows a chart as it is; `trueup.report.save` writes it to a file. All need the extra
`report`.

>>> from trueup import Median, calibrate
>>> from trueup.report import digest_of
>>> run = calibrate([3.0, 4.0, 5.0] * 50, Median())
>>> chart = reliability(digest_of(run).summary())
>>> type(chart).__name__
'LayerChart'
"""

from trueup.report._calibration_figures import calibration_over_time, groups, reliability
from trueup.report._run_figures import bins, evidence, swap_regret
from trueup.report._time_figure import over_time

__all__ = [
    "bins",
    "calibration_over_time",
    "evidence",
    "groups",
    "over_time",
    "reliability",
    "swap_regret",
]
