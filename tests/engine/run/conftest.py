"""Fixtures that the tests of this folder share."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from engine.devices.hardware.device_lock import DeviceLock
from engine.processes.directories import EngineDirectories
from engine.timing.measurement_context import MeasurementContext
from tests.engine.run.compile_site import Site
from tests.engine.run.device_run import GPU, DeviceRun

if TYPE_CHECKING:
    from tests.engine.conftest import Employ


@pytest.fixture
def site(employ: Employ, directories: EngineDirectories, tmp_path: Path) -> Site:
    return Site(employ, directories, tmp_path)


@pytest.fixture
def device_run(employ: Employ, tmp_path: Path) -> DeviceRun:
    return DeviceRun(employ, tmp_path)


@pytest.fixture
def measurement_context(device_run: DeviceRun, tmp_path: Path) -> MeasurementContext:
    """Measurements on a device whose driver does not open."""

    class DriverError(Exception):
        pass

    def refuse() -> None:
        raise DriverError("Driver Not Loaded")

    driver = SimpleNamespace(NVMLError=DriverError, nvmlInit=refuse)
    return MeasurementContext(
        device=GPU,
        process_pool=device_run.process_pool,
        peaks_folder=None,
        lock=DeviceLock(tmp_path, device_id="d", command="kgtui"),
        driver=driver,  # type: ignore[arg-type]  # nothing else is asked of a driver that does not open
    )
