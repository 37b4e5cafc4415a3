"""The user's choices for the problems of a suite, and their names in a harness."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path

import msgspec

from engine.errors import EngineError
from engine.model import DType
from problems.suites.task import Size

PRECISION, PACKED, STAGES = "precision", "packed", "stages"
"""Details that every harness gets: the precision of floating-point inputs, whether inputs are passed as one tuple, and
the names of the stages that the reference returns before its result."""


class Accuracy(enum.StrEnum):
    """The precision of floating-point inputs and weights."""

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"

    @property
    def dtype(self) -> DType:
        """The element type of this precision."""
        return {"fp32": DType.FLOAT32, "fp16": DType.FLOAT16, "bf16": DType.BFLOAT16}[self]


class SuiteChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A suite and the options of its problems; its JSON is part of the id of every such problem.

    `cap` bounds every size constant, `sizes` sets single ones.  `stages` are intermediates that reference and candidate
    return before their results.
    """

    path: Path
    format: str
    cap: int | None = None
    sizes: Mapping[str, Size] = {}
    accuracy: Accuracy = Accuracy.FP32
    stages: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As JSON, with sorted keys."""
        return msgspec.json.encode(self, enc_hook=str, order="deterministic").decode()


def choice_of(text: str) -> SuiteChoice:
    """The choice in this JSON.

    Raises:
        EngineError: it is not a valid choice.
    """
    try:
        return msgspec.json.decode(text, type=SuiteChoice, dec_hook=lambda kind, value: kind(value))
    except msgspec.MsgspecError as error:
        raise EngineError(f"not a description of a suite: {error}") from error
