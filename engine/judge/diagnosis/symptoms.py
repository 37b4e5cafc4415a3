"""What can be seen in a wrong output, and how it is said.

One entry for each symptom: its kind, a sentence that names the mistake, and the words for how well it fits.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from engine.model import DiagnosisKind


class Symptom(enum.StrEnum):
    """What can be seen in a wrong output, that which says most about the cause first."""

    DIFFERS = "differs"
    KEPT = "kept"
    POISON = "poison"
    POISON_ADDED = "poison_added"
    UNCHANGED = "unchanged"
    OLD_NAN = "old_nan"
    DROPPED_NAN = "dropped_nan"
    CONTIGUOUS = "contiguous"
    ROW_STRIDE = "row_stride"
    FIRST_ROW = "first_row"
    STEP = "step"
    REPEATED = "repeated"
    TRANSPOSED_OUTPUT = "transposed_output"
    TRANSPOSED_INPUT = "transposed_input"
    MOVED = "moved"
    ARGUMENT = "argument"
    STRIDE_ARGUMENT = "stride_argument"
    TWO_SOURCES = "two_sources"
    NEGATIVE_INDEX = "negative_index"
    SHIFTED_INDEX = "shifted_index"
    OWN_NUMBER = "own_number"
    EXCHANGED = "exchanged"
    WHOLE_SCALED = "whole_scaled"
    ONES = "ones"
    ZEROS = "zeros"
    BASE_TWO = "base_two"
    SIGN = "sign"
    INNER_SIGN = "inner_sign"
    NO_SIGN = "no_sign"
    HALVES = "halves"
    HALF_SIGN = "half_sign"
    BACKWARDS = "backwards"
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
    SIZE_ENDED = "size_ended"
    ENDED = "ended"
    LAST_ONE = "last_one"
    LAST_FEW = "last_few"
    FIRST_ONE = "first_one"
    TWICE = "twice"
    NEGATIVE_AS_ZERO = "negative_as_zero"
    SMALL_ERRORS = "small_errors"
    SCALE = "scale"
    LINE_SCALE = "line_scale"
    OFFSET = "offset"
    LINE_OFFSET = "line_offset"
    TAIL = "tail"
    FLAT_TAIL = "flat_tail"
    ZEROED = "zeroed"


@dataclass(frozen=True)
class Words:
    """What is filled in with the facts of a clue; `counted` is how many of the wrong elements have it."""

    kind: DiagnosisKind
    sentence: str
    evidence: str


_K = DiagnosisKind
WORDS = {
    Symptom.DIFFERS: Words(
        _K.RACE,
        "two calls on the same input differ: programs race, or state is kept between calls",
        "{counted} were another value in the call before",
    ),
    Symptom.KEPT: Words(
        _K.KEPT_ANSWER,
        "this is the answer to the call before, whose input had other values",
        "{counted} are what the call before left",
    ),
    Symptom.POISON: Words(
        _K.UNWRITTEN_OUTPUT,
        "never written{where}, or added to memory that nobody had set",
        "{counted} still hold the bytes {byte} that filled new memory before the call",
    ),
    Symptom.POISON_ADDED: Words(
        _K.UNWRITTEN_OUTPUT,
        "added to memory that nobody had set: set it to 0 first",
        "{counted} are too large by {value}, the bytes {byte} that filled new memory before the call",
    ),
    Symptom.UNCHANGED: Words(
        _K.UNWRITTEN_OUTPUT,
        "{argument} was never written{where}: it holds what it held before the call",
        "{counted} are as they were before the call",
    ),
    Symptom.OLD_NAN: Words(
        _K.OLD_CONTENT,
        "what {argument} held before the call went into the result, although it should not: nan stays nan",
        "{counted} are nan where {argument} held nan",
    ),
    Symptom.DROPPED_NAN: Words(
        _K.DROPPED_NAN,
        "NaN is dropped at {count:,} elements: the kernel returns a number there",
        "{counted} should be NaN and are not",
    ),
    Symptom.CONTIGUOUS: Words(
        _K.WRONG_STRIDE,
        "{argument} is read as if it were contiguous: its strides {strides} are not looked at",
        "{counted} come out when {argument} is read that way",
    ),
    Symptom.ROW_STRIDE: Words(
        _K.WRONG_STRIDE,
        "rows of {argument} are read {stride} elements apart, but they lie {right} apart",
        "{counted} come out when {argument} is read that way",
    ),
    Symptom.FIRST_ROW: Words(
        _K.WRONG_STRIDE,
        "every line along dimension {dim} of {argument} is read as the first: the offset of the line is missing",
        "{counted} come out when all of these lines of {argument} are the first",
    ),
    Symptom.STEP: Words(
        _K.WRONG_STRIDE,
        "dimension {dim} of {argument} is walked in steps of {stride}, but its elements lie {right} apart",
        "{counted} come out when {argument} is read that way",
    ),
    Symptom.REPEATED: Words(
        _K.WRONG_STRIDE,
        "{argument} is repeated from its beginning instead of broadcast to the shape of the output",
        "{counted} come out when {argument} is laid out that way",
    ),
    Symptom.TRANSPOSED_OUTPUT: Words(
        _K.TRANSPOSED_INDEX,
        "rows and columns are swapped where the output is stored: the memory holds the transpose",
        "{counted} are the element of the transpose at their place",
    ),
    Symptom.TRANSPOSED_INPUT: Words(
        _K.TRANSPOSED_INDEX,
        "rows and columns of {argument} are swapped where it is read",
        "{counted} come out when {argument} is read that way",
    ),
    Symptom.MOVED: Words(
        _K.WRONG_STRIDE,
        "the right values lie in the wrong places: element i holds what belongs to {map}",
        "{counted} are the expected value of that other element",
    ),
    Symptom.ARGUMENT: Words(
        _K.IGNORED_ARGUMENT,
        "this is the answer for {value} in place of {given} as {argument}",
        "{counted} come out for {argument} = {value}",
    ),
    Symptom.STRIDE_ARGUMENT: Words(
        _K.WRONG_STRIDE,
        "this is the answer for {value} in place of {given} as {argument}",
        "{counted} come out for {argument} = {value}",
    ),
    Symptom.TWO_SOURCES: Words(
        _K.RACE,
        "numbers below 0 in {argument} are taken for 0, where {sources} sources meet: whoever comes last remains",
        "{counted} come out when they are 0",
    ),
    Symptom.NEGATIVE_INDEX: Words(
        _K.IGNORED_ARGUMENT,
        "numbers below 0 in {argument} are taken for 0: what they say is to be skipped lands there",
        "{counted} come out when they are 0",
    ),
    Symptom.SHIFTED_INDEX: Words(
        _K.WRONG_STRIDE,
        "every number in {argument} is taken for one {step} than it is",
        "{counted} come out when it is one {step}",
    ),
    Symptom.OWN_NUMBER: Words(
        _K.IGNORED_ARGUMENT,
        "{argument} is not looked at: 0, 1, 2, ... along dimension {dim} stand in its place",
        "{counted} come out when {argument} counts so",
    ),
    Symptom.EXCHANGED: Words(
        _K.IGNORED_ARGUMENT,
        "{argument} and {other} are taken for each other",
        "{counted} come out when they are exchanged",
    ),
    Symptom.WHOLE_SCALED: Words(
        _K.MISSING_SCALE,
        "everything is multiplied by {argument}, which belongs to a part of it",
        "{counted} come out when the answer for {argument} = 1 is multiplied by {argument}, {given}",
    ),
    Symptom.ONES: Words(
        _K.MISSING_SCALE,
        "{argument} is not multiplied in",
        "{counted} come out when {argument} is 1 throughout",
    ),
    Symptom.ZEROS: Words(
        _K.MISSING_BIAS,
        "{argument} is not added",
        "{counted} come out when {argument} is 0 throughout",
    ),
    Symptom.BASE_TWO: Words(
        _K.MISSING_SCALE,
        "exp2 is taken where exp is meant: exp(x) is exp2(x * 1.442695), with the logarithm of e to the base 2",
        "{counted} come out with powers of 2 in the place of powers of e",
    ),
    Symptom.SIGN: Words(
        _K.MISSING_SCALE,
        "{argument} has the wrong sign",
        "{counted} come out for -{argument}",
    ),
    Symptom.INNER_SIGN: Words(
        _K.MISSING_SCALE,
        "a sign on the way is wrong: this is minus the answer for -{argument}",
        "{counted} come out so",
    ),
    Symptom.NO_SIGN: Words(
        _K.MISSING_SCALE,
        "{argument} has lost its sign",
        "{counted} come out for the absolute value of {argument}",
    ),
    Symptom.HALVES: Words(
        _K.WRONG_STRIDE,
        "the two halves of the last dimension of {argument} are taken for each other",
        "{counted} come out when they are exchanged",
    ),
    Symptom.HALF_SIGN: Words(
        _K.MISSING_SCALE,
        "the second half of the last dimension of {argument} has the wrong sign",
        "{counted} come out when its sign is turned",
    ),
    Symptom.BACKWARDS: Words(
        _K.WRONG_STRIDE,
        "dimension {dim} of {argument} is walked from its end",
        "{counted} come out when that dimension is turned round",
    ),
    Symptom.WRAPPED: Words(
        _K.OVERFLOW,
        "integers wrap around at {bits} bits: they are computed in a type that is too narrow",
        "{counted} are the expected value modulo 2^{bits}",
    ),
    Symptom.OVERFLOWN: Words(
        _K.OVERFLOW,
        "a value on the way is too large for {dtype}, whose largest is {largest}: compute it in float32",
        "{counted} come out when all is computed in {dtype}",
    ),
    Symptom.EXPONENT: Words(
        _K.OVERFLOW,
        "exp of the values themselves leaves the range of float32: subtract the maximum of the whole line first",
        "{counted} lie in lines of {argument} whose largest value is above 88 or below -87",
    ),
    Symptom.MAXIMUM_FROM_ZERO: Words(
        _K.REDUCTION_IDENTITY,
        "a maximum begins at 0 instead of -inf: where all values are far below 0, every exponential is 0",
        "{counted} lie in lines of {argument} whose largest value is below -87, and lines above 88 are right",
    ),
    Symptom.MASKED_LINE: Words(
        _K.REDUCTION_IDENTITY,
        "-inf minus -inf is nan: a part of a line that is all -inf has no maximum to subtract",
        "{counted} lie in lines of {argument} that hold -inf; no line without one is wrong",
    ),
    Symptom.PADDED: Words(
        _K.REDUCTION_IDENTITY,
        "the padding of a dimension takes part, as 0: {size} is read as {width}",
        "{counted} come out when that dimension is {width} long with zeros at its end",
    ),
    Symptom.LAST_BLOCK: Words(
        _K.RACE,
        "only what lies from {start} on in {dim} of {argument} counts: programs overwrite each other's part, or a loop "
        "sets what it should add to",
        "{counted} come out when {argument} is {fill} before {start}, a multiple of {block}",
    ),
    Symptom.BLOCK_SCALE: Words(
        _K.RACE,
        "each block of {block} columns is off by a factor of its own, the last by none: it depends on which "
        "program ran before, so programs read what others are writing",
        "{counted} keep the factor of their block",
    ),
    Symptom.CARRY: Words(
        _K.LOST_RESCALE,
        "every block of {block} along dimension {dim} starts anew: what the blocks before it came to is not carried on",
        "{counted} are off by what was expected at the end of the block before",
    ),
    Symptom.RESCALE: Words(
        _K.LOST_RESCALE,
        "what was summed up is not rescaled when a later block raises the maximum",
        "{counted} come out when {argument} is summed up in blocks of {block} along dimension {dim}, each by the "
        "maximum so far",
    ),
    Symptom.ROUNDED_INPUTS: Words(
        _K.PRECISION,
        "the inputs are rounded to {dtype} on the way",
        "{counted} come out when the inputs are rounded to {dtype}",
    ),
    Symptom.LOW_ARITHMETIC: Words(
        _K.PRECISION,
        "it is computed in {dtype}, which is too narrow here",
        "{counted} come out when all is computed in {dtype}",
    ),
    Symptom.SIZE_ENDED: Words(
        _K.TAIL_MASK,
        "what lies from {value} on, of the {given} that {argument} says, is left out: the tail after the last whole "
        "block of {block}",
        "{counted} come out for {argument} = {value}",
    ),
    Symptom.ENDED: Words(
        _K.TAIL_MASK,
        "what lies from {start} on in {dim} of {argument} is left out: the tail after the last whole block of {block}",
        "{counted} come out when {argument} is {fill} from {start} on, of {size}",
    ),
    Symptom.LAST_ONE: Words(
        _K.TAIL_MASK,
        "the last element of {dim} of {argument} is left out: a mask ends one element early",
        "{counted} come out when that one, of {size}, is {fill}",
    ),
    Symptom.LAST_FEW: Words(
        _K.TAIL_MASK,
        "the last {count} elements of {dim} of {argument} are left out: look for a division that rounds down where it "
        "is shared out",
        "{counted} come out when those of {size} are {fill}",
    ),
    Symptom.FIRST_ONE: Words(
        _K.TAIL_MASK,
        "the first element of {dim} of {argument} is left out: something begins one element late",
        "{counted} come out when that one, of {size}, is {fill}",
    ),
    Symptom.TWICE: Words(
        _K.TAIL_MASK,
        "what lies from {start} on in {dim} of {argument} counts twice: blocks or programs overlap",
        "{counted} come out when it is doubled there",
    ),
    Symptom.NEGATIVE_AS_ZERO: Words(
        _K.ZEROED,
        "what is negative in {argument} counts as 0",
        "{counted} come out when it is 0",
    ),
    Symptom.SMALL_ERRORS: Words(
        _K.PRECISION,
        "all errors are small: as of numbers or sums that are kept in {dtype}",
        "the largest error is {largest:.1e} of the output's size, a typical one {typical:.1e}; {dtype} rounds by "
        "up to {rounding:.1e}",
    ),
    Symptom.SCALE: Words(
        _K.MISSING_SCALE,
        "everything is {factor:.6g} times what it should be{known}",
        "{counted} keep that factor",
    ),
    Symptom.LINE_SCALE: Words(
        _K.MISSING_SCALE,
        "each line along dimension {dim} is off by a factor of its own, from {least:.6g} to {most:.6g}: look at "
        "what the line is divided by",
        "{counted} keep the factor of their line",
    ),
    Symptom.OFFSET: Words(
        _K.MISSING_BIAS,
        "everything is off by {offset:.6g}{known}",
        "{counted} keep that distance",
    ),
    Symptom.LINE_OFFSET: Words(
        _K.MISSING_BIAS,
        "each line along dimension {dim} is off by a value of its own: something that is added to it is missing",
        "{counted} keep the distance of their line",
    ),
    Symptom.TAIL: Words(
        _K.TAIL_MASK,
        "only the end of dimension {dim} is wrong, from {start} on, a multiple of {block}: look at the mask of the "
        "last block",
        "{counted} lie there; the dimension is {size} long, which {block} does not divide",
    ),
    Symptom.FLAT_TAIL: Words(
        _K.TAIL_MASK,
        "only the last {count} elements are wrong, from {start} on, a multiple of {block}: look at the grid and the "
        "mask of the last block",
        "{counted} lie there; there are {size} elements, which {block} does not divide",
    ),
    Symptom.ZEROED: Words(
        _K.ZEROED,
        "every wrong element is exactly 0: masked away, skipped, or set to 0",
        "{counted} are 0",
    ),
}
