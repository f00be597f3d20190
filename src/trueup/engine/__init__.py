"""The engine: the paper's guarantee without a horizon, a few microseconds a round.

It plays the game of the paper with other means: evidence is wealth instead of MsMwC's weights, the
spacing shrinks by itself, and the mixture comes from a small game that grows by truthful bins
instead of a linear program over the whole grid.
"""

from trueup.engine._engine import Engine, Info

__all__ = ["Engine", "Info"]
