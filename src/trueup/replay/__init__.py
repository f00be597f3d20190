"""Running a forecaster against a stream of losses or an adversary, round by round."""

from trueup.replay._duel import Duel, duel, losses_of
from trueup.replay._play import play, play_reversed

__all__ = ["Duel", "duel", "losses_of", "play", "play_reversed"]
