"""The compiler's main loop: import a candidate, compile its launches one by one, disassemble on request."""

from __future__ import annotations

import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import msgspec
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

from engine import protocol
from engine.compiler import native, offline, resources
from engine.compiler.candidate_kernels import CandidateKernels
from engine.compiler.kept_texts import KeptTexts
from engine.compiler.native.folders import toolchain_folders
from engine.compiler.offsets import line_of_narrow_offset
from engine.compiler.options import triton_options
from engine.compiler.specialise import argument_names, specialise
from engine.compiler.stages import taking
from engine.compiler.ttir import compile_ttir
from engine.devices.hardware.targets import Target, target_named
from engine.errors import EngineError, UnsupportedError
from engine.loading import failures, loader, warm_kernel
from engine.loading.extensions import serve_extensions
from engine.loading.frontend.kernel_state import state_of
from engine.loading.frontend.lowering import lowered_text_of
from engine.loading.frontend.replaced import FrontendFunctions
from engine.loading.frontend.shared_text import mark_folder
from engine.loading.frontend.variants import Variants
from engine.protocol.compiling import WarmUp
from engine.protocol.proof.binaries import digest_of, without_folders
from engine.protocol.proof.tape import MOST_MODULE_CHARACTERS
from engine.protocol.transport.service import MessagePipes
from engine.sandbox.confinement import Measure, limit_memory
from engine.sandbox.priority import NICEST, raise_niceness
from engine.sandbox.readable_files import limit_reading

_NICER = 5  # many compilers must not slow down the process that computes
_MESSAGE_CHARACTERS = 300
_MOST_UNDESCRIBED = 8
_STAGES = ("ttir", "ttgir", "llir", "ptx", "amdgcn", "cubin", "hsaco")

# Triton's kernels and compiled objects are not typed: they are Any throughout this file.


def serve(commands: int, replies: int, in_force: tuple[str, ...]) -> None:
    """Warm up, report that, and carry out commands."""
    warnings.simplefilter("ignore")  # Triton's advice to authors of compilers is not the candidate's log
    raise_niceness(_NICER)
    pipes = MessagePipes(commands, replies)
    compiler = _Compiler(limits_reading=Measure.READING in in_force)
    versions = {"triton": triton.__version__}
    pipes.reply(
        protocol.Ready(id="ready", confinement=in_force, versions=versions, launchers_for=offline.launchers_for())
    )
    pipes.serve(compiler.carry_out)


def warm_up(target: str) -> None:
    """Compile something small, so that later compiles of this process and its forks are faster."""
    source = ASTSource(warm_kernel.copy, warm_kernel.SIGNATURE, warm_kernel.CONSTANTS, {})
    _compile(source, target_named(target), {})


class _Compiler:
    def __init__(self, *, limits_reading: bool) -> None:
        self._limits_reading = limits_reading
        self._kernels = CandidateKernels()
        self._filename = ""
        self._cache = offline.CacheFolder()
        self._kept_texts = KeptTexts()
        self._variants = Variants()
        self._frontend = FrontendFunctions()
        self._undescribed: dict[str, Any] = {}  # compiled kernels of expected launches, by the id of their command

    def carry_out(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        try:
            match command:
                case protocol.Load():
                    self._filename = command.path
                    folder = Path(command.folder) if command.folder is not None else None
                    if self._limits_reading:
                        limit_reading(command.readable, listed=command.listed)
                    if command.extensions is not None:
                        serve_extensions(command.extensions)
                    modules = Path(command.modules) if command.modules is not None else None
                    loader.load(Path(command.path), folder, command.entry, modules)
                    return protocol.Done(id=command.id)
                case protocol.Compile():
                    return self._compile_launch(command)
                case protocol.DescribeCompiled():
                    return self._describe_compiled(command)
                case protocol.Lower():
                    return self._lower(command)
                case protocol.BuildLauncher():
                    offline.build_launcher(command.types, target_named(command.target))
                    return protocol.Compiled(id=command.id, stages={}, cache=self._cache.new_files())
                case protocol.Disassemble():
                    return _disassemble(command)
                case protocol.BuildExtension():
                    return self._build(command)
                case protocol.BuildBinary():
                    return self._build_binary(command)
                case WarmUp():
                    return self._warm_up(command)
        except UnsupportedError as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=str(error))
        except EngineError as error:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=str(error))
        except BaseException as error:  # process boundary: the candidate's top-level code ran here
            failed = failures.failure(command.id, error, self._filename)
            if not isinstance(command, protocol.Load) and _is_of_the_machine(error):
                return msgspec.structs.replace(failed, kind=protocol.FailureKind.ENGINE)
            return failed
        message = f"a compiler does not carry out {type(command).__name__}"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.ENGINE, message=message)

    def _compile_launch(self, command: protocol.Compile) -> protocol.AnyReply:
        launch, target = command.launch, target_named(command.target)
        kernel = self._kernels.of_launch(launch)
        try:
            if command.specialisation:
                compiled = offline.compile_launch(
                    kernel, command.specialisation, target, command.prebuilt, self._kept_texts
                )
            else:
                special = specialise(kernel, launch, self._kernels.constant)
                source = ASTSource(kernel, special.signature, special.constants, special.attributes)
                gpu = GPUTarget(target.backend, target.architecture, target.warp_size)
                with taking(command.prebuilt, gpu, self._kept_texts):
                    compiled = _compile(source, target, triton_options(protocol.CompileOptions.of(launch)))
        except UnsupportedError:
            raise
        except Exception as error:  # Triton raises what LLVM, MLIR and ptxas make of it: every kind is the candidate's
            return self._refused(command.id, error)
        shared_bytes = int(compiled.metadata.shared)
        if target.shared_bytes is not None and shared_bytes > target.shared_bytes:
            message = f"needs {shared_bytes} bytes of shared memory, {target.name} has {target.shared_bytes} a block"
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.COMPILE, message=message)
        if command.specialisation:
            self._undescribed[command.id] = compiled
            if len(self._undescribed) > _MOST_UNDESCRIBED:
                del self._undescribed[next(iter(self._undescribed))]
            return protocol.Compiled(id=command.id, stages={}, cache=self._cache.new_files())
        return _described(command, compiled, self._filename)

    def _describe_compiled(self, command: protocol.DescribeCompiled) -> protocol.AnyReply:
        compiled = self._undescribed.pop(command.compiled, None)
        if compiled is None:
            raise EngineError("this compiler has not compiled that launch")
        return _described(command, compiled, self._filename)

    def _lower(self, command: protocol.Lower) -> protocol.AnyReply:
        launch, target = command.launch, target_named(command.target)
        kernel = self._kernels.of_launch(launch)
        try:
            special = specialise(kernel, launch, self._kernels.constant)
            source = ASTSource(kernel, special.signature, special.constants, special.attributes)
            gpu = GPUTarget(target.backend, target.architecture, target.warp_size)
            options = make_backend(gpu).parse_options(triton_options(protocol.CompileOptions.of(launch)))
            kept = lowered_text_of(source, gpu, options) if command.keeps_text else None
            ttir = kept.ttir if kept is not None else self._variants.ttir_of(source, gpu, options)
        except UnsupportedError:
            raise
        except Exception as error:  # handled like an error of a compilation
            return self._refused(command.id, error)
        text = without_folders(ttir)
        if kept is not None:
            self._kept_texts.keep(source, gpu, options, kept, digest=digest_of(text))
        if len(text) > MOST_MODULE_CHARACTERS:
            raise UnsupportedError(f"the TTIR of {launch.kernel} has {len(text):,} characters")
        is_shared = bool(command.shares) and len(ttir) <= MOST_MODULE_CHARACTERS
        if is_shared and (command.shares != state_of(source) or self._frontend.are_replaced()):
            is_shared = False  # a worker may lower another text
        shared = mark_folder(ttir, Path(self._filename).parents[1]) if is_shared else ""
        return protocol.Lowered(id=command.id, ttir=text, arguments=tuple(argument_names(special)), shared=shared)

    def _build(self, command: protocol.BuildExtension) -> protocol.AnyReply:
        if self._limits_reading:
            limit_reading((*command.readable, *toolchain_folders(command)))
        return native.build(command)

    def _build_binary(self, command: protocol.BuildBinary) -> protocol.AnyReply:
        if self._filename:
            raise EngineError("a compiler that has loaded a candidate builds no binaries of modules")
        if self._limits_reading:
            limit_reading(command.readable)
        limit_memory(command.memory_bytes)
        return protocol.BinaryBuilt(id=command.id, binary=compile_ttir(command.request, Path(tempfile.mkdtemp())))

    def _warm_up(self, command: WarmUp) -> protocol.AnyReply:
        if self._filename:
            raise EngineError("a compiler that has loaded a candidate is in use")
        warm_up(command.target)
        self._cache.new_files()  # they belong to no candidate
        return protocol.Done(id=command.id)

    def _refused(self, identifier: str, error: BaseException) -> protocol.Failed:
        failure_reply = failures.failure(identifier, error, self._filename)
        message = " ".join(failure_reply.message.split())[:_MESSAGE_CHARACTERS]
        kind = protocol.FailureKind.ENGINE if _is_of_the_machine(error) else protocol.FailureKind.COMPILE
        return msgspec.structs.replace(failure_reply, kind=kind, message=message)


def _is_of_the_machine(error: BaseException) -> bool:
    """Whether memory, files or a killed tool ended the compile, and not the kernel.

    Python's own OSError of a source that cannot be found has no error number.
    """
    tool = error.__context__  # Triton raises its own error while it handles that of ptxas
    if isinstance(tool, subprocess.CalledProcessError) and tool.returncode < 0:
        return True
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    return isinstance(root, MemoryError) or (isinstance(root, OSError) and root.errno is not None)


def _compile(source: ASTSource, target: Target, options: dict[str, object]) -> Any:
    return triton.compile(
        source, target=GPUTarget(target.backend, target.architecture, target.warp_size), options=options
    )


def _described(
    command: protocol.Compile | protocol.DescribeCompiled, compiled: Any, filename: str
) -> protocol.Compiled:
    """Write the stages to the command's folder and read the resources of the binary."""
    folder = Path(command.folder)
    stages: dict[str, str] = {}
    for stage in _STAGES:
        content = compiled.asm.get(stage)
        if content is not None:
            name = f"{command.id}.{stage}"
            (folder / name).write_bytes(content if isinstance(content, bytes) else str(content).encode())
            stages[stage] = name
    used = resources.Resources()
    if "cubin" in stages:
        used = resources.of_cubin(folder / stages["cubin"])
    elif "amdgcn" in stages:
        used = resources.of_amdgcn(str(compiled.asm["amdgcn"]))
    return protocol.Compiled(
        id=command.id,
        stages=stages,
        registers=used.registers,
        spill_bytes=used.spill_bytes,
        shared_bytes=int(compiled.metadata.shared),
        narrow_offset_line=line_of_narrow_offset(str(compiled.asm.get("ttir", "")), filename),
    )


def _disassemble(command: protocol.Disassemble) -> protocol.AnyReply:
    path = Path(command.folder) / command.cubin
    raise_niceness(NICEST)  # lowest priority: no caller waits for it, and it must not delay the next save
    text = resources.disassemble(path)
    if text is None:
        message = "nvdisasm is missing from this triton, or refused the binary"
        return protocol.Failed(id=command.id, kind=protocol.FailureKind.UNSUPPORTED, message=message)
    name = path.with_suffix(".sass").name
    (path.parent / name).write_text(text)
    return protocol.Compiled(id=command.id, stages={"sass": name})
