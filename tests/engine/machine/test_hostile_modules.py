"""Mutated modules that the reader accepts are executed or refused within limits; KGTUI_FUZZED_MODULES: how many."""

from __future__ import annotations

import os
import random
import re
from collections import Counter

import numpy as np

from engine.errors import KgtuiError
from engine.machine.executor import execute
from engine.machine.ir import Descriptor, Module, Pointer, Scalar, Value
from engine.machine.memory import Address, Argument, DescriptorArgument, Memory, Storage
from engine.machine.reader import read_module
from engine.machine.results import Limits
from tests.engine.machine.reader.test_fuzz import mutated
from tests.engine.machine.reader.test_reader import SAMPLES

_MODULES = int(os.environ.get("KGTUI_FUZZED_MODULES", "120"))
_SEED = 20_261_123
_LIMITS = Limits(steps=20_000, programs=64, tensor_elements=1 << 14, elements=1 << 24, chunk_elements=1 << 14)
_NUMBERS = ("-1", "0", "1", "3", "2147483647", "-2147483648", "1000000000", "1099511627776", "9223372036854775807")
_NUMBER = re.compile(r"(?<![\w%#.])-?\d+(?![\w.])")
_VALUE = re.compile(r"%\w+")
_OPERATION = re.compile(r"\b(?:arith|math|tt|scf|cf)\.\w+")


def test_mutated_modules_are_executed_or_refused() -> None:
    draw = random.Random(_SEED)
    texts = [path.read_text() for path in sorted(SAMPLES.glob("*.ttir"))]
    ends = Counter(end_of(mutant(draw.choice(texts), draw)) for _ in range(_MODULES))
    assert set(ends) <= {"executed", "stopped", "refused by the reader", "refused by the machine"}
    assert ends["executed"]


def mutant(text: str, draw: random.Random) -> str:
    """The text after a few edits; most of them replace a number, a value or an operation by another."""
    if draw.random() < 0.2:
        return mutated(text, draw)
    for _ in range(draw.choice((1, 1, 2, 3))):
        pattern = draw.choice((_NUMBER, _VALUE, _OPERATION))
        places = list(pattern.finditer(text))
        if places:
            place = draw.choice(places)
            others = _NUMBERS if pattern is _NUMBER else [other.group() for other in places]
            text = f"{text[: place.start()]}{draw.choice(others)}{text[place.end() :]}"
    return text


def end_of(text: str) -> str:
    """What becomes of a module; any error but a refusal is raised."""
    try:
        module = read_module(text)
    except KgtuiError:
        return "refused by the reader"
    try:
        arguments, memory = arguments_of(module)
        execution = execute(module, (3, 2, 1), arguments, memory, limits=_LIMITS)
    except KgtuiError:
        return "refused by the machine"
    return "executed" if execution.is_complete else "stopped"


def arguments_of(module: Module) -> tuple[list[Argument], Memory]:
    """An argument for each parameter of the kernel, and a storage for each."""
    parameters = module.kernel.arguments
    memory = Memory([_storage(number) for number in range(len(parameters))])
    return [_argument(value, storage) for storage, value in enumerate(parameters)], memory


def _argument(value: Value, storage: int) -> Argument:
    match value.type:
        case Pointer():
            return Address(storage=storage)
        case Descriptor(block=block):
            sizes = tuple(16 for _ in block.shape)
            strides = tuple(16**axis for axis in reversed(range(len(sizes))))
            return DescriptorArgument(base=Address(storage=storage), shape=sizes, strides=strides)
        case Scalar() as scalar:
            return 1.5 if scalar.is_float else 16
        case _:
            return 0


def _storage(number: int) -> Storage:
    content = np.arange(4096, dtype=np.int64).astype(np.uint8) % 7
    return Storage(name=f"s{number}", data=content, base=(number + 1) << 20, element=Scalar.F32)
