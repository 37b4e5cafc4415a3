"""The TTIR of a kernel: what Triton's frontend makes of Python, before anything is compiled for a device."""

from __future__ import annotations

from typing import Any

from triton._C.libtriton import ir
from triton.compiler import ASTSource, make_backend

# Triton's targets, options and modules are not typed: they are Any throughout this file.


def ttir_of(source: ASTSource, target: Any, options: Any) -> str:
    """The text of the module that the compiler hands to the stages behind TTIR; `options` are parsed by the backend."""
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    return str(stages["ttir"](module, {}))
