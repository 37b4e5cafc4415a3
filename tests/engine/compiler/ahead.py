"""One of the three processes of compiling ahead, as JSON on standard input and output; none of them has a device.

A script, not a module of tests: dry runs, compiling and launching each patch Triton for good.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import torch
from triton import runtime
from triton.compiler import make_backend
from triton.compiler.compiler import ASTSource
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from engine import protocol
from engine.compiler.main import _Compiler
from engine.compiler.offline import OfflineDriver
from engine.compiler.ttir import compile_ttir
from engine.devices.hardware.targets import target_named
from engine.loading import loader
from engine.model import Launch
from engine.protocol import tensors
from engine.protocol.proof.binaries import Prebuilt
from engine.worker.launches import published
from engine.worker.launches.dry_run import DryRun
from engine.worker.launches.tuning import Tuning

TARGET = "sm_90"


def arguments(columns: int) -> tuple[torch.Tensor, int]:
    return torch.zeros(4, columns), -1


def run_dry(path: Path, entry: str, columns: list[int]) -> list[list[Any]]:
    """What the entry would launch for each number of columns."""
    runtime.driver.set_active(OfflineDriver(target_named(TARGET)))
    dry_run = DryRun(torch.device("cpu"), Tuning())
    function, _ = loader.load(path, None, entry)
    answer: list[list[Any]] = []
    for number in columns:
        specs, storages = tensors.lay_out(arguments(number))
        sizes = tuple(storage.numel() for storage in storages)
        command = protocol.RunDry(id="i", case=str(number), arguments=specs, storages=sizes)
        answer.append(msgspec.to_builtins(dry_run.call(function, command).launches))
    return answer


def described(compiler: _Compiler, command: protocol.Compile) -> protocol.AnyReply:
    """The replies to a launch and to the request for its description, as one."""
    reply = compiler.carry_out(command)
    if not command.specialisation or not isinstance(reply, protocol.Compiled):
        return reply
    described = compiler.carry_out(protocol.DescribeCompiled(id=command.id, compiled=command.id, folder=command.folder))
    return msgspec.structs.replace(described, cache=reply.cache)


def compile_all(path: Path, entry: str, launches: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """What the compiler replies to each of these launches."""
    compiler = _Compiler(limits_reading=False)
    replies = [compiler.carry_out(protocol.Load(id="load", path=str(path), folder=None, entry=entry))]
    for number, met in enumerate(launches):
        command = protocol.Compile(
            id=str(number),
            launch=msgspec.convert(met["launch"], Launch),
            target=TARGET,
            folder=str(folder),
            specialisation=met["specialisation"],
        )
        replies.append(described(compiler, command))
    return [msgspec.to_builtins(reply) for reply in replies]


def compile_shared(
    path: Path, entry: str, launches: list[dict[str, Any]], folder: Path, *, warps: int | None, changes_ttir: bool
) -> list[dict[str, Any]]:
    """As `compile_all`, with binaries that are made of the TTIR first.

    `made` is how many binaries the compiles made themselves, `lowered` how often they ran Triton's frontend. With
    `warps` the binaries are made for so many warps, and not for those of the launches; with `changes_ttir` of a module
    with another text.
    """
    compiler = _Compiler(limits_reading=False)
    compiler.carry_out(protocol.Load(id="load", path=str(path), folder=None, entry=entry))
    backend = type(make_backend(OfflineDriver(target_named(TARGET)).get_current_target()))
    make, made = backend.make_cubin, 0
    make_ir, lowered = ASTSource.make_ir, 0

    def count(*args: Any) -> Any:
        nonlocal made
        made += 1
        return make(*args)

    def count_ir(*args: Any) -> Any:
        nonlocal lowered
        lowered += 1
        return make_ir(*args)

    replies = []
    for number, met in enumerate(launches):
        launched = msgspec.convert(met["launch"], Launch)
        module = compiler.carry_out(protocol.Lower(id="lower", launch=launched, target=TARGET, keeps_text=True))
        assert isinstance(module, protocol.Lowered)
        options = protocol.CompileOptions.of(launched)
        if warps is not None:
            options = msgspec.structs.replace(options, num_warps=warps)
        ttir = module.ttir + "\n" if changes_ttir else module.ttir
        request = protocol.BinaryRequest(kernel=launched.kernel, ttir=ttir, options=options, target=TARGET)
        binary = compile_ttir(request, Path(tempfile.mkdtemp(dir=folder)))
        command = protocol.Compile(
            id=str(number), launch=launched, target=TARGET, folder=str(folder), specialisation=met["specialisation"],
            prebuilt=Prebuilt.of(request, binary),
        )  # fmt: skip
        backend.make_cubin, ASTSource.make_ir = count, count_ir
        replies.append(described(compiler, command))
        backend.make_cubin, ASTSource.make_ir = make, make_ir
    return [{**msgspec.to_builtins(reply), "made": made, "lowered": lowered} for reply in replies]


def launch(path: Path, entry: str, columns: list[int], cache_folder: Path) -> int:
    """How many kernels Triton builds itself when the entry launches as far as it can without a device."""
    runtime.driver.set_active(OfflineDriver(target_named(TARGET)))
    published.read_from(cache_folder.with_name("nothing"), cache_folder)
    compiled = 0
    make_ir, run = ASTSource.make_ir, JITFunction.run

    def count(source: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal compiled
        module = make_ir(source, *args, **kwargs)
        compiled += 1
        return module

    def get_ready(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        return run(kernel, *args, grid=grid, warmup=True, **kwargs)

    def once(kernel_call: Callable[[], Any], quantiles: Any) -> list[float]:
        kernel_call()
        return [1.0, 1.0, 1.0]

    ASTSource.make_ir = count
    JITFunction.run = get_ready
    Autotuner.do_bench = property(lambda tuner: once)
    function, _ = loader.load(path, None, entry)
    for number in columns:
        function(*arguments(number))
    return compiled


def main() -> None:
    asked = json.load(sys.stdin)
    path, entry = Path(asked["path"]), asked["entry"]
    match asked["role"]:
        case "run_dry":
            answer: object = run_dry(path, entry, asked["columns"])
        case "compile":
            answer = compile_all(path, entry, asked["launches"], Path(asked["folder"]))
        case "compile shared":
            answer = compile_shared(
                path,
                entry,
                asked["launches"],
                Path(asked["folder"]),
                warps=asked["warps"],
                changes_ttir=asked["changes_ttir"],
            )
        case _:
            answer = launch(path, entry, asked["columns"], Path(asked["cache_folder"]))
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
