"""Resources of a compiled kernel, read by the vendor's own tools from the binary itself."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import triton

_TOOL_S = 600.0  # a guard: the parent counts the time of this process and of its tools


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Registers a thread and bytes of thread-local memory (spills and stack); None where not reported."""

    registers: int | None = None
    spill_bytes: int | None = None


def of_cubin(cubin: Path) -> Resources:
    """From the resource table of an NVIDIA binary."""
    text = _run("cuobjdump", "-res-usage", str(cubin))
    match = re.search(r"REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", text or "")
    if match is None:
        return Resources()
    registers, stack_bytes, local_bytes = map(int, match.groups())
    return Resources(registers=registers, spill_bytes=stack_bytes + local_bytes)


def extract_cubins(library: Path, folder: Path) -> tuple[Path, ...]:
    """The NVIDIA binaries inside an object file or library, written to an empty folder; none if the tool fails."""
    _run("cuobjdump", "-xelf", "all", str(library), cwd=folder)
    return tuple(sorted(folder.glob("*.cubin")))


def of_amdgcn(assembly: str) -> Resources:
    """From the metadata notes at the end of AMD assembly."""
    registers = re.search(r"^\s*\.vgpr_count:\s*(\d+)", assembly, re.MULTILINE)
    spilled = re.search(r"^\s*\.private_segment_fixed_size:\s*(\d+)", assembly, re.MULTILINE)
    return Resources(
        registers=int(registers.group(1)) if registers else None,
        spill_bytes=int(spilled.group(1)) if spilled else None,
    )


def disassemble(cubin: Path) -> str | None:
    """SASS with the source lines as comments, or None when the tool is missing or fails."""
    return _run("nvdisasm", "-c", "-g", str(cubin))


def _run(tool: str, *arguments: str, cwd: Path | None = None) -> str | None:
    program = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / tool
    try:
        done = subprocess.run(
            [str(program), *arguments], capture_output=True, text=True, timeout=_TOOL_S, check=True, cwd=cwd
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
