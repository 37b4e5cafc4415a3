"""Start of the application: settings of this start, the file to open at once, a batch to generate."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kgtui.settings.preferences import NO_TARGET, Preferences, detected_preferences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.model import Problem
    from kgtui.generation.carrying_out import GenerationOrder
    from kgtui.generation.prices import PriceList


@dataclass(frozen=True, kw_only=True)
class Start:
    """The file to open at once, and its operator."""

    problem: Problem
    path: Path


@dataclass(frozen=True, kw_only=True)
class PreparedBatch:
    """A batch that is generated as soon as the engine has started, with its own prices."""

    order: GenerationOrder
    prices: PriceList


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of this start: working folder, folder of kgtui's own files, kernel folder, device and target.

    `preferences` are the user's choices and their origin; the other fields hold those available on this machine.
    """

    folder: Path
    data: Path
    kernels: Path | None = None
    device: str = "cpu"
    target: str | None = "sm_90"
    environment: Mapping[str, str] = field(default_factory=dict)
    preferences: Preferences = field(default_factory=detected_preferences)

    @property
    def in_use(self) -> dict[str, str]:
        """Device and target by the keys of their settings."""
        return {"device": self.device, "target": self.target or NO_TARGET}
