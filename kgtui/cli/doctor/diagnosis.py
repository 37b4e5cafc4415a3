"""Facts of this machine: devices, versions, confinement, paths and settings.

The sandboxing measures are reported by an engine started for this, since a container may not allow what the kernel
version supports.
"""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import kgtui
from engine.artefacts import ArtefactStore
from engine.devices import Device, detect_all, platform_named
from engine.devices.hardware.device_lock import shared_folder
from engine.engine import Engine
from engine.errors import EngineError
from kgtui.cli.doctor.device_condition import Condition, condition_of
from kgtui.cli.doctor.terminal import Terminal
from kgtui.cli.resolved_settings import kernels_of
from kgtui.runner.run_environment import versions
from kgtui.settings.paths import Paths, can_write, find_paths
from kgtui.settings.preferences import EffectiveSetting, Preferences
from kgtui.settings.schema import Config

if TYPE_CHECKING:
    from kgtui.settings.keymap import Keymap


@dataclass(frozen=True, kw_only=True)
class Place:
    """A path and whether it can be written or created."""

    path: str
    writable: bool


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The whole diagnosis.  `trouble` is the reason why no engine could be started; sandboxing is then unknown.

    `confinement` is None while the engine starts.

    `running_from` is the folder that kgtui's own code is in; its version is None if that is not an installation.
    """

    system: str
    devices: tuple[Device, ...]
    conditions: tuple[Condition, ...]
    versions: dict[str, str | None]
    running_from: str
    confinement: tuple[str, ...] | None
    missing_confinement: tuple[str, ...]
    trouble: str | None
    terminal: Terminal
    places: dict[str, Place]
    settings: tuple[EffectiveSetting, ...]
    bindings: dict[str, str]
    mistakes: tuple[str, ...]


async def diagnose(
    *,
    environment: Mapping[str, str],
    folder: Path,
    terminal: Terminal,
    preferences: Preferences,
    own_pids: tuple[int, ...] = (),
) -> AsyncIterator[Diagnosis]:
    """The diagnosis without sandboxing, then, once an engine has been started and stopped, the whole.

    `own_pids` do not count as other processes on a device.
    """
    devices = await asyncio.to_thread(detect_all)
    timed_on = [device for device in devices if not platform_named(device.platform).EXECUTED_ON_CPU]
    # Before the engine starts: now every process on a device is foreign.
    conditions = [
        await asyncio.to_thread(condition_of, device, locks=shared_folder(), own_pids=own_pids) for device in timed_on
    ]
    keymap = _keymap_of(preferences.config)
    known = Diagnosis(
        system=f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} CPUs",
        devices=devices,
        conditions=tuple(conditions),
        versions=await asyncio.to_thread(versions),
        running_from=str(Path(kgtui.__file__).parent.parent),
        confinement=None,
        missing_confinement=(),
        trouble=None,
        terminal=terminal,
        places=_places(find_paths(environment), kernels_of(preferences, folder)),
        settings=preferences.settings,
        bindings=keymap.bindings if keymap else {},
        mistakes=(*preferences.problems, *(keymap.problems if keymap else ())),
    )
    yield known
    confinement, missing, trouble = await _confinement(devices[0], environment)
    yield replace(known, confinement=confinement, missing_confinement=missing, trouble=trouble)


async def _confinement(
    device: Device, environment: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """The sandboxing measures that a spare worker has and those that it lacks, or why there is no worker."""
    with tempfile.TemporaryDirectory(prefix="kgtui-") as folder:
        try:
            artefacts = ArtefactStore(folder=Path(folder))
            async with Engine(device=device.platform, artefacts=artefacts, environment=environment) as engine:
                await engine.wait_until_warm()
                return engine.confinement, engine.missing_confinement, None
        except (EngineError, OSError) as error:
            return (), (), f"{error}"


def _keymap_of(config: Config) -> Keymap | None:
    """The user's own keys; None if there are none, which avoids the import of Textual."""
    if not config.settings.keys:
        return None
    from kgtui.settings.keymap import keymap_of

    return keymap_of(config.settings.keys, file=str(config.path))


def _places(paths: Paths, kernels: Path) -> dict[str, Place]:
    named = {
        "data": paths.data,
        "sessions": paths.sessions,
        "artefacts": paths.artefacts,
        "peaks": paths.peaks,
        "config": paths.config,
        "kernels": kernels,
        "temporary": Path(tempfile.gettempdir()),
        "shared memory": Path("/dev/shm"),
    }
    return {name: Place(path=str(path), writable=can_write(path)) for name, path in named.items()}
