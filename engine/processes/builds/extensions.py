"""Builds CUDA and C++ extensions of candidates in compilers that load no candidate, and publishes them to workers.

A build depends on its request alone, and its compiler exits afterwards, so no candidate can affect the build of
another. Built libraries are kept until the engine closes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine import protocol
from engine.errors import ChildDiedError, EngineError
from engine.processes.warm_pool import PooledProcess, WarmPool
from engine.protocol.extensions import LIBRARY
from engine.sandbox.untrusted_files import UntrustedFileError, read_untrusted

_BUILD_S = 600.0  # CPU time of all compilers of a build; torch's headers alone take about 20 s per file
_MOST_KEPT = 128
_MOST_LIBRARY_BYTES, _MOST_CODE_BYTES = 256 << 20, 64 << 20
_NVIDIA = "sm_"
_DEFAULT_HOME = "/usr/local/cuda"


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """Paths of this machine's compilers and of compute-sanitizer; "" for a missing one."""

    nvcc: str = ""
    cxx: str = ""
    sanitizer: str = ""


def find_toolchain(environment: Mapping[str, str]) -> Toolchain:
    """The compilers that torch would use: nvcc of CUDA_HOME or PATH, CXX or c++; the sanitizer beside nvcc."""
    path = environment.get("PATH", "")
    homes = [environment[name] for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)]
    places = [*(f"{home}/bin" for home in homes), path, f"{_DEFAULT_HOME}/bin"]
    nvcc = shutil.which("nvcc", path=os.pathsep.join(places)) or ""
    inside = [f"{home}/compute-sanitizer" for home in (*homes, _DEFAULT_HOME)]
    sanitizer = shutil.which("compute-sanitizer", path=os.pathsep.join([*places, *inside])) or ""
    cxx = next((found for name in (environment.get("CXX"), "c++", "g++")
                if name and (found := shutil.which(name, path=path))), "")  # fmt: skip
    return Toolchain(nvcc=nvcc, cxx=cxx, sanitizer=sanitizer)


@dataclass(frozen=True, kw_only=True)
class ExtensionBuild:
    """Result of a build: `output` of the tool that failed, or ptxas figures of the kernels, and their code."""

    is_built: bool
    output: str = ""
    kernels: tuple[protocol.NativeKernel, ...] = ()
    cubin: bytes = b""
    sass: bytes = b""


class Extensions:
    """Builds extensions into `folder`, each once; CUDA code only where `target` is an NVIDIA GPU."""

    def __init__(self, *, spare: WarmPool, folder: Path, target: str | None, toolchain: Toolchain) -> None:
        self._spare = spare
        self._folder = folder
        self._target = target if target is not None and target.startswith(_NVIDIA) else None
        self._toolchain = toolchain
        self._builds: dict[str, ExtensionBuild] = {}

    @property
    def access(self) -> protocol.ExtensionAccess:
        """Folders of built extensions for workers, and the reasons why further ones cannot be built here."""
        no_cxx = "" if self._toolchain.cxx else "no C++ compiler (install g++, or name one in CXX)"
        no_nvcc = "" if self._toolchain.nvcc else "no nvcc (install the CUDA toolkit, or set CUDA_HOME)"
        no_device = "" if self._target else "CUDA code requires an NVIDIA GPU, and this device is not one"
        return protocol.ExtensionAccess(folder=str(self._folder), no_cuda=no_nvcc or no_device or no_cxx, no_cpp=no_cxx)

    def refusal(self, *, with_cuda: bool) -> str:
        """Reason why such an extension cannot be built here; "" if it can."""
        return self.access.no_cuda if with_cuda else self.access.no_cpp

    async def build(self, request: protocol.ExtensionRequest, candidate: Path | None) -> ExtensionBuild:
        """Build and publish an extension of a candidate from the folder `candidate`, unless it exists already.

        Raises:
            EngineError: the compilers crashed, timed out, or could not be started.
            OSError: the library could not be written.
        """
        key = request.key
        if key not in self._builds:
            process = await self._spare.take()
            try:
                build = await self._build(process, request, candidate)
            finally:
                await process.end()
            self._keep(key, build)
        return self._builds[key]

    async def _build(
        self, process: PooledProcess, request: protocol.ExtensionRequest, candidate: Path | None
    ) -> ExtensionBuild:
        folder = process.workspace.folder / "build"
        command = protocol.BuildExtension(
            id=protocol.new_id(),
            request=request,
            target=self._target or "",
            folder=str(folder),
            nvcc=self._toolchain.nvcc,
            cxx=self._toolchain.cxx,
            readable=process.workspace.view_of(candidate).readable,
        )
        reply = await process.child.ask(command, deadline_s=_BUILD_S)
        if isinstance(reply, protocol.Failed):
            raise EngineError(f"extension {request.name!r} could not be built: {reply.message}")
        if not isinstance(reply, protocol.ExtensionBuilt):
            raise ChildDiedError(f"the compiler answered a build with {type(reply).__name__}")
        if not reply.library:
            return ExtensionBuild(is_built=False, output=reply.output)
        try:
            library = read_untrusted(folder / Path(reply.library).name, max_bytes=_MOST_LIBRARY_BYTES)
        except UntrustedFileError as error:
            raise EngineError(f"the library of extension {request.name!r} could not be loaded: {error}") from error
        self._publish(request.key, library)
        return ExtensionBuild(
            is_built=True,
            output=reply.output,
            kernels=reply.kernels,
            cubin=_content(folder, reply.cubin),
            sass=_content(folder, reply.sass),
        )

    def _publish(self, key: str, library: bytes) -> None:
        place = self._folder / key
        place.mkdir(mode=0o755, exist_ok=True)
        unfinished = place / f"{LIBRARY}.unfinished"
        unfinished.write_bytes(library)
        unfinished.chmod(0o755)
        unfinished.rename(place / LIBRARY)

    def _keep(self, key: str, build: ExtensionBuild) -> None:
        while len(self._builds) >= _MOST_KEPT:
            oldest = next(iter(self._builds))
            del self._builds[oldest]
            shutil.rmtree(self._folder / oldest, ignore_errors=True)
        self._builds[key] = build


def _content(folder: Path, name: str) -> bytes:
    """Content of a file beside the library; empty if it is missing or unreadable."""
    try:
        return read_untrusted(folder / Path(name).name, max_bytes=_MOST_CODE_BYTES) if name else b""
    except UntrustedFileError:
        return b""
