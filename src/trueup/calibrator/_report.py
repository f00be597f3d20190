"""How a calibrator has done so far, in the user's units."""

from typing import Any

import numpy as np

from trueup._kernels import _engine as kernels
from trueup._kernels import _order as ORDER  # noqa: N812 - a table of slots
from trueup.calibrator._issued import Bins, Evidence, Report
from trueup.calibrator._stream import Stream
from trueup.calibrator._targets import Interval
from trueup.engine._state import pairs_of
from trueup.protocols import FloatArray

NOTHING = float("nan")
SHOWN = 3  # bins that a report names
WHERE = ("higher", "lower", "lower", "higher")  # outcomes lie, by the claims +2, -2, +1, -1


def report_of(calibrator: Any) -> Report:
    """Return how it has gone so far."""
    first, infos = calibrator._streams[0], [s.engine.info() for s in calibrator._streams]
    z, (low, width) = first.z, first.range
    below, score, raw, compared, certificate = zip(
        *map(_scores, calibrator._streams, calibrator._order.counts), strict=True
    )
    return Report(
        rounds=calibrator._issued,
        scored=int(z[kernels.N_SCORED]),
        open=len(calibrator._open),
        missing=int(z[kernels.N_MISSING]),
        expired=calibrator._given_up,
        unguarded=int(z[kernels.UNGUARDED]),
        clipped=int(z[kernels.CLIPPED]),
        doubled=int(z[kernels.DOUBLED]),
        low=low,
        high=low + width,
        since=int(first.engine.state.i[kernels.SINCE]) + int(z[kernels.UNGUARDED]),
        followed=sum(info.followed for info in infos),
        overruled=sum(info.overruled for info in infos),
        overruled_last=tuple(calibrator._overruled),
        evidence=evidence_of(calibrator, SHOWN),
        crossed=calibrator._order.crossed,
        coverage=_coverage(calibrator),
        below=below,
        score=score,
        raw_score=raw,
        compared_score=compared,
        certificate=certificate,
        nbytes=calibrator._order.z.nbytes
        + sum(i.nbytes + s.z.nbytes for i, s in zip(infos, calibrator._streams, strict=True)),
    )


def _scores(stream: Stream, moved: FloatArray) -> tuple[float, float, float, float, float]:
    z = stream.z
    scored, raw = max(z[kernels.N_SCORED], 1.0), z[kernels.N_RAW]
    return (
        float((z[kernels.N_BELOW] + moved[2]) / scored),
        float((z[kernels.SAID_COST] + moved[1]) / scored),
        float(z[kernels.RAW_COST] / raw) if raw else NOTHING,
        float((z[kernels.LABEL_COST] + moved[3]) / raw) if raw else NOTHING,
        float((unit_of(stream) * stream.engine.certificate() + moved[0]) / scored),
    )


def _coverage(calibrator: Any) -> tuple[float, ...]:
    """Return the share of outcomes inside an interval, or at or below each number."""
    wanted, streams = calibrator.wanted, calibrator._streams
    scored = max(streams[0].z[kernels.N_SCORED], 1.0)
    moved = calibrator._order.counts
    below, equal = (
        np.array([s.z[slot] for s in streams]) + moved[:, count]
        for slot, count in ((kernels.N_BELOW, ORDER.BELOW), (kernels.N_EQUAL, ORDER.EQUAL))
    )
    up_to = (below + equal) / scored
    if not isinstance(wanted, Interval):
        return tuple(up_to.tolist())
    if wanted.side == "upper":
        return (float(up_to[0]),)
    upper = streams[0].z[kernels.N_SCORED] / scored if wanted.side == "lower" else up_to[1]
    return (float(upper - below[0] / scored),)


def evidence_of(calibrator: Any, most: int) -> tuple[Evidence, ...]:
    """Return the bins against which evidence is strongest, the strongest first."""
    found = []
    for number, stream in enumerate(calibrator._streams):
        engine, (low, width) = stream.engine, stream.range
        i = engine.state.i
        count, at = int(i[kernels.ROWS]), int(i[kernels.AT_ROWS])
        keys = np.abs(i[at : at + kernels.WHOLE_ROW * count : kernels.WHOLE_ROW])
        rows = np.flatnonzero(pairs_of(keys)[0] == 0)
        bins, scales, certificates = engine.certificates()
        played = engine.visited()[2][:, 0]
        money = np.array([0.25 * kernels.handed_out(row) for row in rows.tolist()])
        grown = engine.wealth() / money.reshape(-1, 1)
        best = grown.max(axis=1, initial=0.0)
        for k in np.argsort(-best, kind="stable")[:most].tolist():
            if played[k] > 0:
                place = calibrator._shown(low + width * float(bins[k]))
                claim, unit = int(grown[k].argmax()), unit_of(stream) * calibrator.max_weight
                found.append(
                    Evidence(
                        number, place, width * float(scales[k]), int(played[k]), float(best[k]),
                        WHERE[claim], unit * float(certificates[k]),
                    )
                )  # fmt: skip
    return tuple(sorted(found, key=lambda one: -one.grown)[:most])


def bins_of(calibrator: Any) -> tuple[Bins, ...]:
    """Return the bins of each number, with what is known of them."""
    return tuple(_bins(calibrator, stream) for stream in calibrator._streams)


def _bins(calibrator: Any, stream: Stream) -> Bins:
    labels, scales, sums = stream.engine.visited()
    low, width = stream.range
    labels = low + width * labels
    if calibrator._transform is not None:
        labels = calibrator._transform.back_all(labels)
    return Bins(
        labels,
        width * scales,
        sums[:, 0],
        stream.engine.wealth(),
        unit_of(stream) * calibrator.max_weight * stream.engine.certificates()[2],
    )


def unit_of(stream: Stream) -> float:
    """Return the loss in the user's units of one unit of normalised loss."""
    width = stream.range[1] if stream.ranged else 0.0
    power = 2 if stream.template.kind == kernels.SQUARED else 1
    return float(stream.template.steepest * width**power)
