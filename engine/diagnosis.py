"""From what was counted in a wrong output to what it looks like, in words.

Pure: no tensors here.  The judge tries what each known mistake would have left, and counts; this file
ranks and words it.  Where nothing fits well there is no diagnosis: a wrong guess costs more than none.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.model import Diagnosis, DiagnosisKind

Facts: TypeAlias = Mapping[str, str | int | float]
"""What a sentence about a symptom is filled in with."""

_LEAST_FIT = 0.6
_MOST_DIAGNOSES = 3
_AS_GOOD, _NEARLY = 0.98, 0.9  # shares of the best fit: what says most comes first, what is below is not said


class Symptom(enum.StrEnum):
    """What can be seen in a wrong output, that which says most about the cause first."""

    DIFFERS = "differs"
    KEPT = "kept"
    POISON = "poison"
    POISON_ADDED = "poison_added"
    UNCHANGED = "unchanged"
    OLD_NAN = "old_nan"
    CONTIGUOUS = "contiguous"
    ROW_STRIDE = "row_stride"
    FIRST_ROW = "first_row"
    REPEATED = "repeated"
    TRANSPOSED_OUTPUT = "transposed_output"
    TRANSPOSED_INPUT = "transposed_input"
    MOVED = "moved"
    ARGUMENT = "argument"
    STRIDE_ARGUMENT = "stride_argument"
    ONES = "ones"
    ZEROS = "zeros"
    WRAPPED = "wrapped"
    OVERFLOWN = "overflown"
    EXPONENT = "exponent"
    MAXIMUM_FROM_ZERO = "maximum_from_zero"
    MASKED_LINE = "masked_line"
    PADDED = "padded"
    LAST_BLOCK = "last_block"
    CARRY = "carry"
    RESCALE = "rescale"
    BLOCK_SCALE = "block_scale"
    ROUNDED_INPUTS = "rounded_inputs"
    LOW_ARITHMETIC = "low_arithmetic"
    ENDED = "ended"
    SMALL_ERRORS = "small_errors"
    SCALE = "scale"
    LINE_SCALE = "line_scale"
    OFFSET = "offset"
    LINE_OFFSET = "line_offset"
    TAIL = "tail"
    FLAT_TAIL = "flat_tail"
    ZEROED = "zeroed"


@dataclass(frozen=True, kw_only=True)
class Clue:
    """One symptom: how many wrong elements have it, and how many right ones speak against it."""

    symptom: Symptom
    explained: int
    contradicted: int = 0
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class _Words:
    kind: DiagnosisKind
    sentence: str
    evidence: str


def diagnose(clues: Iterable[Clue], *, wrong: int) -> tuple[Diagnosis, ...]:
    """The best reading of each kind, best first; nothing when no clue fits most of the `wrong` elements."""
    found: dict[DiagnosisKind, Diagnosis] = {}
    for clue in ranked(clues, wrong=wrong):
        words = _WORDS[clue.symptom]
        found.setdefault(words.kind, _worded(clue, words, wrong))
    return tuple(found.values())[:_MOST_DIAGNOSES]


def ranked(clues: Iterable[Clue], *, wrong: int) -> list[Clue]:
    """The clues that fit nearly as well as the best one does, that which is said first in front."""
    fitting = [clue for clue in clues if clue.explained and _fit(clue, wrong) >= _LEAST_FIT]
    # Nearly any error that is small has this symptom, so it says something only where nothing else does.
    fitting = [clue for clue in fitting if clue.symptom is not Symptom.SMALL_ERRORS] or fitting
    best = max((_fit(clue, wrong) for clue in fitting), default=0.0)
    order = list(Symptom)
    return sorted(
        (clue for clue in fitting if _fit(clue, wrong) >= best * _NEARLY),
        key=lambda clue: (_fit(clue, wrong) < best * _AS_GOOD, order.index(clue.symptom), -_fit(clue, wrong)),
    )


def says_cause(clue: Clue) -> bool:
    """Whether the symptom says more than where the wrong elements are, or by how much they are wrong."""
    order = list(Symptom)
    return order.index(clue.symptom) < order.index(Symptom.SMALL_ERRORS)


def _fit(clue: Clue, wrong: int) -> float:
    return clue.explained / (wrong + clue.contradicted)


def _worded(clue: Clue, words: _Words, wrong: int) -> Diagnosis:
    counted = f"{clue.explained:,} of {wrong:,} wrong elements"
    return Diagnosis(
        kind=words.kind,
        sentence=words.sentence.format_map(clue.facts),
        evidence=words.evidence.format_map({**clue.facts, "counted": counted}),
        explained=clue.explained,
        wrong=wrong,
        contradicted=clue.contradicted,
    )


_K = DiagnosisKind
_WORDS = {
    Symptom.DIFFERS: _Words(
        _K.RACE,
        "two calls on the same input differ: programs race, or state is kept between calls",
        "{counted} were another value in the call before",
    ),
    Symptom.KEPT: _Words(
        _K.KEPT_ANSWER,
        "this is the answer to the call before, whose input had other values",
        "{counted} are what the call before left",
    ),
    Symptom.POISON: _Words(
        _K.UNWRITTEN_OUTPUT,
        "never written{where}, or added to memory that nobody had set",
        "{counted} still hold the bytes {byte} that filled new memory before the call",
    ),
    Symptom.POISON_ADDED: _Words(
        _K.UNWRITTEN_OUTPUT,
        "added to memory that nobody had set: set it to 0 first",
        "{counted} are too large by {value}, the bytes {byte} that filled new memory before the call",
    ),
    Symptom.UNCHANGED: _Words(
        _K.UNWRITTEN_OUTPUT,
        "{argument} was never written{where}: it holds what it held before the call",
        "{counted} are as they were before the call",
    ),
    Symptom.OLD_NAN: _Words(
        _K.OLD_CONTENT,
        "what {argument} held before the call went into the result, although it should not: nan stays nan",
        "{counted} are nan where {argument} held nan",
    ),
    Symptom.CONTIGUOUS: _Words(
        _K.WRONG_STRIDE,
        "{argument} is read as if it were contiguous: its strides {strides} are not looked at",
        "{counted} come out when {argument} is read that way",
    ),
    Symptom.ROW_STRIDE: _Words(
        _K.WRONG_STRIDE,
        "rows of {argument} are read {stride} elements apart, but they lie {right} apart",
        "{counted} come out when {argument} is read that way",
    ),
    Symptom.FIRST_ROW: _Words(
        _K.WRONG_STRIDE,
        "every line along dimension {dim} of {argument} is read as the first: the offset of the line is missing",
        "{counted} come out when all of these lines of {argument} are the first",
    ),
    Symptom.REPEATED: _Words(
        _K.WRONG_STRIDE,
        "{argument} is repeated from its beginning instead of broadcast to the shape of the output",
        "{counted} come out when {argument} is laid out that way",
    ),
    Symptom.TRANSPOSED_OUTPUT: _Words(
        _K.TRANSPOSED_INDEX,
        "rows and columns are swapped where the output is stored: the memory holds the transpose",
        "{counted} are the element of the transpose at their place",
    ),
    Symptom.TRANSPOSED_INPUT: _Words(
        _K.TRANSPOSED_INDEX,
        "rows and columns of {argument} are swapped where it is read",
        "{counted} come out when {argument} is read that way",
    ),
    Symptom.MOVED: _Words(
        _K.WRONG_STRIDE,
        "the right values lie in the wrong places: element i holds what belongs to {map}",
        "{counted} are the expected value of that other element",
    ),
    Symptom.ARGUMENT: _Words(
        _K.IGNORED_ARGUMENT,
        "this is the answer for {value} in place of {given} as {argument}",
        "{counted} come out for {argument} = {value}",
    ),
    Symptom.STRIDE_ARGUMENT: _Words(
        _K.WRONG_STRIDE,
        "this is the answer for {value} in place of {given} as {argument}",
        "{counted} come out for {argument} = {value}",
    ),
    Symptom.ONES: _Words(
        _K.MISSING_SCALE,
        "{argument} is not multiplied in",
        "{counted} come out when {argument} is 1 throughout",
    ),
    Symptom.ZEROS: _Words(
        _K.MISSING_BIAS,
        "{argument} is not added",
        "{counted} come out when {argument} is 0 throughout",
    ),
    Symptom.WRAPPED: _Words(
        _K.OVERFLOW,
        "integers wrap around at {bits} bits: they are computed in a type that is too narrow",
        "{counted} are the expected value modulo 2^{bits}",
    ),
    Symptom.OVERFLOWN: _Words(
        _K.OVERFLOW,
        "a value on the way is too large for {dtype}, whose largest is {largest}: compute it in float32",
        "{counted} come out when all is computed in {dtype}",
    ),
    Symptom.EXPONENT: _Words(
        _K.OVERFLOW,
        "exp of the values themselves leaves the range of float32: subtract the maximum first",
        "{counted} lie in lines of {argument} whose largest value is above 88 or below -87",
    ),
    Symptom.MAXIMUM_FROM_ZERO: _Words(
        _K.REDUCTION_IDENTITY,
        "a maximum begins at 0 instead of -inf: where all values are far below 0, every exponential is 0",
        "{counted} lie in lines of {argument} whose largest value is below -87, and lines above 88 are right",
    ),
    Symptom.MASKED_LINE: _Words(
        _K.REDUCTION_IDENTITY,
        "-inf minus -inf is nan: a part of a line that is all -inf has no maximum to subtract",
        "{counted} lie in lines of {argument} that hold -inf; no line without one is wrong",
    ),
    Symptom.PADDED: _Words(
        _K.REDUCTION_IDENTITY,
        "the padding of a dimension takes part, as 0: {size} is read as {width}",
        "{counted} come out when that dimension is {width} long with zeros at its end",
    ),
    Symptom.LAST_BLOCK: _Words(
        _K.RACE,
        "only what lies from {start} on in {dim} of {argument} counts: programs overwrite each other's part",
        "{counted} come out when {argument} is {fill} before {start}, a multiple of {block}",
    ),
    Symptom.BLOCK_SCALE: _Words(
        _K.RACE,
        "each block of {block} columns is off by a factor of its own, the last by none: it depends on which "
        "program ran before, so programs read what others are writing",
        "{counted} keep the factor of their block",
    ),
    Symptom.CARRY: _Words(
        _K.LOST_RESCALE,
        "every block of {block} along dimension {dim} starts anew: what the blocks before it came to is not carried on",
        "{counted} are off by what was expected at the end of the block before",
    ),
    Symptom.RESCALE: _Words(
        _K.LOST_RESCALE,
        "what was summed up is not rescaled when a later block raises the maximum",
        "{counted} come out when {argument} is summed up in blocks of {block} along dimension {dim}, each by the "
        "maximum so far",
    ),
    Symptom.ROUNDED_INPUTS: _Words(
        _K.PRECISION,
        "the inputs are rounded to {dtype} on the way",
        "{counted} come out when the inputs are rounded to {dtype}",
    ),
    Symptom.LOW_ARITHMETIC: _Words(
        _K.PRECISION,
        "it is computed in {dtype}, which is too narrow here",
        "{counted} come out when all is computed in {dtype}",
    ),
    Symptom.ENDED: _Words(
        _K.TAIL_MASK,
        "what lies from {start} on in {dim} of {argument} is left out: the tail after the last whole block of {block}",
        "{counted} come out when {argument} is {fill} from {start} on, of {size}",
    ),
    Symptom.SMALL_ERRORS: _Words(
        _K.PRECISION,
        "all errors are small: as of numbers or sums that are kept in {dtype}",
        "the largest error is {largest:.1e} of the output's size, a typical one {typical:.1e}; {dtype} rounds by "
        "up to {rounding:.1e}",
    ),
    Symptom.SCALE: _Words(
        _K.MISSING_SCALE,
        "everything is {factor:.6g} times what it should be{known}",
        "{counted} keep that factor",
    ),
    Symptom.LINE_SCALE: _Words(
        _K.MISSING_SCALE,
        "each line along dimension {dim} is off by a factor of its own, from {least:.6g} to {most:.6g}: look at "
        "what the line is divided by",
        "{counted} keep the factor of their line",
    ),
    Symptom.OFFSET: _Words(
        _K.MISSING_BIAS,
        "everything is off by {offset:.6g}{known}",
        "{counted} keep that distance",
    ),
    Symptom.LINE_OFFSET: _Words(
        _K.MISSING_BIAS,
        "each line along dimension {dim} is off by a value of its own: something that is added to it is missing",
        "{counted} keep the distance of their line",
    ),
    Symptom.TAIL: _Words(
        _K.TAIL_MASK,
        "only the end of dimension {dim} is wrong, from {start} on, a multiple of {block}: look at the mask of the "
        "last block",
        "{counted} lie there; the dimension is {size} long, which {block} does not divide",
    ),
    Symptom.FLAT_TAIL: _Words(
        _K.TAIL_MASK,
        "only the last {count} elements are wrong, from {start} on, a multiple of {block}: look at the grid and the "
        "mask of the last block",
        "{counted} lie there; there are {size} elements, which {block} does not divide",
    ),
    Symptom.ZEROED: _Words(
        _K.ZEROED,
        "every wrong element is exactly 0: masked away, skipped, or set to 0",
        "{counted} are 0",
    ),
}
