"""Two threads on one calibrator."""

import threading

import numpy as np

import trueup as tu
from trueup.calibrator import Calibrator

ROUNDS = 2_000


def run_in_threads(*works):
    """Run functions at the same time; raise what the first of them raised."""
    errors = []

    def guarded(work):
        try:
            work()
        except BaseException as error:  # it is raised in the test
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def worker(calibrator, seed, ids):
    """Return work that predicts, and answers a little later by id."""

    def work():
        rng, waiting = np.random.default_rng(seed), []
        for t in range(ROUNDS):
            forecast = calibrator.predict(float(rng.normal()), groups=(f"thread {seed}",))
            ids.append(forecast.id)
            waiting.append(forecast.id)
            calibrator.peek()
            if t % 3 == 0:
                number = waiting.pop(0)
                calibrator.update(float(rng.normal()) if t % 5 else None, forecast=number)
            if len(waiting) > 20:
                calibrator.skip(waiting.pop())

    return work


def test_two_threads_never_corrupt_a_calibrator():
    """Every id is issued once, the counts add up, and its bytes can be read and go on."""
    calibrator, ids = tu.Calibrator(tu.Interval(0.8)), ([], [])
    run_in_threads(worker(calibrator, 1, ids[0]), worker(calibrator, 2, ids[1]))
    report = calibrator.report()

    assert sorted(ids[0] + ids[1]) == list(range(2 * ROUNDS))
    assert ids[0] == sorted(ids[0])
    assert report.rounds == 2 * ROUNDS
    assert report.scored + report.missing + report.open == report.rounds
    assert report.open == len(calibrator.open) > 0
    for stream in calibrator._streams:
        info = stream.engine.info()
        settled = stream.engine.visited()[2][:, 0].sum()
        assert info.played == report.rounds - report.unguarded
        assert settled <= report.scored
        assert np.isfinite(info.wealth)
    data = calibrator.to_bytes()
    again = Calibrator.from_bytes(data)
    assert again.to_bytes() == data
    for number in calibrator.open:
        for each in (calibrator, again):
            each.update(0.5, forecast=number)
    assert again.predict(0.1) == calibrator.predict(0.1)


def test_states_read_while_others_write_are_whole():
    """A thread that saves all the time gets readable bytes, reports that add up, and ids."""
    calibrator, done = tu.Calibrator(tu.Median()), threading.Event()

    def writer():
        rng = np.random.default_rng(0)
        for _ in range(3_000):
            forecast = calibrator.predict(float(rng.normal()))
            calibrator.update(float(rng.normal()), forecast=forecast)
        done.set()

    def reader():
        seen = 0
        while not done.is_set():
            again, report = Calibrator.from_bytes(calibrator.to_bytes()), calibrator.report()
            assert report.scored + report.open == report.rounds
            assert seen <= again.report().rounds <= report.rounds
            assert len(calibrator.open) <= 1
            seen = report.rounds

    run_in_threads(writer, reader)
    assert calibrator.report().scored == 3_000
