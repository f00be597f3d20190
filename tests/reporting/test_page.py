"""The page: small, whole, the same each time, asking for nothing, closed to hostile words."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import trueup as tu
from reporting.support import HOSTILE, run_of, stream
from reporting.test_charts import FakeAudit
from trueup.errors import InvalidArgument
from trueup.report import Digest, digest_of, page, write
from trueup.report._verdict import AGAINST, CLEAR, MIXED, verdict_of

SECTIONS = ["verdict", "time", "reliability", "periods", "regret", "bins", "groups", "scores"]
RUN = run_of(rounds=2_000)
NAMES = [HOSTILE[t % 5] for t in range(2_000)]


class Outline(HTMLParser):
    """Sections in order, elements that fetch something, and handlers of events."""

    def __init__(self, text):
        super().__init__()
        self.sections, self.fetched, self.handlers = [], [], []
        self.scripts = self.pictures = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if tag == "section":
            self.sections.append(named.get("id"))
        self.scripts += tag == "script"
        self.pictures += tag == "img"
        self.fetched += [named[key] for key in ("src", "href", "action", "data") if key in named]
        self.handlers += [key for key in named if key.startswith("on")]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The page of a run whose every word is hostile."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    page(RUN, path, groups=NAMES, audit=FakeAudit(), title=HOSTILE[0], command="\n".join(HOSTILE))
    return path.read_text()


def test_a_page_has_all_its_sections_in_order(text):
    """The verdict first; evidence where there is an audit; how to reproduce last."""
    order = [*SECTIONS[:4], "evidence", *SECTIONS[4:], "reproduce"]

    assert Outline(text).sections == order


def test_a_page_fetches_nothing_and_sends_nothing(text):
    """No element has an address, and the policy forbids what scripts might try."""
    outline = Outline(text)

    assert outline.fetched == []
    assert "default-src 'none'" in text
    assert "connect-src" not in text.split("</head>")[0]  # so that of default-src holds
    assert not re.search(r"@import|url\(", text.split("</head>")[0])


def test_hostile_words_stay_words(text):
    """No element, script or handler is made of them, and no JSON ends early."""
    outline = Outline(text)
    figures = re.search(r'<script type="application/json" id="figures">(.*?)</script>', text)[1]

    assert outline.scripts == 3
    assert outline.handlers == []
    assert set("<>&") & set(figures) == set()
    assert len(json.loads(figures)) == 7
    assert outline.pictures == 0
    assert "<script>document" not in text
    assert "\x00" not in text


def test_escaping_is_what_keeps_them_words(monkeypatch, tmp_path):
    """Without it the same page has more scripts than it should."""
    monkeypatch.setattr("trueup.report._page.escape", lambda words: words)
    path = page(RUN, tmp_path / "page.html", title=HOSTILE[0])

    assert Outline(path.read_text()).scripts > 3


def test_the_same_run_gives_the_same_bytes(tmp_path):
    """No clock, no path, no order of hashing is in it."""
    first, second = (page(RUN, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))

    assert first == second


@pytest.mark.parametrize("levels", [1, 5, 23])
def test_a_page_of_many_rounds_is_under_two_megabytes(levels, tmp_path):
    """With groups, dates and thousands of labels; more rounds make no more stretches and bins."""
    wanted = tu.Quantiles([(k + 1) / (levels + 1) for k in range(levels)])
    digest, n = Digest(wanted), 70_000 if levels < 9 else 5_000
    for start in (0, n):
        outcomes, model = stream(n, seed=start)
        said = model[:, None] + np.linspace(1, 20, levels)
        times = np.datetime64("1990-01-01") + (start + np.arange(n)) * np.timedelta64(17, "m")
        digest.add(
            outcomes, said, model, np.round(said, 2), np.ones_like(said), np.zeros(n),
            (np.arange(n) % 40).tolist(), times, float(start),
        )  # fmt: skip
    path = write(tmp_path / "page.html", digest)

    assert path.stat().st_size < 2_000_000


def test_a_page_can_be_made_of_almost_nothing(tmp_path):
    """No outcome yet, one round, constant numbers."""
    for outcomes in ([None], [2.0], [2.0] * 50):
        digest = Digest(tu.Median())
        digest.add(outcomes, [2.0] * len(outcomes))
        text = write(tmp_path / "page.html", digest).read_text()
        assert "reliability" in Outline(text).sections
    empty = write(tmp_path / "page.html", Digest(tu.Mean())).read_text()

    assert "Nothing can be said yet" in empty


def test_a_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    """And nothing else in the folder."""
    path = page(RUN, tmp_path / "page.html")
    before = path.read_bytes()

    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(InvalidArgument, match="No space left on device"):
        page(RUN, path, title="Another")
    monkeypatch.undo()

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_wrong_arguments_are_refused(tmp_path):
    """One sentence each."""
    for call, message in (
        (lambda: page("run", tmp_path / "a.html"), "run must be a CalibratedRun"),
        (lambda: write(tmp_path / "a.html", RUN), "digest must be a Digest or its summary"),
        (lambda: page(RUN, tmp_path / "a.html", title=3), "title must be text, got 3"),
        (lambda: page(RUN, tmp_path / "a.html", command=3), "command must be text, got 3"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            call()


def verdict(said, raw=None, level=0.75, rounds=4_000):
    """Return the verdict on quantiles of uniform outcomes."""
    outcomes = np.random.default_rng(9).uniform(size=rounds)
    digest = Digest(tu.Quantile(level))
    digest.add(outcomes, np.full(rounds, said), None if raw is None else np.full(rounds, raw))
    return verdict_of(digest.summary())


def test_the_verdict_says_what_was_found_and_never_more():
    """Nobody is called calibrated."""
    good, better, bad = verdict(0.75), verdict(0.75, raw=0.5), verdict(0.4)

    assert good.mood == CLEAR
    assert good.headline == "No sign against calibration in what was issued."
    assert better.mood == CLEAR
    assert "the model alone is off in 39 of 41 bins and periods" in better.headline
    assert bad.mood == AGAINST
    assert "is off in 41 of 41" in bad.headline
    assert any("75 % is right" in line for line in bad.sentences)


def test_an_improvement_is_told_apart_from_a_failure():
    """Fewer than half of the model's misses: the page is neither green nor red."""
    rng = np.random.default_rng(10)
    outcomes, said = rng.uniform(size=8_000), np.full(8_000, 0.5)
    said[:400] = 0.2  # off for a while
    digest = Digest(tu.Median())
    digest.add(outcomes, said, raw=np.full(8_000, 0.3))

    assert verdict_of(digest.summary()).mood == MIXED


def test_an_audit_is_quoted():
    """In its own words."""
    summary = digest_of(RUN).summary()

    assert f"Audit of the model: {FakeAudit.verdict}" in verdict_of(summary, FakeAudit()).sentences
