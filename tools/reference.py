"""Write docs/reference/command-line.md from the commands themselves; a test says when it is old.

python tools/reference.py
"""

import importlib
from pathlib import Path
from typing import Any

import click

from trueup.cli._main import COMMANDS, program

TARGET = Path(__file__).resolve().parents[1] / "docs/reference/command-line.md"
OPENING = """# Commands and options

Made from `--help` by `tools/reference.py`. How they work together is told in
[the guide](../guide/command-line.md).
"""


def page() -> str:
    """Return the page."""
    parts = [OPENING, _section("trueup", program)]
    for name in COMMANDS:
        command = importlib.import_module(f"trueup.cli._{name}").command
        parts.append(_section(f"trueup {name}", command))
    return "\n".join(parts)


def _section(title: str, command: click.Command) -> str:
    """Return the usage, the words and the options of a command."""
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    pieces = ["COMMAND ..." if isinstance(command, click.Group) else "[OPTIONS]"]
    pieces += [
        f"{one.name}".upper() if one.required else f"[{one.name}]".upper() for one in arguments
    ]
    lines = [f"## {title}", "", "```", f"{title} {' '.join(pieces)}", "```", ""]
    lines += [_words(command.help or ""), ""]
    options = [one for one in command.params if isinstance(one, click.Option)]
    if options:
        lines += ["| option | |", "|---|---|", *map(_row, options), ""]
    return "\n".join(lines)


def _words(text: str) -> str:
    """Return a help text with its examples in code blocks."""
    parts = []
    for part in text.strip().split("\n\n"):
        if "\b" not in part:
            parts.append(part)
            continue
        for block in part.split("\b\n"):
            rows = block.strip("\n").split("\n")
            words = [row for row in rows if row and not row.startswith(("  ", "trueup"))]
            code = [row.removeprefix("  ") for row in rows if row and row not in words]
            parts += ["\n".join(words)] if words else []
            parts += ["\n".join(["```", *code, "```"])] if code else []
    return "\n\n".join(parts)


def _row(one: click.Option) -> str:
    """Return the line of an option."""
    names = ", ".join([*one.opts, *one.secondary_opts])
    value = "" if one.is_flag else f" {one.metavar or _kind(one.type)}"
    words = one.help or ""
    if one.required:
        words += " Required."
    if one.show_default:
        words += f" Default: {one.default}."
    return f"| `{names}{value}` | {words} |"


def _kind(kind: Any) -> str:
    if isinstance(kind, click.Choice):
        return "/".join(map(str, kind.choices))
    return "N" if kind.name.startswith("integer") else kind.name.upper()


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(page())
