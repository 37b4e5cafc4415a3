"""Launches of a tape on a device: each specialisation is compiled once, and what it may store to is known."""

from __future__ import annotations

import struct

import msgspec
import pytest
import torch

from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.errors import UnsupportedError
from engine.model import Launch
from engine.protocol.proof.binaries import CompileOptions, KernelBinary
from engine.protocol.proof.tape import Launched, Tape, TapedView
from engine.replay.checks import TapeError
from engine.replay.device.kernels import DeviceKernels, HeldKernel
from engine.replay.execution import KernelStoppedError, LaunchEffects
from tests.engine.replay.tapes import DOUBLE, ELEMENTS, launch_record, launched, tape, vector

NAMES = ("x", "y", "n")
POINTED = DOUBLE.replace("%v = tt.load", "%z = tt.int_to_ptr %big : i64 -> !tt.ptr<f32>\n    %v = tt.load").replace(
    "%two =", "%big = arith.constant 64 : i64\n    %two ="
)


def binary(parameters: tuple[int, ...] = (8, 8, 4, 8, 8), name: str = "double") -> KernelBinary:
    return KernelBinary(name=name, code=b"", threads=128, shared_bytes=0, scratch_bytes=0, parameters=parameters)


class Device:
    """Launches nothing, but notes what it should have, and which binaries it was to load."""

    def __init__(self, *, refuses: str = "", loads: bool = True) -> None:
        self.loaded: list[str] = []
        self.unloaded = 0
        self.launches: list[tuple[tuple[int, int, int], bytes]] = []
        self._refuses, self._loads = refuses, loads
        self.kernels = DeviceKernels(torch.device("cpu"), load=self._load)

    def _load(self, loaded: KernelBinary) -> Device:
        if not self._loads:
            raise DeviceMemoryError("CUDA_ERROR_NO_BINARY_FOR_GPU")
        self.loaded.append(loaded.name)
        return self

    def unload(self) -> None:
        self.unloaded += 1

    def launch(self, grid: tuple[int, int, int], parameters: tuple[bytes, ...]) -> None:
        if self._refuses:
            raise DeviceMemoryError(self._refuses)
        self.launches.append((grid, b"".join(parameters)))


def at(view: TapedView) -> int:
    return 0x1000 * (view.storage + 1)


def run(device: Device, step: Launched, recorded: Tape | None = None, *, ttir: str = DOUBLE) -> LaunchEffects:
    device.kernels.hold("k", HeldKernel.of(ttir, NAMES))
    device.kernels.hold_binary("k", OPTIONS, binary())
    return device.kernels.launcher(recorded or tape(step), ("k",))(step, at)


OPTIONS = CompileOptions.of(launch_record())
STEP = launched(vector(0), vector(1))


def test_a_launch_gets_its_arguments_and_scratch_memory() -> None:
    device = Device()
    run(device, STEP)
    ((grid, parameters),) = device.launches
    assert (grid, parameters) == ((1, 1, 1), struct.pack("<QQi16x", 0x1000, 0x2000, ELEMENTS))


def test_launch_stores_to_pointers_of_its_stores() -> None:
    assert run(Device(), STEP) == LaunchEffects(used=frozenset({0, 1}), stored=frozenset({1}))


def test_kernel_computing_pointers_may_use_all_memory() -> None:
    assert run(Device(), STEP, tape(STEP, storages=4), ttir=POINTED).used == frozenset(range(4))


def test_launch_with_other_options_has_no_binary() -> None:
    other = type(launch_record())(**{**_fields(launch_record()), "num_warps": 8})
    with pytest.raises(UnsupportedError, match="double: it has no binary for the options of this launch"):
        run(Device(), STEP, msgspec.structs.replace(tape(STEP), specialisations=(other,)))


def test_dropped_kernels_are_unloaded_and_cannot_be_launched() -> None:
    device = Device()
    run(device, STEP)
    device.kernels.drop()
    assert device.unloaded == 1
    with pytest.raises(KeyError):
        device.kernels.launcher(tape(STEP), ("k",))(STEP, at)


def test_binary_is_loaded_once_for_many_launches() -> None:
    device = Device()
    run(device, STEP)
    device.kernels.launcher(tape(STEP), ("k",))(STEP, at)
    assert (device.loaded, len(device.launches)) == (["double"], 2)


def test_binary_that_the_driver_refuses_is_unsupported() -> None:
    with pytest.raises(UnsupportedError, match=r"double: the driver does not load its binary .CUDA_ERROR_NO_BINARY"):
        Device(loads=False).kernels.hold_binary("k", OPTIONS, binary())


def test_a_grid_without_programs_launches_nothing() -> None:
    device = Device()
    empty = msgspec.structs.replace(STEP, grid=(0, 1, 1))
    assert run(device, empty) == LaunchEffects(used=frozenset(), stored=frozenset())
    assert device.launches == []


def test_launch_refused_by_driver_stops_replay() -> None:
    with pytest.raises(KernelStoppedError, match="double: the driver refuses it"):
        run(Device(refuses="CUDA_ERROR_INVALID_VALUE"), STEP)


def test_a_launch_without_an_argument_is_refused() -> None:
    short = msgspec.structs.replace(STEP, arguments=STEP.arguments[:2])
    with pytest.raises(TapeError, match="without its argument n"):
        run(Device(), short)


@pytest.mark.parametrize("parameters", [(8, 8, 4), (8, 8, 4, 8, 4), (8,)])
def test_a_binary_without_scratch_memory_is_refused(parameters: tuple[int, ...]) -> None:
    with pytest.raises(UnsupportedError, match="takes no addresses of scratch memory"):
        Device().kernels.hold_binary("k", OPTIONS, binary(parameters))


def _fields(record: Launch) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
