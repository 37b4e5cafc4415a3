"""`kgtui doctor`: hardware and versions of this machine, its users, and the confinement that is in force.

The measures of confinement come from an engine that is started for this: what a kernel version
promises is not what a container allows.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import kgtui
from engine.artefacts import ArtefactStore
from engine.devices import Device, detect_all, platform_named
from engine.devices.hardware.device_lock import occupancy, shared_folder
from engine.devices.hardware.state import Driver, device_id, device_state
from engine.engine import Engine
from engine.errors import EngineError, UnsupportedError
from engine.model.benchmark import DeviceState, Holder
from engine.reports.printable import printable
from kgtui.cli.argument_groups import add_json
from kgtui.cli.command_parser import CommandParser
from kgtui.cli.console import Console, Exit
from kgtui.cli.registry import Group
from kgtui.cli.resolved_settings import kernels_of, load_quietly
from kgtui.runner.run_environment import versions
from kgtui.settings.paths import Paths, can_write, find_paths
from kgtui.settings.preferences import Chosen, Preferences, setting_line
from kgtui.settings.schema import Config

if TYPE_CHECKING:
    from kgtui.settings.keymap import Keymap

SUMMARY = "Show hardware, versions and sandboxing."
GROUP = Group.SETUP
STARTS_ENGINE = True

JSON_SCHEMA = "kgtui.doctor/1"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A path and whether it can be written, or made."""

    path: str
    writable: bool


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """The terminal's own description; the size is None where there is none."""

    is_terminal: bool
    term: str | None
    colours: str
    encoding: str
    columns: int | None
    rows: int | None
    inside: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Condition:
    """State of a device that can be timed on, before kgtui used it.

    `is_held` says whether a benchmark has it to itself, None where that cannot be seen: `trouble` says why.
    `holder` may have left no name.
    """

    platform: str
    index: int
    id: str
    state: DeviceState
    is_held: bool | None
    holder: Holder | None
    trouble: str | None


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The whole diagnosis.  `trouble` is the reason why no engine could be started; then confinement is unknown.

    `running_from` is the folder that kgtui's own code is in; its version is None where that is no installation.
    """

    system: str
    devices: tuple[Device, ...]
    conditions: tuple[Condition, ...]
    versions: dict[str, str | None]
    running_from: str
    confinement: tuple[str, ...]
    missing_confinement: tuple[str, ...]
    trouble: str | None
    terminal: Terminal
    places: dict[str, Place]
    settings: tuple[Chosen, ...]
    bindings: dict[str, str]
    mistakes: tuple[str, ...]


def add_arguments(parser: CommandParser) -> None:
    """The arguments of `kgtui doctor`."""
    parser.usage = f"{parser.prog} [--json]"
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the diagnosis; ENGINE when no engine could be started."""
    diagnosis = asyncio.run(
        diagnose(
            environment=console.environment,
            folder=console.folder,
            terminal=_terminal(console),
            preferences=load_quietly(options, console),
        )
    )
    if options.json:
        encoded = msgspec.json.encode({"schema": JSON_SCHEMA, **msgspec.to_builtins(diagnosis)})
        console.hand_out(msgspec.json.format(encoded, indent=2).decode())
    else:
        console.say("\n".join(diagnosis_lines(diagnosis)))
    return Exit.PASSED if diagnosis.trouble is None else Exit.ENGINE


async def diagnose(
    *,
    environment: Mapping[str, str],
    folder: Path,
    terminal: Terminal,
    preferences: Preferences,
    own_pids: tuple[int, ...] = (),
) -> Diagnosis:
    """All of it; `own_pids` are processes of ours, which are no others on a device.  Starts an engine and stops it."""
    devices = await asyncio.to_thread(detect_all)
    timed_on = [device for device in devices if not platform_named(device.platform).EXECUTED_ON_CPU]
    # Before the engine starts: a process on a device now is not ours.
    conditions = [
        await asyncio.to_thread(condition_of, device, locks=shared_folder(), own_pids=own_pids) for device in timed_on
    ]
    confinement, missing, trouble = await _confinement(devices[0], environment)
    keymap = _keymap_of(preferences.config)
    return Diagnosis(
        system=f"{platform.system()} {platform.release()} {platform.machine()}, {os.cpu_count()} CPUs",
        devices=devices,
        conditions=tuple(conditions),
        versions=await asyncio.to_thread(versions),
        running_from=str(Path(kgtui.__file__).parent.parent),
        confinement=confinement,
        missing_confinement=missing,
        trouble=trouble,
        terminal=terminal,
        places=_places(find_paths(environment), kernels_of(preferences, folder)),
        settings=preferences.chosen,
        bindings=keymap.bindings if keymap else {},
        mistakes=(*preferences.problems, *(keymap.problems if keymap else ())),
    )


def condition_of(
    device: Device, *, locks: Path, driver: Driver | None = None, own_pids: tuple[int, ...] = ()
) -> Condition:
    """Current state of the device; `locks` is the folder of all users' locks, `driver` None the installed one."""
    name = device_id(device.platform, device.index, driver=driver)
    state = device_state(device.platform, device.index, own_pids=own_pids, driver=driver)
    is_held, holder, trouble = None, None, None
    try:
        found = occupancy(locks, name)
        is_held, holder = found.is_held, found.holder
    except UnsupportedError as error:
        trouble = str(error)
    return Condition(
        platform=device.platform,
        index=device.index,
        id=name,
        state=state,
        is_held=is_held,
        holder=holder,
        trouble=trouble,
    )


def condition_lines(condition: Condition) -> Iterator[str]:
    """The state that matters before timing on the device; an unknown value is never shown as a number."""
    state = condition.state
    facts = {
        "SM {} MHz": state.sm_clock_mhz,
        "memory {} MHz": state.memory_clock_mhz,
        "{} C": state.temperature_c,
        "{:.0f} W": state.power_w,
        "{}% busy": state.utilisation_percent,
    }
    known = [form.format(value) for form, value in facts.items() if value is not None]
    if known:
        yield ", ".join(known)
    if state.throttled_by:
        yield f"clocks are held down by: {', '.join(state.throttled_by)}"
    if state.other_processes:
        yield f"other processes use it: {', '.join(map(str, state.other_processes))}"
    yield from (f"unknown: {refused}" for refused in state.refused)
    if condition.trouble is not None:
        yield f"lock: {condition.trouble}"
    elif condition.is_held and condition.holder is None:
        yield "lock: held by an unknown process; a benchmark waits"
    elif condition.is_held and condition.holder is not None:
        holder = condition.holder
        yield f"lock: held by {holder.command} (process {holder.pid}) since {holder.since}; a benchmark waits"
    else:
        yield "lock: free"


def _keymap_of(config: Config) -> Keymap | None:
    """The user's own keys; None where there are none, which spares the import of Textual."""
    if not config.asked.keys:
        return None
    from kgtui.settings.keymap import keymap_of

    return keymap_of(config.asked.keys, file=str(config.path))


async def _confinement(
    device: Device, environment: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...], str | None]:
    """The measures that a spare worker has in force and those that it lacks, or why there is no worker."""
    with tempfile.TemporaryDirectory(prefix="kgtui-") as folder:
        try:
            artefacts = ArtefactStore(folder=Path(folder))
            async with Engine(device=device.platform, artefacts=artefacts, environment=environment) as engine:
                await engine.wait_until_warm()
                return engine.confinement, engine.missing_confinement, None
        except (EngineError, OSError) as error:
            return (), (), f"{error}"


def _terminal(console: Console) -> Terminal:
    size = shutil.get_terminal_size() if console.has_terminal else None
    return terminal_of(
        console.environment, encoding=console.out.encoding, size=(size.columns, size.lines) if size else None
    )


def terminal_of(environment: Mapping[str, str], *, encoding: str, size: tuple[int, int] | None) -> Terminal:
    """The terminal of these columns and rows; a size of None where there is none."""
    return Terminal(
        is_terminal=size is not None,
        term=environment.get("TERM"),
        colours=_colours(environment),
        encoding=encoding,
        columns=size[0] if size else None,
        rows=size[1] if size else None,
        inside=tuple(name for name, variable in _MULTIPLEXERS.items() if environment.get(variable)),
    )


_MULTIPLEXERS = {"tmux": "TMUX", "screen": "STY", "ssh": "SSH_CONNECTION"}


def _colours(environment: Mapping[str, str]) -> str:
    if environment.get("NO_COLOR"):
        return "none (NO_COLOR is set)"
    if environment.get("COLORTERM") in ("truecolor", "24bit"):
        return "16 million"
    return "256" if "256" in environment.get("TERM", "") else "16"


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


def diagnosis_lines(diagnosis: Diagnosis) -> list[str]:
    """The diagnosis as text, one fact per line."""
    terminal = diagnosis.terminal
    lines = [f"system       {diagnosis.system}"]
    condition_by_place = {(condition.platform, condition.index): condition for condition in diagnosis.conditions}
    for device in diagnosis.devices:
        lines.append(f"device       {_device(device)}")
        if condition := condition_by_place.get((device.platform, device.index)):
            lines += [f"             {printable(line)}" for line in condition_lines(condition)]
    if len(diagnosis.devices) == 1:
        lines.append("             no GPU was found: kernels are verified on the CPU, and nothing is timed")
    absent = {"kgtui": f"not installed, running from {printable(diagnosis.running_from)}"}
    lines += [
        f"version      {name} {version or absent.get(name, 'not installed')}"
        for name, version in diagnosis.versions.items()
    ]
    if diagnosis.trouble is not None:
        lines.append(f"engine       cannot be started: {diagnosis.trouble}")
    else:
        lines += [f"confinement  {measure}" for measure in diagnosis.confinement or ("none",)]
        lines += [f"confinement  NOT IN FORCE: {measure}" for measure in diagnosis.missing_confinement]
    size = f", {terminal.columns}x{terminal.rows}" if terminal.columns else ""
    if terminal.is_terminal:
        kind = f"{terminal.term or 'TERM is not set'}{size}, colours: {terminal.colours}"
    else:
        kind = "none; the workbench needs one, `kgtui check` does not"
    lines.append(f"terminal     {kind}, encoding {terminal.encoding}")
    if terminal.inside:
        lines.append(f"             inside {', '.join(terminal.inside)}")
    lines += [
        f"path         {name}: {place.path}{'' if place.writable else '  (NOT WRITABLE)'}"
        for name, place in diagnosis.places.items()
    ]
    lines += [f"setting      {setting_line(one)}" for one in diagnosis.settings]
    lines += [f"setting      {name:<15} {keys}" for name, keys in diagnosis.bindings.items()]
    lines += [f"setting      NOT USED: {printable(mistake)}" for mistake in diagnosis.mistakes]
    return lines


def _device(device: Device) -> str:
    facts = [f"{device.platform} {device.index}: {device.name}"]
    if device.target:
        facts.append(device.target)
    if device.memory_bytes is not None:
        facts.append(f"{device.memory_bytes / 2**30:.0f} GiB")
    if device.driver:
        facts.append(f"driver {device.driver}")
    return ", ".join(facts)
