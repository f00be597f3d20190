"""Running a forecaster against a stream of losses or an adversary, round by round."""

from trueup.replay._play import play, play_reversed

__all__ = ["play", "play_reversed"]
