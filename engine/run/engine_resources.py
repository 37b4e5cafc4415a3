"""Resources that the runs of one engine share."""

from __future__ import annotations

from dataclasses import dataclass

from engine.artefacts import ArtefactStore
from engine.devices import Device
from engine.model import Limits
from engine.processes.process_pool import ProcessPool
from engine.timing.measurement_context import MeasurementContext


@dataclass(frozen=True, kw_only=True)
class EngineResources:
    """Resources that the runs of one engine use in turn; without `measurement_context` nothing is timed."""

    process_pool: ProcessPool
    artefacts: ArtefactStore
    device: Device
    limits: Limits
    measurement_context: MeasurementContext | None = None
