"""The TTIR of a kernel: what Triton's frontend makes of Python, before anything is compiled for a device."""

from __future__ import annotations

import re
import threading
from typing import Any

from triton._C.libtriton import ir
from triton.compiler import ASTSource, make_backend

# Triton's targets, options and modules are not typed: they are Any throughout this file.


_FILE = re.compile(r'\bloc\("((?:[^"\\\n]|\\.)*+)":(?=\d+:\d+\))')
_contexts = threading.local()


def ttir_of(source: ASTSource, target: Any, options: Any) -> str:
    """The TTIR text before all later stages; the backend parses `options`."""
    backend = make_backend(target)
    context = _context_of(backend)
    functions = backend.get_codegen_implementation(options)
    module = source.make_ir(target, options, functions, backend.get_module_map(), context)
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    return str(stages["ttir"](module, {}))


def without_folders(ttir: str) -> str:
    """The text with file names without folders, so that it does not depend on the candidate's location."""
    return _FILE.sub(lambda found: f'loc("{found[1].rpartition("/")[2]}":', ttir)


def _context_of(backend: Any) -> Any:
    """A context with the dialects of the backend, kept by this thread: creating one takes 1.5 ms."""
    kept: dict[type, Any] = vars(_contexts).setdefault("by_backend", {})
    if type(backend) not in kept:
        context = kept[type(backend)] = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
    return kept[type(backend)]
