"""Names of targets, their limits, and the nearest name to a wrong one."""

from __future__ import annotations

import pytest

from engine.devices.hardware.targets import (
    DEFAULT_TARGET,
    KNOWN_TARGETS,
    Target,
    asked_target,
    target_named,
)
from engine.errors import UsageError

_GRID = (2**31 - 1, 65_535, 65_535)  # of every NVIDIA GPU: CUDA C++ Programming Guide, Compute Capabilities


@pytest.mark.parametrize("name", KNOWN_TARGETS)
def test_every_known_target_has_a_limit(name: str) -> None:
    target = target_named(name)
    assert target.name == name
    assert target.backend == ("cuda" if name.startswith("sm_") else "hip")
    assert target.shared_bytes in {kib * 1024 for kib in (64, 99, 160, 163, 227)}


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("sm_90", Target(name="sm_90", backend="cuda", architecture=90, warp_size=32, shared_bytes=232448, grid=_GRID)),
        (
            "sm_120",
            Target(name="sm_120", backend="cuda", architecture=120, warp_size=32, shared_bytes=101376, grid=_GRID),
        ),
        ("gfx942", Target(name="gfx942", backend="hip", architecture="gfx942", warp_size=64, shared_bytes=65536)),
        ("gfx90a", Target(name="gfx90a", backend="hip", architecture="gfx90a", warp_size=64, shared_bytes=65536)),
        ("gfx1100", Target(name="gfx1100", backend="hip", architecture="gfx1100", warp_size=32, shared_bytes=65536)),
    ],
)
def test_target_is_named_in_tritons_form(name: str, target: Target) -> None:
    assert target_named(name) == target


@pytest.mark.parametrize("name", ["sm_70", "sm_101", "sm_110", "gfx906", "gfx1030", "gfx1151", "gfx1250"])
def test_target_of_some_triton_versions_has_no_limit(name: str) -> None:
    assert asked_target(name) == target_named(name)
    assert asked_target(name).shared_bytes is None


@pytest.mark.parametrize("name", KNOWN_TARGETS)
def test_every_known_target_can_be_requested(name: str) -> None:
    assert asked_target(name) == target_named(name)


@pytest.mark.parametrize("name", ["sm_999", "sm_88", "sm_91", "sm_130", "gfx999", "gfx940"])
def test_target_unknown_to_triton_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked_target(name)
    known = ", ".join(KNOWN_TARGETS)
    assert str(refused.value) == f"unsupported target {name!r}; use one of {known}"


def test_device_may_be_newer_than_known_targets() -> None:
    assert target_named("sm_130") == Target(
        name="sm_130", backend="cuda", architecture=130, warp_size=32, shared_bytes=None, grid=_GRID
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [("sm90", "sm_90"), ("SM_90", "sm_90"), ("sm_90a", "sm_90"), ("gfx-942", "gfx942"), ("sm_9", "sm_90")],
)
def test_a_wrong_name_suggests_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        target_named(name)
    assert str(refused.value) == f"unknown target {name!r}: expected sm_NN or gfxNNN; did you mean {hint}?"


@pytest.mark.parametrize("name", ["", "hopper", "x" * 100])
def test_a_name_that_is_near_nothing_lists_all(name: str) -> None:
    with pytest.raises(UsageError) as refused:
        target_named(name)
    assert str(refused.value).endswith(f"; use one of {', '.join(KNOWN_TARGETS)}")


def test_the_default_is_known() -> None:
    assert DEFAULT_TARGET in KNOWN_TARGETS
