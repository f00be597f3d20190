"""The engine: the paper's guarantee without a horizon, a microsecond or two a round.

It plays the game of the paper with other means: evidence is wealth instead of MsMwC's weights, the
spacing shrinks by itself, and the mixture comes from a small game that grows by truthful bins
instead of a linear program over the whole grid.
"""

from trueup.engine._bound import swap_regret_bound
from trueup.engine._engine import Engine
from trueup.engine._forecast import Forecast, Info, Run

__all__ = ["Engine", "Forecast", "Info", "Run", "swap_regret_bound"]
