"""Registers and spills are read from what the vendors' tools and assemblies say."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.compiler import resources
from engine.compiler.resources import Resources

ASSEMBLY = """
    .amdgpu_metadata
amdhsa.kernels:
  - .agpr_count:     0
    .private_segment_fixed_size: 24
    .sgpr_count:     18
    .vgpr_count:     37
    .vgpr_spill_count: 6
"""


def test_amd_assembly_gives_vector_registers_and_private_bytes() -> None:
    assert resources.of_amdgcn(ASSEMBLY) == Resources(registers=37, spill_bytes=24)


@pytest.mark.parametrize("assembly", ["", "; .vgpr_count:     37\n", ".vgpr_count: many\n"])
def test_assembly_without_resources_leaves_them_unknown(assembly: str) -> None:
    assert resources.of_amdgcn(assembly) == Resources()


def test_nonbinary_file_gives_no_resources(tmp_path: Path) -> None:
    path = tmp_path / "x.cubin"
    path.write_bytes(b"not a binary")
    assert resources.of_cubin(path) == Resources()
    assert resources.disassemble(path) is None


def test_missing_tool_gives_no_resources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.compiler.resources.triton.__file__", str(tmp_path / "triton" / "__init__.py"))
    assert resources.disassemble(tmp_path / "x.cubin") is None
    assert resources.of_cubin(tmp_path / "x.cubin") == Resources()
