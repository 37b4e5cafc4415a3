"""How many compilers an engine has."""

from __future__ import annotations

import os

import pytest

from engine.processes.builds.counts import has_idle_cores, most_compilers, most_module_compilers


@pytest.mark.parametrize(
    ("cores", "gib", "compilers", "modules"),
    [(1, 128, 1, 40), (2, 24, 1, 1), (8, 32, 6, 6), (16, 128, 14, 40), (64, 63, 14, 14)],
)
def test_a_device_has_one_module_compiler_per_module_of_a_run(
    monkeypatch: pytest.MonkeyPatch, cores: int, gib: int, compilers: int, modules: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": gib << 18}.get)
    assert (most_compilers(interpreted=False), most_module_compilers()) == (compilers, modules)


@pytest.mark.parametrize(("cores", "idle", "compilers"), [(1, False, 1), (2, False, 1), (4, True, 3), (16, True, 8)])
def test_compilers_on_the_cpu_leave_a_core(
    monkeypatch: pytest.MonkeyPatch, cores: int, idle: bool, compilers: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert (has_idle_cores(), most_compilers(interpreted=True)) == (idle, compilers)
