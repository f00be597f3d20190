"""The page in a real browser: every figure drawn, nothing on the console, at three sizes."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from reporting.support import HOSTILE, run_of
from reporting.test_charts import FakeAudit
from trueup.report import page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FIGURES = 7
DARK = "--blink-settings=preferredColorScheme=0"
pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="there is no chromium here; on Debian: apt-get install chromium"
)
PROBE = """
<script>
addEventListener("load", () => setTimeout(() => {
  const charts = [...document.querySelectorAll(".chart")];
  const drawn = charts.filter((c) => c.querySelector("svg.marks path"));
  const side = (e) => e.getBoundingClientRect();
  const cut = charts.filter((c) => {
    const svg = c.querySelector("svg");
    const words = svg ? [...svg.querySelectorAll("text")] : [];
    return svg && (side(svg).right > side(c).right + 1
      || words.some((t) => side(t).right > side(svg).right + 1)
      || words.some((t) => side(t).left < side(svg).left - 1));
  });
  const label = document.querySelector(".chart svg text");
  parent.postMessage(JSON.stringify({
    title: document.title,
    inner: innerWidth,
    wide: document.documentElement.scrollWidth - innerWidth,
    drawn: drawn.map((c) => c.id),
    finished: document.documentElement.getAttribute("data-drawn"),
    cut: cut.map((c) => c.id),
    ink: label && getComputedStyle(label).fill,
    paper: getComputedStyle(document.body).backgroundColor,
  }), "*");
}, 6000));
</script>
"""
FRAME = """<!doctype html><body style="margin:0"><iframe src="page.html" style="border:0"
width="{width}" height="900"></iframe><pre id="told"></pre><script>
addEventListener("message", (e) => {{ document.getElementById("told").textContent = e.data; }});
</script></body>"""  # a window is at least 500 pixels wide, a frame in it as narrow as asked


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A page with every section and hostile words, and a script that looks at it."""
    run = run_of(rounds=2_000)
    names = [HOSTILE[t % 5] for t in range(2_000)]
    target = tmp_path_factory.mktemp("page") / "page.html"
    page(run, target, groups=names, audit=FakeAudit(), title=HOSTILE[1], command=HOSTILE[0])
    start, _, end = target.read_text().rpartition("</body>")
    target.write_text(f"{start}{PROBE}</body>{end}")
    return target


def opened(path, profile, width, *flags):
    """Return what a page tells of itself, and what the browser wrote on its console."""
    frame = path.with_name(f"frame{width}.html")
    frame.write_text(FRAME.format(width=width))
    answer = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", f"--user-data-dir={profile}", f"--window-size={max(width, 600)},1000",
            "--virtual-time-budget=15000", "--enable-logging=stderr", *flags, "--dump-dom",
            frame.as_uri(),
        ],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    told = re.search(r'<pre id="told">(.*?)</pre>', answer.stdout, re.DOTALL)[1]
    return json.loads(unescape(told) or "{}"), re.findall(r".*CONSOLE.*", answer.stderr)


def luminance(colour):
    """Return how bright an rgb(...) colour is."""
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 765


@pytest.mark.parametrize(("width", "flags"), [(360, ()), (900, (DARK,)), (1600, ())], ids=str)
def test_every_figure_is_drawn_at_every_size(path, tmp_path, width, flags):
    """Nothing on the console, nothing cut off, no scrolling sideways, readable colours."""
    told, console = opened(path, tmp_path, width, *flags)

    assert console == []
    assert told["finished"] == str(FIGURES)
    assert len(told["drawn"]) == FIGURES
    assert told["inner"] == width
    assert told["wide"] <= 0
    assert told["cut"] == []
    assert abs(luminance(told["ink"]) - luminance(told["paper"])) > 0.4
    assert (luminance(told["paper"]) < 0.3) == bool(flags)
    assert told["title"] == HOSTILE[1]


def test_a_figure_that_cannot_be_drawn_is_seen(path, tmp_path):
    """On the console and in the count, so that both mean something."""
    broken = tmp_path / "page.html"
    broken.write_text(path.read_text().replace('"mark":', '"mork":', 1))
    told, console = opened(broken, tmp_path / "profile", 900)

    assert console != []
    assert len(told["drawn"]) == FIGURES - 1
