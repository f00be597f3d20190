"""Ctrl-C and SIGTERM, held back while something must not be cut in two.

An exception that a signal raises can get lost, in a function that was called from C. So it is
raised again a moment later, until somebody has caught it.
"""

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

from trueup.cli._errors import TERMINATED

AGAIN = 0.5  # seconds
SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)
]


class Stops:
    """Turns signals into exceptions, outside of `whole` at once and inside at its end."""

    def __init__(self) -> None:
        self._busy = False
        self._held: int | None = None
        self._asked, self._again = 0, getattr(signal, "SIGALRM", None)
        self.torn = False  # something was cut in two
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Stops":
        for number in SIGNALS:
            with contextlib.suppress(ValueError):  # in a thread of somebody else's program
                self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        self.caught()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def caught(self) -> None:
        """Do not raise again: what was raised has arrived."""
        self._set(0.0)

    def _set(self, seconds: float) -> None:
        """Have the alarm come after so many seconds, or never."""
        if self._again in self._before:
            signal.setitimer(signal.ITIMER_REAL, seconds)

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """Let what is done inside be finished; a second signal stops it all the same."""
        self._busy = self.torn = True
        try:
            yield
            self.torn = False
        except OSError:  # nobody listens, or the disk is full: what was learned is whole
            self.torn = False
            raise
        finally:
            self._busy = False
        if self._held is not None:
            raise _told(self._held)

    def _stop(self, number: int, frame: object) -> None:  # noqa: ARG002 - the signal's signature
        if number == self._again:
            number = self._asked
        if self._busy and self._held is None:
            self._held = number
            return
        self._asked = number
        self._set(AGAIN)
        raise _told(number)


def _told(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(TERMINATED)
