"""How a calibrator has done so far, in the user's units."""

from typing import Any

from trueup._kernels import _engine as kernels
from trueup.calibrator._issued import Bins, Report
from trueup.calibrator._stream import Stream
from trueup.protocols import FloatArray

NOTHING = float("nan")


def report_of(calibrator: Any) -> Report:
    """Return how it has gone so far."""
    first, infos = calibrator._streams[0], [s.engine.info() for s in calibrator._streams]
    z, (low, width) = first.z, first.range
    below, score, raw, compared, certificate = zip(
        *map(_scores, calibrator._streams, calibrator._sorting), strict=True
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
        below=below,
        score=score,
        raw_score=raw,
        compared_score=compared,
        certificate=certificate,
        nbytes=sum(i.nbytes + s.z.nbytes for i, s in zip(infos, calibrator._streams, strict=True)),
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
