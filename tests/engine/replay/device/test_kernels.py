"""Launches of a tape on a device: each specialisation is compiled once, and what it may store to is known."""

from __future__ import annotations

import struct
from pathlib import Path

import msgspec
import pytest
import torch

from engine.devices.hardware.device_memory import DeviceMemoryError
from engine.devices.hardware.targets import Target, target_named
from engine.errors import UnsupportedError
from engine.model import Launch
from engine.protocol.proof.tape import Launched, Tape, TapedView
from engine.replay.checks import TapeError
from engine.replay.device.binaries import Binary
from engine.replay.device.kernels import DeviceKernels, HeldKernel
from engine.replay.execution import KernelStoppedError, Stored
from tests.engine.replay.tapes import DOUBLE, ELEMENTS, launch_record, launched, tape, vector

NAMES = ("x", "y", "n")
POINTED = DOUBLE.replace("%v = tt.load", "%z = tt.int_to_ptr %big : i64 -> !tt.ptr<f32>\n    %v = tt.load").replace(
    "%two =", "%big = arith.constant 64 : i64\n    %two ="
)


class Device:
    """Compiles nothing and launches nothing, but notes what it should have."""

    def __init__(self, *, parameters: tuple[int, ...] = (8, 8, 4, 8, 8), refuses: str = "") -> None:
        self.compiled: list[tuple[int, int]] = []
        self.launches: list[tuple[tuple[int, int, int], bytes]] = []
        self._parameters, self._refuses = parameters, refuses
        self.kernels = DeviceKernels(
            target_named("sm_90"), torch.device("cpu"), compiled=self._compile, load=lambda _: self
        )

    def _compile(self, ttir: str, launch: Launch, target: Target, folder: Path) -> Binary:
        self.compiled.append((launch.num_warps, launch.num_stages))
        return Binary(
            name="double", code=b"", threads=128, shared_bytes=0, scratch_bytes=0, parameters=self._parameters
        )

    def launch(self, grid: tuple[int, int, int], parameters: tuple[bytes, ...]) -> None:
        if self._refuses:
            raise DeviceMemoryError(self._refuses)
        self.launches.append((grid, b"".join(parameters)))


def at(view: TapedView) -> int:
    return 0x1000 * (view.storage + 1)


def run(device: Device, step: Launched, recorded: Tape | None = None, *, ttir: str = DOUBLE) -> Stored:
    device.kernels.hold("k", HeldKernel.of(ttir, NAMES))
    return device.kernels.launcher(recorded or tape(step), ("k",))(step, at)


STEP = launched(vector(0), vector(1))


def test_a_launch_gets_its_arguments_and_scratch_memory() -> None:
    device = Device()
    run(device, STEP)
    ((grid, parameters),) = device.launches
    assert (grid, parameters) == ((1, 1, 1), struct.pack("<QQi16x", 0x1000, 0x2000, ELEMENTS))


def test_a_launch_stores_to_what_its_stores_point_to() -> None:
    assert run(Device(), STEP) == Stored(used=frozenset({0, 1}), stored=frozenset({1}))


def test_a_kernel_that_makes_pointers_may_use_all_memory() -> None:
    assert run(Device(), STEP, tape(STEP, storages=4), ttir=POINTED).used == frozenset(range(4))


def test_options_of_a_launch_have_binaries_of_their_own() -> None:
    device = Device()
    warps = [type(launch_record())(**{**_fields(launch_record()), "num_warps": number}) for number in (4, 8, 4)]
    for launch in warps:
        run(device, STEP, msgspec.structs.replace(tape(STEP), specialisations=(launch,)))
    assert device.compiled == [(4, 3), (8, 3)]


def test_a_kernel_that_does_not_compile_is_tried_once() -> None:
    device = Device(parameters=(8,))
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="takes no addresses of scratch memory"):
            run(device, STEP)
    assert device.compiled == [(4, 3)]


def test_a_grid_without_programs_launches_nothing() -> None:
    device = Device()
    empty = msgspec.structs.replace(STEP, grid=(0, 1, 1))
    assert run(device, empty) == Stored(used=frozenset(), stored=frozenset())
    assert device.launches == []


def test_a_launch_that_the_driver_refuses_stops_the_replay() -> None:
    with pytest.raises(KernelStoppedError, match="double: the driver refuses it"):
        run(Device(refuses="CUDA_ERROR_INVALID_VALUE"), STEP)


def test_a_launch_without_an_argument_is_refused() -> None:
    short = msgspec.structs.replace(STEP, arguments=STEP.arguments[:2])
    with pytest.raises(TapeError, match="without its argument n"):
        run(Device(), short)


@pytest.mark.parametrize("parameters", [(8, 8, 4), (8, 8, 4, 8, 4), (8,)])
def test_a_binary_without_scratch_memory_is_refused(parameters: tuple[int, ...]) -> None:
    with pytest.raises(UnsupportedError, match=r"takes no addresses of scratch memory|other parameters"):
        run(Device(parameters=parameters), STEP)


def _fields(record: Launch) -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}
