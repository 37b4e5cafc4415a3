"""Runs a suite's code that is written for 'cuda' on the device of this process.

The literals 'cuda' and 'cuda:0' are replaced in the text; `.cuda()` moves to the device.  Used in the reference
process only.
"""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from problems.suites.texts.syntax import lines_of

_MIXING = 0x9E3779B97F4A7C15  # odd, so that distinct seeds stay distinct
_CUDA = re.compile(r"cuda(:\d+)?")


def for_device(text: str, device: torch.device) -> str:
    """The text with literals of CUDA devices replaced on the CPU; unchanged elsewhere, or if it cannot be tokenised."""
    if device.type != "cpu":
        return text
    lines = lines_of(text)
    try:
        tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if _names_cuda(token)]
    except (tokenize.TokenError, SyntaxError):
        return text
    for token in reversed(tokens):
        row, start, end = token.start[0] - 1, token.start[1], token.end[1]
        lines[row] = lines[row][:start] + repr(device.type) + lines[row][end:]
    return "".join(lines)


def _names_cuda(token: tokenize.TokenInfo) -> bool:
    if token.type != tokenize.STRING or token.start[0] != token.end[0]:
        return False
    try:
        value = ast.literal_eval(token.string)
    except (ValueError, SyntaxError):  # an f-string
        return False
    return isinstance(value, str) and _CUDA.fullmatch(value) is not None


def rewrite_folder(folder: Path, device: torch.device) -> None:
    """Rewrite the Python files of a folder for the device."""
    for file in sorted(folder.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        changed = for_device(text, device)
        if changed != text:
            file.write_text(changed, encoding="utf-8")


def redirect_cuda(device: torch.device) -> None:
    """Make `.cuda()` of tensors and modules move to the device, and synchronisation a no-op without a GPU."""
    if device.type != "cpu":
        return

    def to_device(moved: Any, *_args: object, **_options: object) -> Any:  # Any: a tensor or a module
        return moved.to(device)

    def nothing(*_args: object, **_options: object) -> None:
        """Replaces waiting for a device that does not exist."""

    replaced = ((torch.Tensor, "cuda", to_device), (torch.nn.Module, "cuda", to_device))
    for owner, name, function in (*replaced, (torch.cuda, "synchronize", nothing)):
        setattr(owner, name, function)


class Seeds:
    """The random streams of Python, numpy and torch, started from the judge's seed whatever seed the suite's code sets.

    A seed set by the code is combined with the judge's, so that fixed seeds do not give fixed inputs.
    """

    def __init__(self) -> None:
        self._seed = 0
        for owner, name in ((torch, "manual_seed"), (torch.cuda, "manual_seed"), (torch.cuda, "manual_seed_all")):
            setattr(owner, name, self._combining(getattr(owner, name)))

    def start(self, seed: int) -> None:
        """Restart all streams from this seed."""
        import numpy

        self._seed = seed
        torch.manual_seed(0)
        random.seed(seed)
        numpy.random.seed(seed % 2**32)

    def _combining(self, function: Callable[[int], Any]) -> Callable[[Any], Any]:  # Any: a suite's arguments
        """A seeding function of torch that combines its seed with the judge's."""

        def combined(seed: Any) -> Any:  # Any: as above
            return function((int(seed) * _MIXING + self._seed) % 2**63)

        return combined
