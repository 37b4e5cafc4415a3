"""`kgtui doctor`: what a really started engine says of itself."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import kgtui
from engine.devices import Device
from engine.devices.hardware.device_lock import DeviceLock
from engine.errors import EngineError
from engine.model.benchmark import DeviceState, Holder
from engine.processes.fork_server_client import ForkServerClient
from engine.sandbox.confinement import Measure
from kgtui.cli.commands.doctor import Condition, condition_lines, condition_of
from tests.kgtui.cli.documents import require_valid


def test_json_document_lists_devices_versions_limits_and_paths(typed, home):
    document = require_valid(typed("doctor", "--json").out)
    assert document["schema"] == "kgtui.doctor/1"
    assert document["devices"][-1]["platform"] == "cpu"
    assert [found["platform"] for found in document["conditions"]] == [
        device["platform"] for device in document["devices"][:-1]
    ]
    assert {"python", "torch", "triton", "kgtui"} <= set(document["versions"])
    assert "dies with its parent" in document["confinement"]
    assert sorted(document["confinement"] + document["missing_confinement"]) == sorted(Measure)
    assert document["places"]["sessions"] == {"path": f"{home}/sessions.db", "writable": True}
    assert document["places"]["peaks"] == {"path": f"{home}/peaks", "writable": True}
    assert document["terminal"]["is_terminal"] is False
    assert not home.exists()


def test_settings_are_listed_with_origin_and_unused_ones(typed, home, folder):
    home.mkdir()
    config = home / "config.toml"
    config.write_text("folder = 'mine'\nasci = true\n[keys]\n'workbench.run' = 'f11'\n'workbench.failed' = 'z'\n")
    lines = typed("doctor").out.splitlines()
    assert f'setting      folder          "mine"         {config}' in lines
    assert "setting      workbench.run   f11" in lines
    assert f"path         kernels: {folder}/mine" in lines
    assert [line for line in lines if "NOT USED" in line] == [
        f"setting      NOT USED: {config}, asci: there is no such setting; did you mean ascii?",
        f"setting      NOT USED: {config}, keys.workbench.failed: z would be both workbench.failed and workbench.zoom; "
        "give one of them another key",
    ]


def test_engine_start_failure_is_reported(typed, monkeypatch):
    async def fail(nest):
        raise EngineError("no processes here")

    monkeypatch.setattr(ForkServerClient, "start", fail)
    ended = typed("doctor")
    assert ended.exit_code == 3
    assert "engine       cannot be started: no processes here" in ended.out.splitlines()


def test_program_run_from_source_states_its_folder(typed, monkeypatch):
    def version(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", version)
    ended = typed("doctor")
    assert ended.exit_code == 0
    lines = ended.out.splitlines()
    assert f"version      kgtui not installed, running from {Path(kgtui.__file__).parent.parent}" in lines
    assert "version      torch not installed" in lines


GPU = Device(platform="cuda", index=0, name="NVIDIA H100", target="sm_90")


class DriverError(Exception):
    """Stands for pynvml.NVMLError."""


@pytest.fixture
def driver():
    """A driver of one GPU that does not tell its power, in NVML's own words."""

    def refuse(handle):
        raise DriverError("Not Supported")

    return SimpleNamespace(
        NVMLError=DriverError,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetUUID=lambda handle: "GPU-1a20",
        nvmlDeviceGetClockInfo=lambda handle, kind: {1: 1980, 2: 2619}[kind],
        nvmlDeviceGetTemperature=lambda handle, sensor: 41,
        nvmlDeviceGetPowerUsage=refuse,
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=97),
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 0x4,
        nvmlDeviceGetComputeRunningProcesses=refuse,
    )


def test_device_condition_comes_from_driver_and_lock(driver, tmp_path):
    condition = condition_of(GPU, locks=tmp_path / "locks", driver=driver)
    assert list(condition_lines(condition)) == [
        "SM 1980 MHz, memory 2619 MHz, 41 C, 97% busy",
        "clocks are held down by: power cap",
        "unknown: power: Not Supported",
        "unknown: other processes: Not Supported",
        "lock: free",
    ]
    assert list(tmp_path.iterdir()) == []


async def test_device_holder_is_named(driver, tmp_path):
    locks = tmp_path / "locks"
    lock = DeviceLock(locks, device_id="GPU-1a20", command="kgtui bench softmax.py")
    async with lock.hold(on_wait=lambda holder: None):
        condition = condition_of(GPU, locks=locks, driver=driver)
    assert condition.holder is not None
    assert (condition.is_held, condition.holder.pid) == (True, os.getpid())


@pytest.mark.parametrize(
    ("held", "line"),
    [
        (
            {"is_held": True, "holder": Holder(pid=7, command="kgtui bench a.py", since="2026-01-02T12:00:00Z")},
            "lock: held by kgtui bench a.py (process 7) since 2026-01-02T12:00:00Z; a benchmark waits",
        ),
        ({"is_held": True}, "lock: held by an unknown process; a benchmark waits"),
        ({"is_held": None, "trouble": "/x.lock: cannot be locked"}, "lock: /x.lock: cannot be locked"),
    ],
    ids=["named", "somebody", "unknown"],
)
def test_unknown_lock_is_never_called_free(held, line):
    known = {"is_held": False, "holder": None, "trouble": None, **held}
    state = DeviceState(other_processes=(10, 30))
    condition = Condition(platform="cuda", index=0, id="GPU-1a20", state=state, **known)
    assert list(condition_lines(condition)) == ["other processes use it: 10, 30", line]
