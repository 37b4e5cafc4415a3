"""Descriptors made on the host become the parameters that Triton's launchers pass, or are refused."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

from engine.compiler.ttir import compile_ttir
from engine.devices.hardware.targets import target_named
from engine.errors import UnsupportedError
from engine.loading.frontend.lowering import ttir_of
from engine.machine.reader import read_module
from engine.protocol.proof.binaries import BinaryRequest, CompileOptions, KernelBinary, MapLayout
from engine.protocol.proof.tape import Launched, Tape, TapedArgument, TapedDescriptor, TapedNumber, TapedView
from engine.replay.device.descriptors import check_within, encode, spread
from engine.replay.device.kernels import DeviceKernels, HeldKernel
from engine.replay.device.memory import DeviceMemory
from engine.replay.device.parameters import packed
from engine.replay.execution import LaunchEffects
from tests.engine.replay.tapes import launch_record, tape

SIGNATURE = {"source": "tensordesc<fp32[4, 8]>", "target": "tensordesc<fp32[4, 8]>", "n": "i32"}
OPTIONS = CompileOptions.of(launch_record())
LAYOUT = MapLayout(swizzle=0, element_type=7, element_bytes=4, block=(4, 8))
VIEW = TapedView(storage=0, dtype="float32", offset_bytes=16, shape=(3, 10), strides=(12, 1))
SOURCE = TapedDescriptor(base=VIEW, shape=(3, 10), strides=(12, 1))
TARGET = msgspec.structs.replace(SOURCE, base=msgspec.structs.replace(VIEW, storage=1), padding_is_nan=True)
STORAGE_BYTES = 16 + 4 * (2 * 12 + 10)


@triton.jit
def copy_blocks(source, target, n):
    target.store([n, 0], source.load([n, 0]))


class Driver:
    """Notes what a tensor map is made of, and leaves ones in it."""

    def __init__(self, *, version: int = 13020) -> None:
        self.numbers: list[int | None] = []
        self.arrays: list[list[int]] = []
        self.begins_at = 0
        self._version = version

    def __call__(self, name: str, *arguments: Any) -> None:
        if name == "cuDriverGetVersion":
            arguments[0]._obj.value = self._version
            return
        assert name == "cuTensorMapEncodeTiled"
        self.begins_at = ctypes.addressof(arguments[0])
        self.numbers = [argument.value for argument in (*arguments[1:4], *arguments[8:])]
        self.arrays = [list(argument) for argument in arguments[4:8]]
        ctypes.memset(arguments[0], 0xFF, 128)


def lowered(target: str) -> str:
    """The TTIR of the kernel for a target."""
    found = target_named(target)
    gpu = GPUTarget(found.backend, found.architecture, found.warp_size)
    return str(ttir_of(ASTSource(copy_blocks, SIGNATURE, {}), gpu, make_backend(gpu).parse_options({})))


def recorded_launch(source: TapedDescriptor, target: TapedDescriptor) -> Tape:
    """A tape that copies the first block."""
    values = {"source": source, "target": target, "n": TapedNumber(value=0)}
    arguments = tuple(TapedArgument(name=name, value=value) for name, value in values.items())
    recorded = tape(Launched(specialisation=0, grid=(1, 1, 1), arguments=arguments))
    storages = tuple(msgspec.structs.replace(one, bytes=STORAGE_BYTES) for one in recorded.storages)
    return msgspec.structs.replace(recorded, storages=storages, specialisations=(launch_record("copy_blocks"),))


def map_of(descriptor: TapedDescriptor, name: str) -> bytes:
    return bytes([descriptor.base.storage + 1]) * 128


def at(view: TapedView) -> int:
    return 0x1000 * (view.storage + 1) + view.offset_bytes


def test_a_map_has_its_numbers_innermost_first() -> None:
    driver = Driver()
    layout = MapLayout(swizzle=3, element_type=7, element_bytes=4, block=(4, 8))
    assert encode(TARGET, layout, 0x2010, driver=driver) == b"\xff" * 128
    assert driver.numbers == [7, 2, 0x2010, 0, 3, 2, 1]
    assert driver.arrays == [[10, 3], [48, 0], [8, 4], [1, 1]]
    assert driver.begins_at % 64 == 0


@pytest.mark.parametrize(("version", "rows", "word"), [(13010, 3, -1 & ~(1 << 21)), (13010, 4000, -1), (13020, 3, -1)])
def test_small_maps_of_old_drivers_are_corrected(version: int, rows: int, word: int) -> None:
    descriptor = msgspec.structs.replace(SOURCE, shape=(rows, 10))
    made = encode(descriptor, LAYOUT, 0, driver=Driver(version=version))
    assert struct.unpack("<16q", made) == (-1, word, *[-1] * 14)


@pytest.mark.parametrize(("rounds", "kind", "expected"), [(True, 7, 11), (False, 7, 7), (True, 6, 6)])
def test_float32_is_rounded_if_descriptor_flag_is_set(rounds: bool, kind: int, expected: int) -> None:
    driver = Driver()
    descriptor = msgspec.structs.replace(SOURCE, rounds_to_tf32=rounds)
    encode(descriptor, _of_type(kind), 0, driver=driver)
    assert driver.numbers[0] == expected


def _of_type(kind: int) -> MapLayout:
    return MapLayout(swizzle=1, element_type=kind, element_bytes=4, block=(4, 8))


@pytest.mark.parametrize(("on_device", "on_host"), [(0, 0), (6, 6), (7, 7), (8, 10), (9, 8), (10, 9)])
def test_element_types_are_numbered_as_the_driver_does(on_device: int, on_host: int) -> None:
    row = {"swizzle": 3, "elem_size": 2, "elem_type": on_device, "block_size": [4, 8], "fp4_padded": False}
    assert MapLayout.of(row) == MapLayout(swizzle=3, element_type=on_host, element_bytes=2, block=(4, 8))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"fp4_padded": True}, "packed 4-bit elements"),
        ({"is_im2col": True}, "windows of an image"),
        ({}, "an unknown layout"),
        ({"swizzle": 1, "elem_size": 4, "elem_type": 7, "block_size": ["4"]}, "an unknown layout"),
    ],
)
def test_other_layouts_are_refused(row: dict[str, object], words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        MapLayout.of(row)


@pytest.mark.parametrize(
    "layout",
    [
        MapLayout(swizzle=1, element_type=7, element_bytes=4, block=(8,)),
        MapLayout(swizzle=1, element_type=6, element_bytes=2, block=(4, 8)),
    ],
)
def test_descriptors_unlike_their_layout_are_refused(layout: MapLayout) -> None:
    with pytest.raises(UnsupportedError, match="not as its kernel was compiled"):
        encode(SOURCE, layout, 0, driver=Driver())


def test_a_descriptor_within_its_storage_is_accepted() -> None:
    check_within(SOURCE, STORAGE_BYTES, "source")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": (4, 10)}, "reaches byte 200 of 152"),
        ({"strides": (1 << 60, 1)}, "reaches byte"),
        ({"shape": (3, 0)}, "a descriptor of shape"),
        ({"strides": (12, 2)}, "a descriptor of shape"),
        ({"strides": (12,)}, "a descriptor of shape"),
        ({"shape": (1,) * 6, "strides": (1,) * 6}, "a descriptor of shape"),
        ({"shape": (), "strides": ()}, "a descriptor of shape"),
    ],
)
def test_descriptors_outside_of_their_storage_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UnsupportedError, match=f"argument source: .*{words}"):
        check_within(msgspec.structs.replace(SOURCE, **changes), STORAGE_BYTES, "source")


def compiled(ttir: str, target: str, folder: Path) -> KernelBinary:
    """The binary of a module for a target."""
    return compile_ttir(BinaryRequest(kernel="copy_blocks", ttir=ttir, options=OPTIONS, target=target), folder)


def test_maps_and_their_sizes_are_parameters_on_hopper(tmp_path: Path) -> None:
    ttir = lowered("sm_90")
    binary = compiled(ttir, "sm_90", tmp_path)
    assert binary.parameters == (128, 4, 4, 8, 8, 128, 4, 4, 8, 8, 4, 8, 8)
    assert binary.maps == (LAYOUT, LAYOUT)
    function = read_module(ttir).kernel
    found = packed(
        function, spread(function, (SOURCE, TARGET, TapedNumber(value=5))), at, binary.parameters[:-2], map_of=map_of
    )
    sizes = struct.pack("<iiqq", 3, 10, 12, 1)
    assert b"".join(found) == b"\1" * 128 + sizes + b"\2" * 128 + sizes + struct.pack("<i", 5)


def test_bases_and_sizes_are_parameters_before_hopper(tmp_path: Path) -> None:
    ttir = lowered("sm_80")
    binary = compiled(ttir, "sm_80", tmp_path)
    function = read_module(ttir).kernel
    assert binary.maps == ()
    values = spread(function, (SOURCE, TARGET, TapedNumber(value=5)))
    found = packed(function, values, at, binary.parameters[:-2], map_of=map_of)
    flags = len(function.arguments) == 2 * 11 + 1  # Triton has no flag of rounding in 3.6
    expected = b"".join(
        struct.pack("<Qqqqq", address, 3, 10, 12, 1)
        + bytes([is_nan, 0] if flags else [is_nan])
        + struct.pack("<iiqq", 3, 10, 12, 1)
        for address, is_nan in ((0x1010, 0), (0x2010, 1))
    )
    assert b"".join(found) == expected + struct.pack("<i", 5)


def test_launch_stores_through_its_own_descriptor(tmp_path: Path) -> None:
    device = _Device(tmp_path)
    assert device.run(SOURCE, TARGET) == LaunchEffects(used=frozenset({0, 1}), stored=frozenset({1}))
    assert device.maps == [(SOURCE, LAYOUT, 0x1010), (TARGET, LAYOUT, 0x2010)]


def test_launch_with_too_large_descriptor_is_refused(tmp_path: Path) -> None:
    device = _Device(tmp_path)
    with pytest.raises(UnsupportedError, match="argument target: a descriptor that reaches byte"):
        device.run(SOURCE, msgspec.structs.replace(TARGET, shape=(300, 10)))
    assert device.launches == 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device: the driver makes tensor maps")
def test_a_descriptor_is_launched_on_a_device(tmp_path: Path) -> None:
    major, minor = torch.cuda.get_device_capability()
    target, device = f"sm_{major}{minor}", torch.device("cuda")
    given = torch.arange(STORAGE_BYTES // 4, dtype=torch.float32, device=device)  # makes the context
    kernels = DeviceKernels(device)
    kernels.hold("k", HeldKernel.of(lowered(target), tuple(SIGNATURE)))
    kernels.hold_binary("k", OPTIONS, compiled(lowered(target), target, tmp_path))
    recorded = recorded_launch(SOURCE, TARGET)
    launch = kernels.launcher(recorded, ("k",))
    memory = DeviceMemory(recorded, [given.view(torch.uint8)], launch=launch, noise=torch.Generator(device))
    memory.put(1, bytes(STORAGE_BYTES))
    memory.launch(recorded.launches[0])
    copied, rest = memory.view(TARGET.base).split([8, 2], dim=1)  # of one block of 4 x 8
    assert torch.equal(copied, memory.view(VIEW)[:, :8])
    assert not rest.any()


class _Device:
    """Compiles for sm_90 and launches nothing, but notes the tensor maps."""

    def __init__(self, folder: Path) -> None:
        self.maps: list[tuple[TapedDescriptor, MapLayout, int]] = []
        self.launches = 0
        self._kernels = DeviceKernels(torch.device("cpu"), load=lambda _: cast(Any, self), encoded=self._encode)
        ttir = lowered("sm_90")
        self._kernels.hold("k", HeldKernel.of(ttir, tuple(SIGNATURE)))
        self._kernels.hold_binary("k", OPTIONS, compiled(ttir, "sm_90", folder))

    def _encode(self, descriptor: TapedDescriptor, layout: MapLayout, address: int) -> bytes:
        self.maps.append((descriptor, layout, address))
        return bytes(128)

    def launch(self, grid: tuple[int, int, int], parameters: tuple[bytes, ...]) -> None:
        self.launches += 1

    def run(self, source: TapedDescriptor, target: TapedDescriptor) -> LaunchEffects:
        recorded = recorded_launch(source, target)
        return self._kernels.launcher(recorded, ("k",))(recorded.launches[0], at)
