"""Stored examples of every format, and what each says when it goes on: `./run golden`.

`KIND-VERSION.bin` is the state, `KIND-VERSION.json` what follows it, floats in hexadecimal. Only
the examples of the versions written now are made; older ones stay as they are. When a version must
be raised is docs/decisions/0009.
"""

import json
from pathlib import Path

import numpy as np

import trueup as tu
from trueup.calibrator import _storage as storage
from trueup.engine import Engine, _state

FOLDER = Path(__file__).parent
PLAIN = {"steer": False}  # without steering no function of a mathematical library is used
VERSIONS = {
    "calibrator": storage.VERSION,
    "steered": storage.VERSION,
    "panel": storage.VERSION,
    "engine": _state.VERSION,
}


def numbers(seed, rounds):
    """Return numbers without structure in [0, 1), the same on every machine."""
    return np.random.PCG64(seed).random_raw(rounds) / 2.0**64


def calibrator(settings):
    """Return a calibrator with several levels, groups, and forecasts open, given up and skipped."""
    made = tu.Calibrator(tu.Interval(0.2), max_open=3, overrule=None, window=16, **settings)
    draws = zip(numbers(1, 60).tolist(), numbers(2, 60).tolist(), strict=True)
    for t, (own, outcome) in enumerate(draws):
        groups = ("north", 7) if t % 5 == 0 else ()
        forecast = made.predict(own if t % 4 else None, groups=groups)
        if t % 7:
            made.update(outcome if t % 11 else None, forecast=forecast)
    return made


def panel():
    """Return a panel of a few series, one of them with a forecast open."""
    made = tu.Panel(tu.Interval(0.8), workers=1, **PLAIN)
    made.run(["a", "b", "c"] * 20, numbers(3, 60))
    made.predict(["a", 7])
    return made


def engine():
    """Return an engine with a forecast open."""
    made = Engine(seed=5)
    made.play(numbers(4, 100), tu.Median())
    made.open()
    return made


MAKERS = {
    "calibrator": lambda: calibrator(PLAIN),
    "steered": lambda: calibrator({}),
    "panel": panel,
    "engine": engine,
}
READERS = {
    "calibrator": tu.Calibrator.from_bytes,
    "steered": tu.Calibrator.from_bytes,
    "panel": tu.Panel.from_bytes,
    "engine": Engine.from_bytes,
}


def told(kind, made):
    """Return what an example says when it goes on, as texts."""
    said = []
    if kind == "engine":
        made.update(tu.Median().loss(0.25), 100)
        said += made.play(numbers(5, 40), tu.Median()).forecasts.tolist()
        said.append(made.certificate())
    elif kind == "panel":
        made.update(["a", 7], [0.5, 0.25])
        said += made.run(["a", "b", 7, "d"] * 10, numbers(5, 40)).values.ravel().tolist()
    else:
        for number in made.open:
            made.update(0.75, forecast=number)
        for t, outcome in enumerate(numbers(5, 40).tolist()):
            forecast = made.predict(outcome / 2 if t % 3 else None, groups=("north", "new"))
            said += [*forecast.value, *forecast.label]
            made.update(outcome)
        said += [made.certificate(), made.certificate("north")]
    return [float(value).hex() for value in said]


def main():
    """Write the examples of the versions that are written now."""
    for kind, make in MAKERS.items():
        data = make().to_bytes()
        path = FOLDER / f"{kind}-{VERSIONS[kind]}.bin"
        path.write_bytes(data)
        text = json.dumps(told(kind, READERS[kind](data)), indent=0)
        path.with_suffix(".json").write_text(text + "\n")
        print(f"{path.name:20} {len(data):7,} bytes")


if __name__ == "__main__":
    main()
