"""Builds one extension from its texts to a library, with the figures of its kernels by ptxas and the disassembler."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine import protocol
from engine.compiler import resources
from engine.compiler.native.commands import compile_command, link_command
from engine.compiler.native.tools import Completed, Run, run_tool
from engine.compiler.native.units import Unit, units_of
from engine.model.native import NativeLanguage
from engine.protocol.extensions import MOST_KERNELS_BUILT
from engine.protocol.messages import MOST_TEXT

_LIBRARY, _CUBIN, _SASS = "extension.so", "extension.cubin", "extension.sass"
_MOST_UNITS_AT_ONCE = 4
_KILLED_STATUS = 128  # exit status of a shell or compiler driver whose child was killed by signal N: 128 + N
_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '(\w+)'")
_STACK = re.compile(r"(\d+) bytes stack frame")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_OF_PTXAS = re.compile(r"^(?:ptxas info|\s+\d+ bytes stack frame)")


def build(command: protocol.BuildExtension, *, run: Run = run_tool) -> protocol.AnyReply:
    """The library, or the output of the tool that refused it; a tool that was killed is an engine error."""
    folder = Path(command.folder)
    folder.mkdir(exist_ok=True)
    units = tuple(units_of(command.request))
    for unit in units:
        (folder / unit.filename).write_text(unit.text, encoding="utf-8")
    objects = [f"{unit.filename}.o" for unit in units]
    with ThreadPoolExecutor(max_workers=_MOST_UNITS_AT_ONCE) as threads:
        commands = [compile_command(command, unit.language, unit.filename, f"{unit.filename}.o") for unit in units]
        compiled = list(threads.map(lambda arguments: run(arguments, folder), commands))
    failed = [done for done in compiled if done.status]
    if failed:
        return _failed(command, failed)
    linked = run(link_command(command, objects, _LIBRARY), folder)
    if linked.status:
        return _failed(command, [linked])
    kernels = tuple(itertools.islice(_kernels(compiled, command.target), MOST_KERNELS_BUILT))
    cubin, sass = _disassembled(folder, units) if kernels else ("", "")
    output = _said("\n".join(done.output for done in compiled))
    return protocol.ExtensionBuilt(
        id=command.id, library=_LIBRARY, output=output, kernels=kernels, cubin=cubin, sass=sass
    )


def _failed(command: protocol.BuildExtension, failed: Sequence[Completed]) -> protocol.AnyReply:
    if any(done.status < 0 or done.status > _KILLED_STATUS for done in failed):
        message = f"a compiler was killed by the system while it built {command.request.name} (out of memory?)"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=message)
    output = _said("\n".join(done.output for done in failed)) or f"exit status {failed[0].status} without a message"
    return protocol.ExtensionBuilt(id=command.id, output=output)


def _said(output: str) -> str:
    """Output of the compilers without the resources of kernels, cut to the limit of a message."""
    lines = (line for line in output.splitlines() if line.strip() and not _OF_PTXAS.match(line))
    return "\n".join(lines)[:MOST_TEXT].encode("utf-8", "backslashreplace").decode()[:MOST_TEXT]


def _kernels(compiled: Sequence[Completed], target: str) -> Iterator[protocol.NativeKernel]:
    """The kernels that ptxas compiled for the target, each with its lines up to the next."""
    for done in compiled:
        entries = list(_ENTRY.finditer(done.output))
        for entry, following in itertools.zip_longest(entries, entries[1:]):
            if entry.group(2) == target:
                end = following.start() if following is not None else len(done.output)
                yield _kernel(entry.group(1), done.output[entry.end() : end])


def _kernel(symbol: str, report: str) -> protocol.NativeKernel:
    used = _USED.search(report)
    stack = _STACK.search(report)
    shared = _SHARED.search(report)
    return protocol.NativeKernel(
        symbol=symbol[:MOST_TEXT],
        registers=int(used.group(1)) if used else None,
        spill_bytes=int(stack.group(1)) if stack else None,
        shared_bytes=int(shared.group(1)) if shared else 0 if used else None,
    )


def _disassembled(folder: Path, units: Sequence[Unit]) -> tuple[str, str]:
    """File names of the machine code and of its text; "" if the tools for it are missing."""
    unit = next((unit for unit in units if unit.language is NativeLanguage.CUDA), None)
    if unit is None:
        return "", ""
    place = folder / "cubins"
    place.mkdir()
    cubins = resources.extract_cubins(folder / f"{unit.filename}.o", place)
    if not cubins:
        return "", ""
    cubins[0].rename(folder / _CUBIN)
    text = resources.disassemble(folder / _CUBIN)
    if text is None:
        return _CUBIN, ""
    (folder / _SASS).write_text(text, encoding="utf-8")
    return _CUBIN, _SASS
