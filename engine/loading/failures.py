"""Typed failures from a candidate's exceptions, each with a line of its file."""

from __future__ import annotations

import errno
import os
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from triton.compiler.errors import CompilationError
from triton.runtime.errors import InterpreterError, OutOfResources, PTXASError
from triton.runtime.interpreter import InterpreterBuilder

from engine import protocol
from engine.loading import databases
from engine.loading.extensions import ExtensionNeededError, ExtensionRefusedError
from engine.loading.installed import is_in_package, is_python_or_engine
from engine.loading.loader import NoEntryError
from engine.loading.missing import missing, of_constant
from engine.loading.raised import InterpreterLimitError, KernelError, StrayStoreError
from engine.model import OutOfBounds

_TRACE_CHARACTERS = 20_000
_MESSAGE_CHARACTERS = 1900
_COMPILE_ERRORS = (CompilationError, OutOfResources, PTXASError)
# torch has no type of its own for a failed allocation on the CPU; the words are asserted against the real library.
_CPU_ALLOCATION_WORDS = ("DefaultCPUAllocator", "can't allocate memory", "not enough memory")
_OF_A_GPU = re.compile(r"torch/(cuda|accelerator)/|triton/runtime/driver\.py$|triton/backends/\w+/driver\.py$")
"""Files of torch and Triton on the call stack of everything that needs a device."""
_SENTENCES = (
    NoEntryError, StrayStoreError, KernelError, ExtensionNeededError, ExtensionRefusedError,
)  # fmt: skip
"""Errors whose text is already a message to the user; NeedsGpuError is another."""
_NO_GPU = "needs a GPU, and this machine has none: {}; run it on a machine with a GPU"

_NOT_COPIED = (
    " (the file runs as a copy, without the other files of its folder: put the data into the source, "
    "or open it by its absolute path)"
)


class NeedsGpuError(Exception):
    """The candidate requires a GPU, in `line` of its file."""

    def __init__(self, line: int | None, why: str) -> None:
        super().__init__(_NO_GPU.format(why))
        self.line = line


def failure(identifier: str, error: BaseException, filename: str) -> protocol.Failed:
    """The reply for this exception; lines are searched in `filename`, deepest frame first."""
    chain = list(_causes(error))
    root = chain[-1]
    bounds = next((report for part in chain if (report := getattr(part, "report", None))), None)
    return protocol.Failed(
        id=identifier,
        kind=_kind(chain),
        message=f"{_message(root)}{_not_copied(root, filename)}",
        line=_line(chain, filename),
        trace=_trace(chain),
        out_of_bounds=bounds if isinstance(bounds, OutOfBounds) else None,
        extension=root.request if isinstance(root, ExtensionNeededError) else None,
    )


def compilation_line(error: BaseException, filename: str) -> int | None:
    """The file's line of an error that Triton's front end locates relative to the `def` of a kernel; else None."""
    text, node = getattr(error, "src", None), getattr(error, "node", None)
    counted = getattr(node, "lineno", None)
    if not isinstance(text, str) or not isinstance(counted, int):
        return None
    kernel = [line.strip() for line in text.splitlines()]
    file = [line.strip() for line in Path(filename).read_text(encoding="utf-8-sig").splitlines()]
    starts = (start for start in range(len(file)) if file[start : start + len(kernel)] == kernel)
    return next((start + counted for start in starts), None)


def _trace(chain: list[BaseException]) -> str:
    """Frames of the author's files that lead to the error; without any, all frames, and none where a GPU is needed."""
    frames = [frame for error in chain for frame in traceback.extract_tb(error.__traceback__) if _is_authors(frame)]
    if not frames and isinstance(chain[-1], NeedsGpuError):
        return ""
    if not frames:
        return _transmissible("".join(traceback.format_exception(chain[0])))
    shown = [
        traceback.FrameSummary(Path(frame.filename).name, frame.lineno, frame.name, line=frame.line) for frame in frames
    ]
    # The interpreter only wraps the exception of the kernel.
    led_to = [error for error in reversed(chain[:-1]) if not isinstance(error, InterpreterError)]
    root = _message(chain[-1])
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(shown), f"{root}\n"]
    effects = (effect for effect in map(_message, led_to) if effect != root)
    return _transmissible("".join([*lines, *(f"which led to {effect}\n" for effect in effects)]))


def _is_authors(frame: traceback.FrameSummary) -> bool:
    """Whether the file is the author's: neither installed nor ours nor Python's own."""
    file = frame.filename
    return not (is_python_or_engine(file) or is_in_package(file) or file.startswith("<frozen"))


def _transmissible(text: str) -> str:
    return text[-_TRACE_CHARACTERS:].encode("utf-8", "backslashreplace").decode()


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and its explicit causes, outermost first."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__


def _kind(chain: list[BaseException]) -> protocol.FailureKind:
    root = chain[-1]
    if any(isinstance(getattr(part, "report", None), OutOfBounds) for part in chain) or isinstance(
        root, StrayStoreError
    ):
        return protocol.FailureKind.OUT_OF_BOUNDS
    if any(isinstance(part, MemoryError | torch.OutOfMemoryError) for part in chain):
        return protocol.FailureKind.OUT_OF_MEMORY
    if isinstance(root, RuntimeError) and any(words in _words(str, root) for words in _CPU_ALLOCATION_WORDS):
        return protocol.FailureKind.OUT_OF_MEMORY
    if isinstance(root, SystemExit | KeyboardInterrupt):
        return protocol.FailureKind.EXITED
    if isinstance(root, NoEntryError):
        return protocol.FailureKind.NO_ENTRY
    if isinstance(root, ExtensionNeededError):
        return protocol.FailureKind.EXTENSION
    if (
        isinstance(root, InterpreterLimitError)
        or (isinstance(root, NotImplementedError) and _raised_in(root, "triton/runtime/interpreter.py"))
        or isinstance(root, NeedsGpuError | ExtensionRefusedError)
        or _interpreter_lacks(root)
        or missing(root)
        or any(map(needs_gpu, chain))
    ):
        return protocol.FailureKind.UNSUPPORTED
    if any(isinstance(part, _COMPILE_ERRORS) for part in chain):
        return protocol.FailureKind.COMPILE
    return protocol.FailureKind.RAISED


def _interpreter_lacks(error: BaseException) -> str:
    """Sentence about a part of the language that Triton's interpreter does not have; "" for other errors."""
    if isinstance(error, AttributeError) and isinstance(error.obj, InterpreterBuilder):
        return f"Triton's interpreter does not support this operation: its builder has no {error.name}"
    return ""


def _raised_in(error: BaseException, file: str) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.endswith(file)


def is_raised(error: BaseException) -> bool:
    """Whether a candidate's own code raised this: no compiler, no lack of memory, nothing of the interpreter."""
    return _kind(list(_causes(error))) in (protocol.FailureKind.RAISED, protocol.FailureKind.EXITED)


def needs_gpu(error: BaseException) -> bool:
    """Whether torch or Triton needed a GPU, and none is here; also if another error was raised from that."""
    if torch.cuda.is_available():
        return False
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if _is_of_a_gpu(current):
            return True
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return False


def _is_of_a_gpu(error: BaseException) -> bool:
    if isinstance(error, AttributeError) and error.obj is torch._C:
        return str(error.name).lower().startswith("_cuda")  # a torch without CUDA has none of these
    below: list[str] = []
    for frame in traceback.extract_tb(error.__traceback__):
        below = [] if _is_authors(frame) else [*below, frame.filename]
    return any(_OF_A_GPU.search(filename) for filename in below)


def _message(error: BaseException) -> str:
    detail = getattr(error, "error_message", None) if isinstance(error, CompilationError) else None
    text = _words(str, detail or error).strip()
    if isinstance(error, SystemExit):
        return f"it called sys.exit({_words(repr, error.code)}); a candidate returns, it does not exit"
    is_sentence = isinstance(error, (*_SENTENCES, NeedsGpuError))
    if is_sentence or isinstance(getattr(error, "report", None), OutOfBounds):
        return text
    detail = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if lacking := missing(error) or _interpreter_lacks(error):
        return lacking
    return _NO_GPU.format(detail) if needs_gpu(error) else f"{detail}{_where_to_write(error)}{of_constant(error)}"


def _where_to_write(error: BaseException) -> str:
    """Next step for a file, or a database of SQLite, that may not be written."""
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return databases.where_to_write(repr(os.fspath(error.filename)) if error.filename else "the path")
    if getattr(error, "sqlite_errorname", "").startswith(databases.REFUSALS):  # sqlite3 need not be there
        return databases.refusal()
    return ""


def _not_copied(error: BaseException, filename: str) -> str:
    """Next step for a data file that is missing beside the copy of the candidate's file, or below no folder."""
    if not isinstance(error, FileNotFoundError) or error.filename is None:
        return ""
    if _raised_in(error, "/subprocess.py"):  # a program is missing
        return ""
    missed = Path(_words(str, error.filename) or os.sep)
    if missed.is_absolute() and not missed.is_relative_to(Path(filename).parent):
        return ""
    return _NOT_COPIED


def _words(show: Callable[[object], str], value: object) -> str:
    """The value as text; the candidate's own `__repr__` may raise or return no string."""
    try:
        return show(value)[:_MESSAGE_CHARACTERS].encode("utf-8", "backslashreplace").decode()
    except Exception:
        return ""


def _line(chain: list[BaseException], filename: str) -> int | None:
    for error in reversed(chain):
        if isinstance(error, NeedsGpuError | KernelError) and error.line is not None:
            return error.line
        if isinstance(error, CompilationError) and (line := compilation_line(error, filename)) is not None:
            return line
        if isinstance(error, SyntaxError) and error.filename == filename:
            return error.lineno
        frames = [
            line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == filename
        ]
        if frames:
            return frames[-1]
    return None
