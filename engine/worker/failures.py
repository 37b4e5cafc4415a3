"""Turning what a candidate raised into a typed failure with a line of its own file."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

import torch

from engine import wire
from engine.model import OutOfBounds
from engine.worker.bfloat16 import InterpreterLimitError
from engine.worker.loader import NoEntryError

_TRACE_CHARACTERS = 20_000
_COMPILE_ERRORS = ("CompilationError", "OutOfResources", "UnsupportedLanguageConstruct", "CompileTimeAssertionFailure")
# torch has no type of its own for a failed allocation on the CPU; the words are asserted against the real library.
_CPU_ALLOCATION_WORDS = ("DefaultCPUAllocator", "can't allocate memory", "not enough memory")


def failure(identifier: str, error: BaseException, filename: str) -> wire.Failed:
    """The reply for this exception; lines are looked for in `filename`, deepest frame first."""
    chain = list(_causes(error))
    root = chain[-1]
    bounds = next((report for part in chain if (report := getattr(part, "report", None))), None)
    return wire.Failed(
        id=identifier,
        kind=_kind(chain),
        message=_message(root),
        line=_line(chain, filename),
        trace="".join(traceback.format_exception(error))[-_TRACE_CHARACTERS:],
        out_of_bounds=bounds if isinstance(bounds, OutOfBounds) else None,
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and its explicit causes, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__


def _kind(chain: list[BaseException]) -> wire.FailureKind:
    root = chain[-1]
    if any(isinstance(getattr(part, "report", None), OutOfBounds) for part in chain):
        return wire.FailureKind.OUT_OF_BOUNDS
    if any(isinstance(part, MemoryError | torch.OutOfMemoryError) for part in chain):
        return wire.FailureKind.OUT_OF_MEMORY
    if isinstance(root, RuntimeError) and any(words in str(root) for words in _CPU_ALLOCATION_WORDS):
        return wire.FailureKind.OUT_OF_MEMORY
    if isinstance(root, SystemExit | KeyboardInterrupt):
        return wire.FailureKind.EXITED
    if isinstance(root, NoEntryError):
        return wire.FailureKind.NO_ENTRY
    if isinstance(root, InterpreterLimitError) or (
        isinstance(root, NotImplementedError) and _raised_in(root, "triton/runtime/interpreter.py")
    ):
        return wire.FailureKind.UNSUPPORTED
    if any(type(part).__name__ in _COMPILE_ERRORS for part in chain):
        return wire.FailureKind.COMPILE
    return wire.FailureKind.RAISED


def _raised_in(error: BaseException, file: str) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.endswith(file)


def _message(error: BaseException) -> str:
    text = str(error).strip()
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r}); a candidate returns, it does not exit"
    if isinstance(getattr(error, "report", None), OutOfBounds) or isinstance(error, NoEntryError):
        return text
    return f"{type(error).__name__}: {text}"[:2000] if text else type(error).__name__


def _line(chain: list[BaseException], filename: str) -> int | None:
    for error in reversed(chain):
        if isinstance(error, SyntaxError) and error.filename == filename:
            return error.lineno
        frames = [
            line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == filename
        ]
        if frames:
            return frames[-1]
    return None
