"""The TTIR of a kernel: what Triton's frontend makes of Python, before anything is compiled for a device."""

from __future__ import annotations

import ast
import contextlib
import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from triton._C.libtriton import ir
from triton.compiler import ASTSource, make_backend
from triton.runtime.jit import JITFunction

# Triton's targets, options and modules are not typed: they are Any throughout this file.


_MOST_TREES = 1000
_contexts = threading.local()


@dataclass(frozen=True, kw_only=True)
class LoweredText:
    """The text of a kernel as the frontend makes it, and after the passes of the first stage."""

    made: str
    ttir: str

    def __str__(self) -> str:
        return self.made  # which Triton writes to its cache


def share_trees() -> None:
    """Have Triton parse the source of a function once in this process and its forks, not for each specialisation.

    Its frontend only reads a tree, except for marks that depend on nothing but the tree.
    """
    parse = JITFunction.parse
    tree_by_source: dict[str, ast.Module] = {}

    def parse_once(function: Any) -> ast.Module:
        source = function._src  # the text that Triton parses
        tree = tree_by_source.get(source)
        if tree is None:
            if len(tree_by_source) == _MOST_TREES:
                tree_by_source.clear()
            tree = tree_by_source[source] = parse(function)
        return tree

    JITFunction.parse = parse_once


def ttir_of(source: ASTSource, target: Any, options: Any) -> str:
    """The TTIR text before all later stages; the backend parses `options`."""
    return str(module_of(source, target, options))


def module_of(source: ASTSource, target: Any, options: Any) -> Any:
    """The TTIR before all later stages, as a module of Triton; the backend parses `options`."""
    return _after_first_stage(_from_frontend(source, target, options), source, target, options)


def lowered_text_of(source: ASTSource, target: Any, options: Any) -> LoweredText:
    """As `ttir_of`, with the text before the first stage's passes."""
    module = _from_frontend(source, target, options)
    made = str(module)  # before the stage, which changes the module in place
    return LoweredText(made=made, ttir=str(_after_first_stage(module, source, target, options)))


def _from_frontend(source: ASTSource, target: Any, options: Any) -> Any:
    backend = make_backend(target)
    functions = backend.get_codegen_implementation(options)
    with _uncollected():
        return source.make_ir(target, options, functions, backend.get_module_map(), _context_of(backend))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Context without Python's garbage collector, which would search the many objects of a frontend in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _after_first_stage(module: Any, source: ASTSource, target: Any, options: Any) -> Any:
    stages: dict[str, Any] = {}
    make_backend(target).add_stages(stages, options, source.language)
    return stages["ttir"](module, {})


def _context_of(backend: Any) -> Any:
    """A context with the dialects of the backend, kept by this thread: creating one takes 1.5 ms."""
    kept: dict[type, Any] = vars(_contexts).setdefault("by_backend", {})
    if type(backend) not in kept:
        context = kept[type(backend)] = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
    return kept[type(backend)]
