"""Files: the page, and single figures as pictures. Each is written whole or not at all."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from trueup import _validation as check
from trueup.calibrator import CalibratedRun, Calibrator
from trueup.errors import InvalidArgument
from trueup.report._altair import WIDTH, load, load_converter
from trueup.report._digest import Digest
from trueup.report._page import html_of
from trueup.report._summary import Summary

PICTURES = (".png", ".svg")


def digest_of(run: CalibratedRun, *, groups: Any = None, times: Any = None) -> Digest:
    """Return the digest of a run of whole arrays.

    >>> from trueup import Median, calibrate
    >>> digest_of(calibrate([3.0, 4.0, 5.0] * 20, Median())).rounds
    60
    """
    check.instance("run", run, CalibratedRun, "a CalibratedRun, as of trueup.calibrate")
    digest = Digest(run.calibrator.wanted)
    even = run.weights is None  # swap regret counts rounds alike; a certificate, by their weights
    digest.add(
        run.outcomes,
        run.values,
        run.raw,
        run.labels if even else None,
        run.scales if even else None,
        run.overruled,
        groups,
        times,
    )
    return digest


def page(
    run: CalibratedRun,
    path: Any,
    *,
    groups: Any = None,
    times: Any = None,
    audit: Any = None,
    title: str = "Calibration report",
    command: str | None = None,
) -> Path:
    """Write the page of a run of whole arrays; return where it is.

    Parameters are those of `Digest.add` and `write`.
    """
    digest = digest_of(run, groups=groups, times=times)
    return write(path, digest, calibrator=run.calibrator, audit=audit, title=title, command=command)


def write(
    path: Any,
    digest: Digest | Summary,
    *,
    calibrator: Calibrator | None = None,
    audit: Any = None,
    title: str = "Calibration report",
    command: str | None = None,
    settings: dict[str, Any] | None = None,
) -> Path:
    """Write a page: one HTML file that needs nothing else; return where it is.

    Needs the extra `report`.

    Parameters
    ----------
    path : path or text
        A file that is there is replaced, all at once.
    digest : Digest or Summary
    calibrator : Calibrator, optional
        The one that made the forecasts, after the run: its certificate, its bound, the wealth
        against its bins, and its settings are shown too.
    audit : Audit, optional
        Of the user's own model: evidence as rounds went by.
    title : str
    command : str, optional
        What to type to get this page again.
    settings : dict, optional
        Shown with what reproduces the page; those of the calibrator by default.
    """
    for name, text in (("title", title), ("command", command)):
        if not isinstance(text, str) and (text is not None or name == "title"):
            raise check.refuse(name, "text", text)
    check.instance("digest", digest, Digest | Summary, "a Digest or its summary")
    summary = digest.summary(calibrator) if isinstance(digest, Digest) else digest
    if settings is None and calibrator is not None:
        settings = calibrator.settings()
    text = html_of(summary, settings=settings, audit=audit, title=title, command=command)
    return _put(Path(path), text.encode())


def save(figure: Any, path: Any, *, width: int = WIDTH, scale: float = 2.0) -> Path:
    """Write a figure of `charts` to a PNG or SVG file, by its ending; return where it is.

    Parameters
    ----------
    figure : chart
    path : path or text
    width : int
        In pixels of an SVG file.
    scale : float
        Pixels of a PNG file for each of them.
    """
    target = Path(path)
    if target.suffix.lower() not in PICTURES:
        raise check.refuse("path", "a name that ends in .png or .svg", str(path))
    check.integer("width", width, at_least=50)
    converter, alt = load_converter(), load()
    check.instance("figure", figure, alt.TopLevelMixin, "a figure of trueup.report.charts")
    spec = figure.properties(width=width, background="white").to_dict()
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    if target.suffix.lower() == ".svg":
        return _put(target, converter.vegalite_to_svg(spec, vl_version=version).encode())
    made = converter.vegalite_to_png(spec, vl_version=version, scale=check.positive("scale", scale))
    return _put(target, made)


def _put(path: Path, data: bytes) -> Path:
    """Write a file beside its place, then move it there."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise InvalidArgument(f"path must be a place to write to, got {path}: {error}.") from error
    return path
