"""Problems, outcomes and failures in replies of the judge."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine import protocol
from engine.model import Outcome

if TYPE_CHECKING:
    pass


def outcomes(compared: protocol.Compared) -> list[tuple[str, Outcome]]:
    return [(report.name, report.outcome) for report in compared.reports]


def failed(reply: protocol.AnyReply) -> tuple[protocol.FailureKind, str]:
    assert isinstance(reply, protocol.Failed), reply
    return reply.kind, reply.message


def reference_calls() -> int:
    """How often the reference of any toy problem has been asked."""
    return len(importlib.import_module("toy_problems").REFERENCE_CALLS)
