"""Options that commands share, and what they mean."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from trueup.cli._errors import CommandError
from trueup.cli._read import FORMATS

if TYPE_CHECKING:
    from trueup.calibrator._targets import Target

Function = TypeVar("Function", bound=Callable[..., Any])
WANTED = ("quantile", "mean", "median", "expectile", "interval", "quantiles", "probability")
SETTINGS = ("bounds", "exact", "seed", "transform", "of", "steer")
RANKS = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)


class Roles(NamedTuple):
    """Which columns of a table are what."""

    outcome: str
    forecast: str | None = None
    groups: tuple[str, ...] = ()
    key: str | None = None
    known_at: str | None = None
    time: str | None = None


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers apart by commas, or a list of a settings file."""

    name = "NUMBERS"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Return the numbers."""
        parts = value.split(",") if isinstance(value, str) else value
        try:
            return tuple(float(part) for part in parts)
        except (TypeError, ValueError):
            self.fail(f"{value!r} must be numbers apart by commas, as 0.1,0.5,0.9.", param, ctx)


def option(*names: str, **attributes: Any) -> Callable[[Function], Function]:
    """Return an option that the environment can set as well, as TRUEUP_NAME."""
    long = next(name for name in names if name.startswith("--"))
    variable = long[2:].split("/")[0].upper().replace("-", "_")
    return click.option(*names, envvar=f"TRUEUP_{variable}", **attributes)


def all_of(*options: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return one decorator for several options, in their order."""

    def decorate(function: Function) -> Function:
        for one in reversed(options):
            function = one(function)
        return function

    return decorate


file_argument = click.argument("file", type=click.Path(allow_dash=True))

input_options = all_of(
    option("--format", "format_", type=click.Choice(FORMATS), help="Where the name says nothing."),
    option("--delimiter", metavar="CHAR", help="What is between cells, where not a comma or tab."),
    option("--outcome", required=True, metavar="COLUMN", help="What came."),
)

time_options = all_of(
    option("--group", "groups", multiple=True, metavar="COLUMN", help="Calibrate within each of its values too; repeatable."),  # noqa: E501
    option("--known-at", metavar="COLUMN", help="When the outcome became known: a later row's number (from 1), or a time if --time is given."),  # noqa: E501
    option("--time", metavar="COLUMN", help="When the forecast was made; rows must be in its order."),  # noqa: E501
)  # fmt: skip

wanted_options = all_of(
    option("--quantile", type=float, metavar="LEVEL", help="What this share of outcomes stays at or below, as 0.9."),  # noqa: E501
    option("--mean", is_flag=True, help="The mean."),
    option("--median", is_flag=True, help="The median."),
    option("--expectile", type=float, metavar="LEVEL", help="The expectile of a level."),
    option("--interval", type=float, metavar="COVERAGE", help="Lower and upper end, as 0.9."),
    option("--quantiles", type=Numbers(), metavar="LEVELS", help="Several that never cross, as 0.1,0.5,0.9."),  # noqa: E501
    option("--probability", is_flag=True, help="The chance that the outcome is 1; outcomes are 0 or 1."),  # noqa: E501
)  # fmt: skip

setting_options = all_of(
    option("--bounds", type=float, nargs=2, metavar="LOW HIGH", help="Where outcomes lie; learnt if not given."),  # noqa: E501
    option("--exact", is_flag=True, help="Say values of a grid, with a guarantee for each."),
    option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draws."),  # noqa: E501
    option("--transform", type=click.Choice(["log", "log1p", "asinh"]), help="Forecast on this scale (quantiles of heavy tails)."),  # noqa: E501
    option("--of", metavar="WHAT", help="What the forecasts are of, if of something else: mean, median or quantile:0.5."),  # noqa: E501
    option("--steer/--no-steer", default=True, help="Move forecasts by their past errors (the default), or only where they are refuted."),  # noqa: E501
)  # fmt: skip


def wanted_of(given: dict[str, Any]) -> "Target":
    """Return what is to be forecast; exactly one option may say so.

    What the command line says goes before the environment, and that before a settings file.
    """
    context = click.get_current_context()
    names = [name for name in WANTED if given[name] not in (None, False)]
    ranked = {name: RANKS.index(_source(context, name)) for name in names}
    first = [name for name in names if ranked[name] == min(ranked.values())]
    if len(first) != 1:
        listed = ", ".join(f"--{name}" for name in first or WANTED)
        raise CommandError(f"Say what to forecast by exactly one of {listed}.")
    return target(first[0], given[first[0]])


def target(name: str, value: Any) -> "Target":
    """Return what an option asks for.

    >>> target("quantile", 0.9)
    Quantile(level=0.9)
    """
    import trueup as tu  # brings NumPy

    plain = {"mean": tu.Mean, "median": tu.Median, "probability": tu.Probability}
    if name in plain:
        return plain[name]()  # type: ignore[no-any-return]
    levelled = {
        "quantile": tu.Quantile,
        "expectile": tu.Expectile,
        "interval": tu.Interval,
        "quantiles": tu.Quantiles,
    }
    return levelled[name](value)  # type: ignore[no-any-return]


def settings_of_calibrator(given: dict[str, Any]) -> dict[str, Any]:
    """Return what a calibrator is made with."""
    settings = {name: given[name] for name in SETTINGS}
    settings["of"] = None if given["of"] is None else _property(given["of"])
    return settings


def _property(text: str) -> Any:
    """Return the property that `--of` names."""
    name, _, level = text.partition(":")
    try:
        if name in ("mean", "median") and not level:
            return target(name, None)
        if name in ("quantile", "expectile"):
            return target(name, float(level))
    except ValueError:
        pass
    raise CommandError(f"--of must be mean, median, quantile:LEVEL or expectile:LEVEL, got {text}.")


def _source(context: click.Context, name: str) -> ParameterSource:
    source = context.get_parameter_source(name)
    return source if source in RANKS else ParameterSource.DEFAULT_MAP


def roles_of(given: dict[str, Any], forecast: str | None) -> Roles:
    """Return which columns are what."""
    return Roles(
        given["outcome"],
        forecast,
        tuple(given.get("groups") or ()),
        given.get("key"),
        given.get("known_at"),
        given.get("time"),
    )


def used_columns(roles: Roles) -> Sequence[str]:
    """Return all columns that must be there."""
    one = (roles.outcome, roles.forecast, roles.key, roles.known_at, roles.time)
    return [name for name in one if name is not None] + list(roles.groups)
