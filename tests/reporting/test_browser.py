"""The page in a real browser: every figure drawn, nothing on the console, at three sizes."""

import re
import shutil
import subprocess

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
  const wide = document.documentElement.scrollWidth - innerWidth;
  const charts = [...document.querySelectorAll(".chart")];
  const cut = charts.filter((c) => {
    const svg = c.querySelector("svg").getBoundingClientRect();
    return svg.right > c.getBoundingClientRect().right + 1;
  });
  const style = getComputedStyle(document.querySelector(".chart svg text"));
  document.body.setAttribute("data-inner", innerWidth);
  document.body.setAttribute("data-wide", wide);
  document.body.setAttribute("data-cut", cut.map((c) => c.id).join(" "));
  document.body.setAttribute("data-ink", style.fill);
  document.body.setAttribute("data-paper", getComputedStyle(document.body).backgroundColor);
}, 6000));
</script>
"""


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
    """Return the page after its scripts have run, and what the browser wrote on its console."""
    answer = subprocess.run(
        [
            BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", f"--user-data-dir={profile}", f"--window-size={width},900",
            "--virtual-time-budget=15000", "--enable-logging=stderr", *flags, "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return answer.stdout, re.findall(r".*CONSOLE.*", answer.stderr)


def luminance(colour):
    """Return how bright an rgb(...) colour is."""
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 765


@pytest.mark.parametrize(("width", "flags"), [(360, ()), (900, (DARK,)), (1600, ())], ids=str)
def test_every_figure_is_drawn_at_every_size(path, tmp_path, width, flags):
    """Nothing on the console, nothing cut off, no scrolling sideways, readable colours."""
    text, console = opened(path, tmp_path, width, *flags)
    told = dict(re.findall(r'data-(inner|wide|cut|ink|paper|drawn)="([^"]*)"', text))

    assert console == []
    assert told["drawn"] == str(FIGURES)
    assert len(re.findall(r"<svg[^>]*marks", text)) == FIGURES
    assert int(told["inner"]) == width
    assert int(told["wide"]) <= 0
    assert told["cut"] == ""
    assert abs(luminance(told["ink"]) - luminance(told["paper"])) > 0.4
    assert (luminance(told["paper"]) < 0.3) == bool(flags)
    assert "<title>owned</title>" not in text


def test_a_figure_that_cannot_be_drawn_is_seen_on_the_console(path, tmp_path):
    """So an empty console means something."""
    broken = tmp_path / "broken.html"
    broken.write_text(path.read_text().replace('"said:Q"', '"x"').replace('"mark":', '"mork":', 1))
    text, console = opened(broken, tmp_path / "profile", 900)

    assert console != [] or 'data-drawn="7"' not in text
