"""What a run looks like: one page that works offline, and its figures.

| name | what it is |
|---|---|
| `page` | the page of a `CalibratedRun` |
| `Digest` | blocks of rounds in, everything a page shows out, in bounded memory |
| `write` | the page of a digest |
| `charts` | the figures as Altair charts |
| `save` | a figure as a PNG or SVG file |

Figures are functions of a `Summary`, which is plain numbers. Making one needs the extra `report`;
summaries do not.
"""

from trueup.report import charts
from trueup.report._digest import Digest
from trueup.report._summary import Bands, NumberSummary, Regret, Score, Series, Stretch, Summary
from trueup.report._write import digest_of, page, save, write

__all__ = [
    "Bands",
    "Digest",
    "NumberSummary",
    "Regret",
    "Score",
    "Series",
    "Stretch",
    "Summary",
    "charts",
    "digest_of",
    "page",
    "save",
    "write",
]
