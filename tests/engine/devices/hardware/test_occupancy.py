"""Registers, shared memory and warps in, resident warps and what limits them out."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from engine.devices.hardware.occupancy import Limit, Occupancy, occupancy
from engine.devices.hardware.targets import KNOWN_TARGETS, target_named
from engine.model import CompiledKernel, Launch, Outcome

NVIDIA_TARGETS = [target for target in KNOWN_TARGETS if target.startswith("sm_")]


def kernel(
    target: str = "sm_90",
    *,
    registers: int | None = 32,
    shared_bytes: int | None = 0,
    warps: int = 4,
    outcome: Outcome = Outcome.PASS,
    options: Mapping[str, str] | None = None,
) -> CompiledKernel:
    launch = Launch(
        kernel="k",
        signature={},
        constants={},
        divisible_by_16=(),
        num_warps=warps,
        num_stages=3,
        grid=(1,),
        line=1,
        options=options or {},
    )
    return CompiledKernel(
        launch=launch, target=target, outcome=outcome, elapsed_s=0.1, registers=registers, shared_bytes=shared_bytes
    )


def found(target: str = "sm_90", **resources: int) -> Occupancy:
    occupied = occupancy(kernel(target, **resources))  # type: ignore[arg-type]
    assert occupied is not None
    return occupied


def test_a_small_kernel_fills_the_multiprocessor() -> None:
    assert found() == Occupancy(blocks=16, warps=64, max_warps=64, limited_by=Limit.WARPS)
    assert found().percent == 100.0


# Blocks as NVIDIA's cuda_occupancy.h of CUDA 13.0 computes them for the same resources.
@pytest.mark.parametrize(
    ("target", "registers", "shared_bytes", "warps", "blocks", "limit"),
    [
        ("sm_90", 255, 0, 4, 2, Limit.REGISTERS),
        ("sm_90", 168, 0, 4, 3, Limit.REGISTERS),
        ("sm_90", 128, 0, 8, 2, Limit.REGISTERS),
        ("sm_90", 32, 0, 1, 32, Limit.BLOCKS),
        ("sm_90", 32, 116736 - 1024, 4, 2, Limit.SHARED_MEMORY),
        ("sm_90", 32, 116736 - 1023, 4, 1, Limit.SHARED_MEMORY),
        ("sm_90", 32, 232448, 8, 1, Limit.SHARED_MEMORY),
        ("sm_90", 32, 32256, 4, 7, Limit.SHARED_MEMORY),
        ("sm_90", 32, 32257, 4, 6, Limit.SHARED_MEMORY),  # a 128-byte step more, for each of seven
        ("sm_80", 64, 0, 4, 8, Limit.REGISTERS),
        ("sm_80", 32, 49152, 4, 3, Limit.SHARED_MEMORY),
        ("sm_86", 32, 0, 4, 12, Limit.WARPS),
        ("sm_86", 32, 0, 2, 16, Limit.BLOCKS),
        ("sm_89", 32, 0, 2, 24, Limit.WARPS),
        ("sm_89", 32, 0, 1, 24, Limit.BLOCKS),
        ("sm_89", 200, 16888, 2, 4, Limit.REGISTERS),
        ("sm_89", 168, 16888, 2, 5, Limit.SHARED_MEMORY),
        ("sm_87", 32, 0, 2, 16, Limit.BLOCKS),
        ("sm_75", 64, 0, 4, 8, Limit.WARPS),
        ("sm_75", 32, 32768, 4, 2, Limit.SHARED_MEMORY),
        ("sm_100", 32, 0, 4, 16, Limit.WARPS),
        ("sm_103", 64, 65536, 4, 3, Limit.SHARED_MEMORY),
        ("sm_120", 32, 0, 4, 12, Limit.WARPS),
        ("sm_120", 40, 0, 1, 24, Limit.BLOCKS),
        ("sm_121", 128, 0, 4, 4, Limit.REGISTERS),
    ],
)
def test_fitting_blocks_and_their_limit_are_computed(
    target: str, registers: int, shared_bytes: int, warps: int, blocks: int, limit: Limit
) -> None:
    occupied = found(target, registers=registers, shared_bytes=shared_bytes, warps=warps)
    assert (occupied.blocks, occupied.warps, occupied.limited_by) == (blocks, blocks * warps, limit)


def test_one_register_more_can_cost_a_block() -> None:
    assert found(registers=64).blocks == 8
    assert found(registers=65).blocks == 7


def test_registers_are_limited_per_partition() -> None:
    # 160 registers: 5120 a warp, 3 in each of 4 partitions, although 12.8 would fit into all of them together.
    assert found(registers=160, warps=1).warps == 12


def test_more_warps_than_the_multiprocessor_has_never_fit() -> None:
    assert found("sm_75", warps=64) == Occupancy(blocks=0, warps=0, max_warps=32, limited_by=Limit.WARPS)


def test_block_needing_too_many_registers_never_fits() -> None:
    occupied = found(registers=255, warps=16)
    assert (occupied.blocks, occupied.limited_by, occupied.percent) == (0, Limit.REGISTERS, 0.0)


@pytest.mark.parametrize("target", NVIDIA_TARGETS)
def test_largest_launchable_block_fits_exactly_once(target: str) -> None:
    largest = target_named(target).shared_bytes
    assert largest is not None
    assert found(target, shared_bytes=largest).blocks == 1
    beyond = found(target, shared_bytes=largest + 1)
    assert (beyond.blocks, beyond.limited_by) == (0, Limit.SHARED_MEMORY)


def test_equal_limits_name_the_hardware_limit() -> None:
    assert found(registers=32, warps=4).limited_by is Limit.WARPS  # registers allow 16 blocks too
    assert found("sm_86", registers=32, warps=3).limited_by is Limit.WARPS  # as do 16 blocks


@pytest.mark.parametrize("target", NVIDIA_TARGETS)
def test_every_nvidia_target_has_an_occupancy(target: str) -> None:
    assert found(target).blocks > 0


@pytest.mark.parametrize("target", ["sm_70", "sm_999", "gfx942", "gfx1100", "", "cpu"])
def test_a_target_without_a_row_has_none(target: str) -> None:
    assert occupancy(kernel(target)) is None


@pytest.mark.parametrize(
    "unknown",
    [
        kernel(registers=None),
        kernel(shared_bytes=None),
        kernel(outcome=Outcome.COMPILE_ERROR),
        kernel(outcome=Outcome.UNSUPPORTED),
        kernel(options={"num_ctas": "2"}),
        kernel(warps=0),
        kernel(warps=-4),
    ],
)
def test_kernel_with_unknown_resources_has_no_occupancy(unknown: CompiledKernel) -> None:
    assert occupancy(unknown) is None


def test_one_block_to_a_cluster_is_no_cluster() -> None:
    assert occupancy(kernel(options={"num_ctas": "1"})) == occupancy(kernel())


def test_kernel_without_registers_is_limited_by_hardware() -> None:
    assert found(registers=0).limited_by is Limit.WARPS


def test_kernel_with_unknown_warps_has_no_occupancy() -> None:
    assert occupancy(kernel(warps=0)) is None
