"""Triton's language in the interpreter's form, patched for one scope."""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.language import standard
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.jit import JITFunction

from engine.worker.triton_interpreter.language import interpreted, interpreting


@triton.jit
def _scanned(x: tl.tensor) -> None:
    tl.cumsum(x)


def test_library_function_never_hashed_is_interpreted_within_a_scope() -> None:
    fresh: Any = JITFunction(standard.cumsum.fn)  # no hash yet: this one is computed within the scope, if at all
    with interpreting():
        triton_interpreter._patch_lang(_scanned.fn)
        assert interpreted(fresh) is interpreted(fresh)
