"""Compiles a kernel for the CPU: its TTIR replaces Triton's compiled kernel.

`Frontend.install` replaces Triton's `compile`.  Figures of a binary, such as registers, raise
`NotCompiledError`, so that host code that needs them is reported as needing a GPU.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from typing import Any

import triton
from triton import runtime
from triton.backends.compiler import GPUTarget
from triton.compiler import compiler
from triton.compiler.compiler import CompiledKernel, make_backend

from engine.loading.frontend.kernel_state import state_of
from engine.loading.frontend.variants import Variants
from engine.loading.raised import InterpreterLimitError
from engine.worker.cpu_driver.shared_modules import SharedModules

# Triton's compiler is not typed: sources, options and kernels are Any throughout this file.

_NO_TEXTS_OF_OTHERS = "triton.compile of a file needs a GPU; on the CPU only @triton.jit functions are compiled"


class NotCompiledError(InterpreterLimitError, AttributeError):
    """A figure of compiled code was requested.  An AttributeError too, so that `getattr` with a default works."""


class MissingStageError(InterpreterLimitError, KeyError):
    """The text of a stage behind TTIR was requested."""

    def __str__(self) -> str:
        return str(self.args[0])


class Stages(dict[str, str]):
    """The texts of a kernel by stage; only TTIR exists."""

    def __missing__(self, stage: str) -> str:
        raise MissingStageError(f"kernels are not compiled to {stage} on the CPU, only to TTIR; use a GPU")


class Metadata:
    """Launch options of a specialisation, as attributes; figures of compiled code raise `NotCompiledError`."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.__dict__.update(fields)

    def _asdict(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __getattr__(self, name: str) -> Any:
        raise NotCompiledError(f"kernels are compiled to TTIR only on the CPU, which has no {name}; use a GPU")


class TtirKernel(CompiledKernel):  # type: ignore[misc]  # of Triton, which is not typed
    """One specialisation of a kernel; launching it runs its TTIR."""

    def __init__(self, source: Any, metadata: Metadata, ttir: str) -> None:
        self.src, self.metadata, self.hash = source, metadata, metadata.hash
        self.name: str = source.name
        self.asm = Stages(ttir=ttir)
        self.kernel = ttir
        self.metadata_group: dict[str, str] = {}
        self.packed_metadata = ()
        self.module = self.function = self._run = None

    def _init_handles(self) -> None:
        if self._run is None:
            self._run = runtime.driver.active.launcher_cls(self.src, self.metadata)

    def __getattr__(self, name: str) -> Any:
        raise NotCompiledError(f"kernels are compiled to TTIR only on the CPU, which has no {name}; use a GPU")


class Frontend:
    """Compiles kernels of this process to TTIR only, which may be among these modules."""

    def __init__(self, shared_modules: SharedModules) -> None:
        self._shared_modules = shared_modules
        self._variants = Variants()
        self._lowers = True

    def install(self) -> None:
        """Replace Triton's `compile` in this process."""
        triton.compiler.compile = compiler.compile = triton.compile = self.compile

    def stop_lowering(self) -> None:
        """Leave the TTIR of kernels empty from now on; they still have their keys."""
        self._lowers = False

    def compile(
        self, source: Any, target: Any = None, options: Mapping[str, Any] | None = None, _env_vars: object = None
    ) -> TtirKernel:
        """As `triton.compile`, up to TTIR, unless that is among the shared modules; no file is written.

        Device assertions are compiled in, as a debug build on a GPU has them; checks for integer overflow are not.

        Raises:
            InterpreterLimitError: a language without TTIR, or no source at all.
            Exception: what the frontend raises for a kernel that does not compile.
        """
        if isinstance(source, str):
            raise InterpreterLimitError(_NO_TEXTS_OF_OTHERS)
        target = target or runtime.driver.active.get_current_target()
        parsed = parse_options(target, {**(options or {}), "debug": True, "sanitize_overflow": False})
        state = state_of(source)
        key = self._shared_modules.key_of(source, target, parsed, state=state)
        ttir = self._ttir_of(key, source, target, parsed) if self._lowers else ""
        digest = hashlib.sha256(ttir.encode()).hexdigest()
        described = {"target": target, "name": source.name, "hash": digest, "ttir": ttir, "key": key, "state": state}
        return TtirKernel(source, Metadata({**vars(parsed), **described}), ttir)

    def _ttir_of(self, key: str, source: Any, target: Any, options: Any) -> str:
        found = self._shared_modules.find(key)
        if found is not None:
            return found
        try:
            return self._variants.ttir_of(source, target, options)
        except KeyError as error:
            if error.args != ("ttir",):
                raise
            raise InterpreterLimitError("Gluon kernels need a GPU: their compiler makes no TTIR") from None


def parse_options(target: GPUTarget, options: Mapping[str, Any]) -> Any:
    """Launch options as the backend of the target reads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Triton's advice on a default, once per process
        return make_backend(target).parse_options(dict(options))
