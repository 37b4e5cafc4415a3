"""The state of a device before kgtui uses it: clocks, other processes, and the benchmark lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.devices import Device
from engine.devices.hardware.device_lock import lock_state
from engine.devices.hardware.state import Driver, device_id, device_state
from engine.errors import UnsupportedError
from engine.model.benchmark import DeviceState, Holder


@dataclass(frozen=True, kw_only=True)
class Condition:
    """State of a device for timing, before kgtui used it.

    `is_held` says whether a benchmark holds its lock, None if unknown, with the reason in `trouble`. `holder` may be
    unknown.
    """

    platform: str
    index: int
    id: str
    state: DeviceState
    is_held: bool | None
    holder: Holder | None
    trouble: str | None


def condition_of(
    device: Device, *, locks: Path, driver: Driver | None = None, own_pids: tuple[int, ...] = ()
) -> Condition:
    """Current state of the device; `locks` is the folder of all users' locks; without `driver` the installed one."""
    name = device_id(device.platform, device.index, driver=driver)
    state = device_state(device.platform, device.index, own_pids=own_pids, driver=driver)
    is_held, holder, trouble = None, None, None
    try:
        found = lock_state(locks, name)
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
    """Lines on the state that matters before timing; an unknown value is never shown as a number."""
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
        yield f"clocks are limited by: {', '.join(state.throttled_by)}"
    if state.other_processes:
        yield f"other processes use it: {', '.join(map(str, state.other_processes))}"
    yield from (f"unknown: {refused}" for refused in state.refused)
    if condition.trouble is not None:
        yield f"lock: {condition.trouble}"
    elif condition.is_held and condition.holder is None:
        yield "lock: held by an unknown process; benchmarks wait"
    elif condition.is_held and condition.holder is not None:
        holder = condition.holder
        yield f"lock: held by {holder.command} (process {holder.pid}) since {holder.since}; benchmarks wait"
    else:
        yield "lock: free"
