"""The end of a stand-alone script: one case, made, called and compared with torch and Triton alone.

This file is read as text and written into scripts, with all that it uses of ours (`kgtui/standalone/`),
so that a failure can be looked at where kgtui is not installed.  It must take its rules from the modules
that judge, and must not use a module of ours as a whole: only names can be taken over.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from engine.judge.compare.compare import judge
from engine.judge.compare.measures import bytes_of
from engine.judge.compare.values import text_of, unravelled
from engine.judge.inputs.copies import private_copies
from engine.loading.poison import Poison
from engine.model import Case, Tolerance

RIGHT, WRONG, NOT_RUN = 0, 1, 2
_POISONS = (0xFF, 0x7B)  # nan of every float and -1 of every integer; then large finite numbers


@dataclass(frozen=True, kw_only=True)
class Replay:
    """One case of one operator, and the text of the candidate that failed it.

    `written` says by name which arguments are outputs, `overwritten` are those whose content says nothing.
    `answers_before` is whether the failure came after a call on other content in the same memory.
    """

    candidate: str
    filename: str
    entry: str
    case: Case
    seed: int
    device: str
    make_inputs: Callable[..., Any]  # Any: arguments of every kind
    reference: Callable[..., Any]
    tolerance: Callable[[Case], Tolerance]
    returns: int | None
    written: dict[str, int]
    overwritten: tuple[int, ...]
    answers_before: bool = False

    @property
    def _on_accelerator(self) -> bool:
        return self.device != "cpu"

    def run(self, arguments: list[str]) -> int:
        """Judge the candidate, or the file that is named instead; 0 when it is right, 1 when not, 2 when not run."""
        if self._on_accelerator and not torch.accelerator.is_available():
            return _say("this case failed on a GPU, and there is none here", NOT_RUN)
        with tempfile.TemporaryDirectory() as folder, torch.device(self.device):
            path = Path(arguments[0]) if arguments else Path(folder) / self.filename
            if not arguments:
                path.write_text(self.candidate, encoding="utf-8")
            elif path.suffix != ".py" or not path.is_file():
                return _say(f"{path}: there is no Python file; name the kernel file to run instead", NOT_RUN)
            entry = getattr(_loaded(path), self.entry, None)
            if entry is None:
                return _say(f"{path}: it has no {self.entry}, which is what would be called", NOT_RUN)
            for poison in _POISONS:
                inputs = self._inputs(entry, poison)
                troubles = list(self._troubles(entry, inputs, poison))
                if troubles:
                    return _say("\n".join(troubles), WRONG)
        return _say(f"right: {self.case.name}, inputs from seed {self.seed}", RIGHT)

    def _inputs(self, entry: Callable[..., Any], poison: int) -> tuple[Any, ...]:
        """The inputs of the case, in memory that a call on others has used before where that matters."""
        inputs: tuple[Any, ...] = self._made(self.seed)
        if not self.answers_before:
            return inputs
        used = self._made(self.seed ^ 1)
        with Poison(poison):
            entry(*used)
        for there, new in zip(used, inputs, strict=True):
            if isinstance(there, torch.Tensor):
                there.untyped_storage().copy_(new.untyped_storage())
        return used

    def _made(self, seed: int) -> tuple[Any, ...]:
        made: tuple[Any, ...] = self.make_inputs(self.case, torch.Generator(self.device).manual_seed(seed))
        return made

    def _troubles(self, entry: Callable[..., Any], inputs: tuple[Any, ...], poison: int) -> Iterator[str]:
        """What is wrong after one call, a line for each output or argument."""
        outcome = self.reference(*private_copies(inputs))
        expected = (outcome,) if isinstance(outcome, torch.Tensor) else tuple(outcome)
        for place in self.overwritten:
            inputs[place].untyped_storage().fill_(poison)
        before = private_copies(inputs)
        with Poison(poison):
            returned = entry(*inputs)
        if self._on_accelerator:
            torch.accelerator.synchronize()
        values = () if self.returns == 0 else (returned,) if self.returns == 1 else tuple(returned)
        names = ["return"] if self.returns == 1 else [f"return[{number}]" for number in range(len(values))]
        got = dict(zip(names, values, strict=True))
        got |= {name: inputs[place] for name, place in self.written.items() if inputs[place] is not None}
        for (name, value), wanted in zip(got.items(), expected, strict=True):
            yield from _wrong(name, value, wanted, self.tolerance(self.case))
        for place, (value, old) in enumerate(zip(inputs, before, strict=True)):
            if isinstance(value, torch.Tensor) and place not in self.written.values() and not _is_same(value, old):
                yield f"argument {place} was changed; the signature does not say that it is written"


def _wrong(name: str, got: Any, expected: torch.Tensor, tolerance: Tolerance) -> Iterator[str]:
    if not isinstance(got, torch.Tensor):
        yield f"{name}: a {type(got).__name__}, expected a Tensor"
    elif got.dtype != expected.dtype or got.shape != expected.shape:
        yield f"{name}: {got.dtype} {tuple(got.shape)}, expected {expected.dtype} {tuple(expected.shape)}"
    elif got.numel():
        judged = judge(got.contiguous(), expected, tolerance)
        count = int(judged.wrong.sum())
        if count:
            index = unravelled(judged.worst(), got.shape)
            place = ",".join(map(str, index))
            values = f"expected {text_of(expected[index])} got {text_of(got[index])}"
            yield f"{name}: {count} of {got.numel()} wrong, worst [{place}] {values}"


def _is_same(value: torch.Tensor, old: Any) -> bool:
    return torch.equal(bytes_of(value), bytes_of(old))


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("candidate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module  # Triton looks a kernel's globals up there
    spec.loader.exec_module(module)
    return module


def _say(text: str, status: int) -> int:
    sys.stdout.write(f"{text}\n")
    return status
