"""Is somebody's forecaster calibrated? Evidence by betting, valid whenever one looks.

| name | what it is |
|---|---|
| `audit` | whole arrays |
| `Auditor` | the same block by block, in bounded memory |
| `Audit`, `Evidence`, `Break`, `Curve`, `Saving` | what comes out |
"""

from trueup.auditor._auditor import Auditor, audit
from trueup.auditor._curve import Curve
from trueup.auditor._result import Audit, Break, Evidence
from trueup.auditor._saving import Saving

__all__ = ["Audit", "Auditor", "Break", "Curve", "Evidence", "Saving", "audit"]
