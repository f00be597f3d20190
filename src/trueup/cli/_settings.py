"""Settings from trueup.toml or the table [tool.trueup] of pyproject.toml, beside the data.

What stands at the top is for every command that has the option; a table with the name of a command
is for it alone.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trueup.cli._errors import CommandError, nearest


def settings_of(commands: Sequence[str], folder: str = ".") -> dict[str, Any]:
    """Return the settings of each command, as click wants its defaults."""
    path, found = _read(Path(folder))
    shared = {name: value for name, value in found.items() if not isinstance(value, dict)}
    for name, value in found.items():
        if isinstance(value, dict) and name not in commands:
            guess = nearest(name, commands) or "."
            raise CommandError(f"{path} has settings for {name!r}, which is no command{guess}")
    return {
        command: {_option(k): v for k, v in (shared | found.get(command, {})).items()}
        for command in commands
    }


def refuse_unknown(settings: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuse a setting that no command has an option for."""
    options = {name.rstrip("_"): name for name in known}
    for name in settings:
        if name not in options and name not in options.values():
            guess = nearest(name, options) or "."
            raise CommandError(f"There is no setting {name!r}{guess}")


def _option(name: str) -> str:
    """Return the name that click has for an option."""
    return name.replace("-", "_")


def _read(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the first file that has settings, and these."""
    for path in (folder / "trueup.toml", folder / "pyproject.toml"):
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            if path.name == "pyproject.toml":
                continue  # somebody else's file
            raise CommandError(f"{path} cannot be read: {error}.") from None
        if path.name == "trueup.toml":
            return path, content
        table = content.get("tool", {}).get("trueup")
        if isinstance(table, dict):
            return path, table
    return folder, {}
