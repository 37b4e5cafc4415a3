"""Commands to an engine about a run in progress: plain values, so that they can be sent to another process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CancelRun:
    """Stop the run with the id `run_id`; it ends with the outcome CANCELLED."""

    run_id: str
