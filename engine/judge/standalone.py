"""Last part of a stand-alone script: make, call and compare one case with torch and Triton alone.

This file is read as text and written into scripts, with all that it uses of ours (`kgtui/standalone/`),
so that a failure can be looked at where kgtui is not installed.  It must take its rules from the modules
of the judge, and must not use a module of ours as a whole: only names can be taken over.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from engine.judge.compare.compare import ElementComparison, compare_elements
from engine.judge.compare.measures import bytes_of
from engine.judge.compare.values import text_of, unravel_index
from engine.judge.inputs.copies import private_copies
from engine.judge.inputs.outputs import as_tensors
from engine.loading.poison import Poison
from engine.model import CalledCase, Case, OutputMatch, PointerArray, Tolerance
from engine.protocol.objects import with_instances
from engine.protocol.tensors import tensors_in

RIGHT, WRONG, NOT_RUN = 0, 1, 2
_POISONS = (0xFF, 0x7B)  # nan of every float and -1 of every integer; then large finite numbers


@dataclass(frozen=True, kw_only=True)
class Replay:
    """One case of one operator, and the text of the candidate that failed it.

    `written` says by name which arguments are outputs, `overwritten` are those that are only written.
    `compare` is the problem's own comparer, None where its tolerance decides.  `answers_before` is whether the failure
    came after a call on other content in the same memory.
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
    compare: Callable[[CalledCase], tuple[OutputMatch, ...]] | None
    returns: int | None
    returns_scalar: bool
    written: dict[str, int]
    overwritten: tuple[int, ...]
    answers_before: bool = False

    @property
    def _on_accelerator(self) -> bool:
        return self.device != "cpu"

    def run(self, arguments: list[str]) -> int:
        """Verify the candidate, or the file named instead; 0 when it passes, 1 when it is wrong, 2 when not run."""
        if self._on_accelerator and not torch.accelerator.is_available():
            return _say("this case failed on a GPU, and this machine has none; run it on a machine with a GPU", NOT_RUN)
        with tempfile.TemporaryDirectory() as folder, torch.device(self.device):
            path = Path(arguments[0]) if arguments else Path(folder) / self.filename
            if not arguments:
                path.write_text(self.candidate, encoding="utf-8")
            elif path.suffix != ".py" or not path.is_file():
                return _say(f"{path}: not a Python file; name the kernel file to run instead", NOT_RUN)
            entry = getattr(_loaded(path), self.entry, None)
            if entry is None:
                return _say(f"{path}: it does not define {self.entry}; define it at the top level", NOT_RUN)
            earlier: tuple[torch.Tensor, ...] = ()
            for poison in _POISONS:
                call = self._called(entry, self._inputs(entry, poison), poison)
                troubles = list(self._troubles(call, earlier))
                if troubles:
                    return _say("\n".join(troubles), WRONG)
                earlier = tuple(value for value in call.got.values() if isinstance(value, torch.Tensor))
        return _say(f"passed: {self.case.name}, inputs from seed {self.seed}", RIGHT)

    def _inputs(self, entry: Callable[..., Any], poison: int) -> tuple[Any, ...]:
        """The inputs of the case, in memory that a call on others has used before where that matters."""
        inputs: tuple[Any, ...] = self._made(self.seed)
        if not self.answers_before:
            return inputs
        used = self._made(self.seed ^ 1)
        with Poison(poison):
            entry(*map(_as_given, used))
        for there, new in zip(tensors_in(used), tensors_in(inputs), strict=True):
            there.untyped_storage().copy_(new.untyped_storage())
        return used

    def _made(self, seed: int) -> tuple[Any, ...]:
        made: tuple[Any, ...] = self.make_inputs(self.case, torch.Generator(self.device).manual_seed(seed))
        return made

    def _called(self, entry: Callable[..., Any], inputs: tuple[Any, ...], poison: int) -> _Call:
        """Returned and written tensors of one call of the entry, by name."""
        outcome = self.reference(*private_copies(inputs))
        for storage in (tensor.untyped_storage() for place in self.overwritten for tensor in tensors_in(inputs[place])):
            storage.fill_(poison)  # type: ignore[attr-defined]  # torch does not annotate it
        before = private_copies(inputs)
        with Poison(poison):
            returned = entry(*map(_as_given, inputs))
        if self._on_accelerator:
            torch.accelerator.synchronize()
        got = self._returned(returned)
        for name, place in self.written.items():
            value = inputs[place]
            got |= {name: value} if isinstance(value, torch.Tensor) else _numbered(name, tensors_in(value))
        expected = (outcome,) if isinstance(outcome, torch.Tensor) else tuple(outcome)
        return _Call(before=before, inputs=inputs, got=got, expected=expected)

    def _returned(self, returned: Any) -> dict[str, Any]:
        """The returned values by name; a number where the entry returns numbers is a tensor without dimensions."""
        if self.returns == 0:
            return {}
        if self.returns_scalar:
            return {"return": as_tensors(returned)[0]} if isinstance(returned, int | float | complex) else {}
        return {"return": returned} if self.returns == 1 else _numbered("return", returned)

    def _troubles(self, call: _Call, earlier: tuple[torch.Tensor, ...]) -> Iterator[str]:
        """Errors after one call, a line for each output or argument; `earlier` are the outputs of the first."""
        if len(call.got) != len(call.expected):
            count = f"{len(call.got)} outputs, expected {len(call.expected)}"
            yield "the entry returned no Python number" if self.returns_scalar else count
            return
        of_another_kind = [
            line for name, value, wanted in call.outputs for line in _of_another_kind(name, value, wanted)
        ]
        if of_another_kind or self.compare is None:
            for name, value, wanted in call.outputs:
                yield from _wrong(name, value, wanted, self.tolerance(self.case))
        else:
            yield from self._mismatches(call, earlier)
        for place, (value, old) in enumerate(zip(call.inputs, call.before, strict=True)):
            pairs = zip(tensors_in(value), tensors_in(old), strict=True)
            if place not in self.written.values() and not all(_is_same(one, other) for one, other in pairs):
                yield f"argument {place} was changed; the signature does not say that it is written"

    def _mismatches(self, call: _Call, earlier: tuple[torch.Tensor, ...]) -> Iterator[str]:
        """Errors by the problem's own comparer; all outputs are of the right type and shape."""
        assert self.compare is not None
        outputs = tuple(value.contiguous() for value in call.got.values())
        called = CalledCase(
            case=self.case, arguments=call.before, outputs=outputs, expected=call.expected, earlier=earlier
        )
        for (name, _, wanted), got, match in zip(call.outputs, outputs, self.compare(called), strict=True):
            if bool(match.wrong.any()):
                elements = replace(
                    compare_elements(got, wanted, Tolerance(relative=0.0, absolute=0.0)), wrong=match.wrong
                )
                said = f"{name}: {match.message}" if match.message else _message(name, got, wanted, elements)
                steps = f", largest error {match.error:g} {match.unit}".rstrip() if match.error is not None else ""
                yield said + steps


@dataclass(frozen=True, kw_only=True)
class _Call:
    """A call: the arguments before and after it, and what was got and expected of each output."""

    before: tuple[Any, ...]
    inputs: tuple[Any, ...]
    got: dict[str, Any]
    expected: tuple[torch.Tensor, ...]

    @property
    def outputs(self) -> list[tuple[str, Any, torch.Tensor]]:
        """Name, value and expected value of each output."""
        return [(name, value, wanted) for (name, value), wanted in zip(self.got.items(), self.expected, strict=True)]


def _as_given(value: Any) -> Any:
    """An argument as an entry gets it: an array of pointers as addresses, an object as an instance of its class."""
    if isinstance(value, PointerArray):
        addresses = [tensor.data_ptr() for tensor in value.tensors]
        return torch.tensor(addresses, dtype=torch.int64)  # on torch's default device
    return with_instances(value)


def _numbered(name: str, values: Any) -> dict[str, Any]:
    """The items of a sequence by their names; none where it is not a sequence."""
    is_sequence = isinstance(values, Iterator | list | tuple)
    return {f"{name}[{number}]": value for number, value in enumerate(values)} if is_sequence else {}


def _wrong(name: str, got: Any, expected: torch.Tensor, tolerance: Tolerance) -> Iterator[str]:
    yield from _of_another_kind(name, got, expected)
    if isinstance(got, torch.Tensor) and got.dtype == expected.dtype and got.shape == expected.shape and got.numel():
        elements = compare_elements(got.contiguous(), expected, tolerance)
        if bool(elements.wrong.any()):
            yield _message(name, got, expected, elements)


def _of_another_kind(name: str, got: Any, expected: torch.Tensor) -> Iterator[str]:
    if not isinstance(got, torch.Tensor):
        yield f"{name}: a {type(got).__name__}, expected a Tensor"
    elif got.dtype != expected.dtype or got.shape != expected.shape:
        yield f"{name}: {got.dtype} {tuple(got.shape)}, expected {expected.dtype} {tuple(expected.shape)}"


def _message(name: str, got: torch.Tensor, expected: torch.Tensor, elements: ElementComparison) -> str:
    index = unravel_index(elements.worst(), got.shape)
    place = ",".join(map(str, index))
    values = f"expected {text_of(expected[index])} got {text_of(got[index])}"
    return f"{name}: {int(elements.wrong.sum()):,} of {got.numel():,} wrong, worst [{place}] {values}"


def _is_same(value: torch.Tensor, old: Any) -> bool:
    return torch.equal(bytes_of(value), bytes_of(old))


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("candidate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module  # Triton looks up a kernel's globals in its module
    spec.loader.exec_module(module)
    return module


def _say(text: str, status: int) -> int:
    sys.stdout.write(f"{text}\n")
    return status
