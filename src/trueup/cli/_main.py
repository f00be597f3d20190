"""The program: its commands, settings from files, and what ends in which exit code."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from trueup import __version__
from trueup.cli._errors import BAD_INPUT, CRASHED, INTERRUPTED, nearest
from trueup.cli._settings import refuse_unknown, settings_of
from trueup.cli._signals import Stops
from trueup.errors import TrueupError

COMMANDS = ("demo", "calibrate", "audit", "compare", "watch")
HELP = """Calibrate forecasts against whatever comes, from the command line.

Each command has examples under --help. Options can be set in the environment (TRUEUP_SEED=3) and in
trueup.toml or the table [tool.trueup] of pyproject.toml; the command line goes before both.

\b
trueup demo
trueup calibrate data.csv --outcome y --forecast yhat --quantile 0.9 -o out.csv
"""


class Program(click.Group):
    """The commands, each loaded from its own file when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"trueup.cli._{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find a command; an unknown one suggests the nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            guess = nearest(args[0], COMMANDS) or f"; there are {', '.join(COMMANDS)}."
            raise click.UsageError(f"There is no command {args[0]!r}{guess}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Program,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="trueup")
@click.pass_context
def program(ctx: click.Context) -> None:
    """Read the settings before any command."""
    ctx.default_map = settings_of(COMMANDS)
    loaded = [importlib.import_module(f"trueup.cli._{name}").command for name in COMMANDS]
    known = {str(parameter.name) for command in loaded for parameter in command.params}
    for settings in ctx.default_map.values():
        refuse_unknown(settings, known)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code; whatever is wrong is said on standard error."""
    with Stops():
        try:
            status = program.main(
                None if arguments is None else list(arguments),
                prog_name="trueup",
                standalone_mode=False,
            )
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except TrueupError as error:
            click.echo(f"Error: {error}", err=True)
            return BAD_INPUT
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            return INTERRUPTED
        except BrokenPipeError:  # nobody listens any more
            _silence()
            return CRASHED
        except OSError as error:  # a full disk, say
            name = "" if error.filename is None else f"{error.filename}: "
            click.echo(f"Error: {name}{error.strerror or error}.", err=True)
            return CRASHED
    return status if isinstance(status, int) else 0


def _silence() -> None:
    """Let nothing complain about a closed pipe at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
