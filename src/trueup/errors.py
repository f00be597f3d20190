"""What can go wrong, and what each error says.

    TrueupError
    ├── InvalidArgument (also a ValueError)   which argument, what must hold, what was got
    ├── HorizonReached                        a predictor made for T rounds is asked for one more
    ├── SolverFailed                          the linear program of a round was not solved
    ├── UnknownForecast                       no forecast of this number is open
    ├── MissingExtra (also an ImportError)    an optional package is not installed
    └── StateFormatError                      what was to be loaded is no state of this version

An error leaves the object that raised it as it was.
"""

__all__ = [
    "HorizonReached",
    "InvalidArgument",
    "MissingExtra",
    "SolverFailed",
    "StateFormatError",
    "TrueupError",
    "UnknownForecast",
]


class TrueupError(Exception):
    """The root of all errors raised on purpose by this package."""


class InvalidArgument(TrueupError, ValueError):
    """An argument is not what it must be; the message is one sentence that says which and why."""


class HorizonReached(TrueupError):
    """All rounds that a fixed-horizon predictor was made for have been played."""


class SolverFailed(TrueupError):
    """A linear program was not solved to its tolerance; the message carries the solver's status."""


class UnknownForecast(TrueupError, KeyError):
    """No forecast of this number is open: it was never made, or it has been answered."""

    def __str__(self) -> str:
        return str(self.args[0])


class StateFormatError(TrueupError):
    """What was to be loaded is damaged, or no state, or of a version that is not read."""


class MissingExtra(TrueupError, ImportError):
    """Something optional is not installed; the message is the command that installs it.

    >>> print(MissingExtra("A Parquet file", "data"))
    A Parquet file needs an extra that is not installed: pip install 'trueup[data]'
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs an extra that is not installed: pip install 'trueup[{extra}]'"
        )
