"""Command and reply of measuring precision: three answers for one content, each compared with float64.

All three are the judge's: the candidate's bytes, and two answers that it computes itself.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.protocol.messages import (
    MOST_RETURNED,
    CaseCommand,
    Count,
    Message,
    Reply,
    Returned,
    Word,
)


class MeasurePrecision(CaseCommand, tag="measure_precision", frozen=True):
    """Judge: measure the error of this call's outputs, and of two other answers on the same content."""

    outputs: str
    max_output_bytes: Count
    returned: Returned


class OutputPrecision(Message, frozen=True):
    """Errors of one output against float64: root mean square, as a share of that of the output.

    `got` is the candidate's; `honest` the larger one of torch's in the dtype of the inputs and, in float32, of sums
    that are added up one after another; `lowered` that of an answer in which every step is rounded to `precision`, the
    next one down.  All are None if the output is not of a float type, is not finite, or has only zeros.
    """

    name: Word
    precision: Word = ""
    got: float | None = None
    honest: float | None = None
    lowered: float | None = None


class PrecisionMeasured(Reply, tag="precision_measured", frozen=True):
    """One entry for each output of the case."""

    outputs: Annotated[tuple[OutputPrecision, ...], msgspec.Meta(max_length=MOST_RETURNED)]
