"""The first error in the output of nvcc, the C++ compiler, ptxas or the linker, with its location in the named text.

The formats are those of nvcc 12 and 13 (EDG's front end and ptxas), GCC 12 and Clang; tests keep real output of each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = r"(?P<label>[\w.]+(?:\[\d+\])?)"
_EDG = re.compile(rf"^{_LABEL}\((?P<line>\d+)\): (?:catastrophic |fatal )?error(?: #[\w-]+)?: (?P<message>.*)$", re.M)
_GCC = re.compile(rf"^{_LABEL}:(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.*)$", re.M)
_PTXAS = re.compile(r"^ptxas (?:error|fatal)\s*: (?P<message>.*)$", re.M)
_LINKER = re.compile(
    r"(?P<message>undefined (?:reference|symbol).*|cannot find -l\S+.*|multiple definition of .*)$", re.M
)
_HEADER = re.compile(r'(?:cannot open source file "([^"]+)"|(\S+): No such file or directory)')
_OF_LIBRARIES = re.compile(
    r"^(?:cudnn|cutlass|cute|cub|thrust|cublas|cufft|curand|cusparse|cusolver|nccl|mma|nvshmem)\b"
)
_OF_TORCH = re.compile(r"^(?:torch|ATen|c10|pybind11|Python\.h)\b")
_MOST_CHARACTERS = 400


@dataclass(frozen=True, kw_only=True)
class CompilerError:
    """First error of a compiler: `label` names a text of the request; None if no text is named.

    `missing` is a header of a library that is not installed here, which is not a fault of the file; "" otherwise.
    """

    message: str
    label: str | None = None
    line: int | None = None
    column: int | None = None
    missing: str = ""
    more: int = 0


def first_error(output: str) -> CompilerError:
    """The first error of a compiler's output; its first line if no known error is found."""
    found = sorted([*_EDG.finditer(output), *_GCC.finditer(output)], key=lambda match: match.start())
    if found:
        first = found[0]
        message = first["message"].strip()[:_MOST_CHARACTERS]
        column = int(first["column"]) if first.re is _GCC else _column_by_caret(output[first.end() :])
        return CompilerError(
            message=message,
            label=first["label"],
            line=int(first["line"]),
            column=column,
            missing=_missing_header(message),
            more=len(found) - 1,
        )
    for pattern in (_PTXAS, _LINKER):
        later = pattern.search(output)
        if later is not None:
            return CompilerError(message=later["message"].strip()[:_MOST_CHARACTERS])
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return CompilerError(message=lines[0][:_MOST_CHARACTERS] if lines else "the compiler failed without a message")


def _missing_header(message: str) -> str:
    header = _HEADER.search(message)
    name = (header.group(1) or header.group(2)) if header else ""
    return name if _OF_LIBRARIES.match(name) or _OF_TORCH.match(name) else ""


def _column_by_caret(following: str) -> int | None:
    """The column that EDG marks with a caret below the line, which it prints after two blanks."""
    lines = following.lstrip("\n").split("\n")
    if len(lines) < 2 or lines[1].strip() != "^" or not lines[0].startswith("  "):
        return None
    return max(1, lines[1].index("^") - 1)
