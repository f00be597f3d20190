"""A signal is an exception at once, at the end of what must be whole, or again if it was lost."""

import contextlib
import os
import signal
import time

import pytest

from trueup.cli import _signals


def send(number, *, rest=0.0):
    """Send this process a signal, and wait a while."""
    os.kill(os.getpid(), number)
    time.sleep(rest)


def whole(stops, times, done):
    """Be stopped so many times within what must be whole."""
    with stops.whole():
        for _ in range(times):
            send(signal.SIGINT)
        done.append(times)


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_signal_is_an_exception(number, error):
    """At once; afterwards the handlers are those from before."""
    before = signal.getsignal(number)
    with _signals.Stops(), pytest.raises(error):
        send(number, rest=5.0)

    assert signal.getsignal(number) is before
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def test_what_must_be_whole_is_finished_first():
    """Nothing is torn then; by a second signal it is."""
    done = []
    for times, torn in ((1, False), (2, True)):
        with _signals.Stops() as stops:
            with pytest.raises(KeyboardInterrupt):
                whole(stops, times, done)
            assert stops.torn == torn

    assert done == [1]


def test_an_exception_that_was_lost_comes_again(monkeypatch):
    """As in a function that C calls; until it is caught."""
    monkeypatch.setattr(_signals, "AGAIN", 0.05)
    with _signals.Stops() as stops:
        with contextlib.suppress(SystemExit):
            send(signal.SIGTERM)
        with pytest.raises(SystemExit):
            time.sleep(5)
        stops.caught()
        time.sleep(0.1)
