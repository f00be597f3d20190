"""The report page of a run, fed block by block."""

import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np

from trueup.calibrator import Calibrator
from trueup.calibrator._targets import Target
from trueup.cli._bettor import bettor_of
from trueup.cli._errors import CommandError, extra
from trueup.cli._feed import Feed
from trueup.cli._options import Roles
from trueup.cli._session import Answers, Session
from trueup.report import Digest, write


class Page:
    """Collects what a page shows and writes it at the end."""

    def __init__(
        self, path: str, wanted: Target, settings: dict[str, Any], roles: Roles, *, force: bool
    ) -> None:
        for module in ("altair", "vl_convert"):  # now rather than after hours
            extra(module, "report", "A report page")
        if Path(path).exists() and not force:
            raise CommandError(f"{path} exists already; give --force to overwrite it.")
        if not Path(path).absolute().parent.is_dir():
            raise CommandError(f"{path} cannot be written: there is no such folder.")
        self.path, self._digest = path, Digest(wanted)
        self._bettor = bettor_of(wanted, settings, roles)

    def add(self, feed: Feed, answers: Answers, session: Session) -> None:
        """Add the rows of a block."""
        if self._bettor is not None:
            self._bettor.add(feed)
        groups = feed.groups if feed.keys is None else feed.keys
        several = answers.values.shape[1] > 1
        blocks = (answers.values, answers.labels, answers.scales)
        values, labels, scales = (block if several else block[:, 0] for block in blocks)
        own = None if np.isnan(feed.own).all() else feed.own
        certificate = session.certificate
        self._digest.add(
            feed.outcomes, values, own, labels, scales, answers.overruled, groups,
            feed.moments(), certificate,
        )  # fmt: skip

    def write(self, session: Session, title: str) -> None:
        """Write the page: what was there before is there until all of it is."""
        model = session.model if isinstance(session.model, Calibrator) else None
        command = shlex.join(["trueup", *sys.argv[1:]])
        audit = None if self._bettor is None else self._bettor.result()
        write(self.path, self._digest, calibrator=model, audit=audit, title=title, command=command)
