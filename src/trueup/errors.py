"""What can go wrong, and what each error says.

    TrueupError
    ├── InvalidArgument (also a ValueError)   which argument, what must hold, what was got
    ├── HorizonReached                        a predictor made for T rounds is asked for one more
    └── SolverFailed                          the linear program of a round was not solved

An error leaves the object that raised it as it was.
"""

__all__ = ["HorizonReached", "InvalidArgument", "SolverFailed", "TrueupError"]


class TrueupError(Exception):
    """The root of all errors raised on purpose by this package."""


class InvalidArgument(TrueupError, ValueError):
    """An argument is not what it must be; the message is one sentence that says which and why."""


class HorizonReached(TrueupError):
    """All rounds that a fixed-horizon predictor was made for have been played."""


class SolverFailed(TrueupError):
    """A linear program was not solved to its tolerance; the message carries the solver's status."""
