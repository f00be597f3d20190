"""Any order of calls at all, against a plain model and against a twin that lives in bytes."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import trueup as tu
from calibrator.model import Model
from trueup.calibrator import Calibrator
from trueup.errors import InvalidArgument, UnknownForecast

NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -3.5, 1e-9, 1e6]), st.floats(-100, 100, allow_subnormal=False)
)
NAMES = st.lists(st.sampled_from(["a", "b", 3, 4]), max_size=3)
WANTED = [
    tu.Median(),
    tu.Quantile(0.9),
    tu.Mean(),
    tu.Quantiles([0.45, 0.5, 0.55]),
    tu.Interval(0.5),
]


def in_order(value):
    """Return whether numbers of several levels do not cross."""
    numbers = getattr(value, "values", value)
    return not isinstance(numbers, tuple) or list(numbers) == sorted(numbers)


class Calls(RuleBasedStateMachine):
    """A calibrator, a twin that is saved and loaded all the time, and a model of both."""

    @initialize(
        wanted=st.sampled_from(WANTED),
        max_open=st.sampled_from([None, 1, 3]),
        exact=st.booleans(),
        steer=st.booleans(),
        overrule=st.sampled_from([0.05, None]),
    )
    def make(self, wanted, max_open, exact, steer, overrule):
        given = {"max_open": max_open, "exact": exact, "steer": steer, "max_groups": 3}
        given["overrule"] = overrule
        self.real = tu.Calibrator(wanted, window=8, **given)
        self.twin = self.real.clone()
        self.model = Model(max_open, 3)

    @rule(raw=st.none() | NUMBERS, groups=NAMES)
    def predict(self, raw, groups):
        number = self.model.predict(groups)
        if number is None:
            self.refused(InvalidArgument, "max_groups=3", "predict", raw, groups=groups)
            return
        seen = self.real.peek(raw, groups=groups)
        forecast = self.real.predict(raw, groups=groups)
        assert forecast == seen == self.twin.predict(raw, groups=groups)
        assert forecast.id == number
        assert in_order(forecast.value)
        assert forecast.guarded == self.model.guarded
        assert forecast.raw == raw

    @rule(raw=st.none() | NUMBERS, groups=NAMES)
    def peek(self, raw, groups):
        before = self.real.to_bytes()
        known = set(self.model.groups) | set(groups)
        if len(known) > 3:
            self.refused(InvalidArgument, "max_groups=3", "peek", raw, groups=groups)
            return
        assert self.real.peek(raw, groups=groups) == self.twin.peek(raw, groups=groups)
        assert self.real.to_bytes() == before

    @rule(
        outcome=st.none() | st.just(float("nan")) | NUMBERS,
        which=st.none() | st.integers(-1, 40),
    )
    def update(self, outcome, which):
        reason = self.model.refusal(which)
        if reason is not None:
            self.refused(UnknownForecast, reason, "update", outcome, forecast=which)
            return
        self.model.close(which, outcome)
        self.real.update(outcome, forecast=which)
        self.twin.update(outcome, forecast=which)

    @rule(outcome=NUMBERS, place=st.integers(0, 10))
    def answer(self, outcome, place):
        if self.model.open:
            self.update(outcome, self.model.open[place % len(self.model.open)])

    @rule(which=st.none() | st.integers(-1, 40))
    def skip(self, which):
        reason = self.model.refusal(which)
        if reason is not None:
            self.refused(UnknownForecast, reason, "skip", which)
            return
        self.model.close(which, None)
        self.real.skip(which)
        self.twin.skip(which)

    @rule(wrong=st.sampled_from(["text", True, float("inf"), [1.0]]))
    def wrong(self, wrong):
        names = ["new"] if len(self.model.groups) < 3 else []
        self.refused(InvalidArgument, "forecast must be", "predict", wrong, groups=names)
        if self.model.open:
            which = self.model.open[-1]
            self.refused(InvalidArgument, "outcome must be", "update", wrong, forecast=which)

    @rule()
    def reset(self):
        self.model.reset()
        self.real.reset()
        self.twin.reset()
        assert self.real.certificate() == 0
        assert self.real.evidence() == ()

    @rule(weight=st.sampled_from([0.25, 1.0]), outcome=NUMBERS)
    def weigh(self, weight, outcome):
        if len(self.model.open) == 1:
            self.model.close(None, outcome)
            self.real.update(outcome, weight=weight)
            self.twin.update(outcome, weight=weight)

    @rule()
    def save_and_load(self):
        data = self.twin.to_bytes()
        self.twin = Calibrator.from_bytes(data)
        assert self.twin.to_bytes() == data

    def refused(self, kind, sentence, way, *arguments, **options):
        """Both refuse, and neither changes."""
        for each in (self.real, self.twin):
            before = each.to_bytes()
            with pytest.raises(kind, match=sentence):
                getattr(each, way)(*arguments, **options)
            assert each.to_bytes() == before

    @invariant()
    def counts_agree(self):
        if not hasattr(self, "real"):
            return
        for each in (self.real, self.twin):
            report = each.report()
            counts = report.rounds, report.scored, report.missing, report.unguarded, report.expired
            model = self.model
            assert counts == (
                model.issued,
                model.scored,
                model.missing,
                model.unguarded,
                len(model.expired),
            )
            assert list(each.open) == model.open
            if model.outcomes:
                assert report.low <= min(model.outcomes)
                assert max(model.outcomes) <= report.high
            assert list(each.group_report()) == list(model.groups)
            if not isinstance(each.wanted, tu.Mean):  # whose evidence starts again
                settled = {name: count for name, (count, _) in each.group_report().items()}
                assert settled == model.groups
            assert each.certificate() >= 0
        assert self.real.certificate() == self.twin.certificate()


TestCalls = Calls.TestCase
TestCalls.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, derandomize=True
)
