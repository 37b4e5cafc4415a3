"""Text of the reports for each symptom of a wrong output.

One entry per symptom: its kind, a sentence that names the mistake, and the words for how well it fits.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.judge.diagnosis.symptoms import Symptom
from engine.model import DiagnosisKind


@dataclass(frozen=True)
class Words:
    """Templates for the facts of a clue; `counted` is for the number of wrong elements that have it."""

    kind: DiagnosisKind
    sentence: str
    evidence: str


_K = DiagnosisKind
WORDS = {
    Symptom.DIFFERS: Words(
        _K.RACE,
        "two calls on the same input differ: race between programs, or state kept between calls",
        "{counted} had another value in the previous call",
    ),
    Symptom.KEPT: Words(
        _K.KEPT_ANSWER,
        "output equals the answer for the inputs of the previous call",
        "{counted} hold the value of the previous call",
    ),
    Symptom.POISON: Words(
        _K.UNWRITTEN_OUTPUT,
        "never written{where}, or accumulated into uninitialized memory",
        "{counted} still hold the bytes {byte} that filled new memory before the call",
    ),
    Symptom.POISON_ADDED: Words(
        _K.UNWRITTEN_OUTPUT,
        "accumulated into uninitialized memory: set it to 0 first",
        "{counted} are too large by {value}, the bytes {byte} that filled new memory before the call",
    ),
    Symptom.UNCHANGED: Words(
        _K.UNWRITTEN_OUTPUT,
        "{argument} never written{where}: it holds its content from before the call",
        "{counted} are as they were before the call",
    ),
    Symptom.OLD_NAN: Words(
        _K.OLD_CONTENT,
        "the previous content of {argument} is part of the result, although it must not be: NaN stays NaN",
        "{counted} are NaN where {argument} held NaN",
    ),
    Symptom.DROPPED_NAN: Words(
        _K.DROPPED_NAN,
        "NaN is dropped at {count:,} elements: the kernel returns a number there",
        "{counted} should be NaN and are not",
    ),
    Symptom.MISSING_NAN: Words(
        _K.MISSING_NAN,
        "NaN is missing at {count:,} elements: no input is NaN there, but the result is, as that of inf - inf or 0 / 0",
        "{counted} should be NaN, with or without NaN in the inputs",
    ),
    Symptom.OVERWRITTEN: Words(
        _K.OLD_CONTENT,
        "elements of {argument} that must keep their content are written: a wrong mask or region of the store",
        "{counted} must be as they were before the call",
    ),
    Symptom.KEPT_NAN: Words(
        _K.KEPT_NAN,
        "NaN of {argument} is propagated, although the operator ignores it there",
        "{counted} are NaN where {argument} is, and should be a number",
    ),
    Symptom.ZERO_SIGN: Words(
        _K.ZERO_SIGN,
        "sign of zero lost: {wanted} becomes {found}, as by x + 0.0, a sum with 0, or a path through integers",
        "{counted} are {found} where {wanted} is expected",
    ),
    Symptom.UNSATURATED: Words(
        _K.OVERFLOW,
        "values beyond the range of {dtype} become NaN or infinite instead of +-{largest}",
        "{counted} should be +-{largest} and are not finite",
    ),
    Symptom.EQUAL_OPERANDS: Words(
        _K.WRONG_COMPARISON,
        "the comparison of equal operands is wrong: > and >=, or < and <=, are mixed up",
        "{counted} are those whose operands are equal",
    ),
    Symptom.TIE: Words(
        _K.WRONG_COMPARISON,
        "wrong rule for ties: another one of the equal elements of {argument} is chosen",
        "{counted} are positions of an element that equals the expected one",
    ),
    Symptom.COMPARED_NAN: Words(
        _K.WRONG_COMPARISON,
        "comparisons with NaN give {found}: negated, as not (a > b) in place of a <= b, they give the opposite",
        "{counted} have an operand that is NaN",
    ),
    Symptom.NAN_PLACE: Words(
        _K.WRONG_COMPARISON,
        "NaN of {argument} has the wrong place among the numbers: PyTorch orders it above all of them",
        "{counted} {where}",
    ),
    Symptom.CONTIGUOUS: Words(
        _K.WRONG_STRIDE,
        "{argument} treated as contiguous: strides {strides} ignored",
        "{counted} match when {argument} is read that way",
    ),
    Symptom.ROW_STRIDE: Words(
        _K.WRONG_STRIDE,
        "rows of {argument} are read with stride {stride}, but their stride is {right}",
        "{counted} match when {argument} is read that way",
    ),
    Symptom.FIRST_ROW: Words(
        _K.WRONG_STRIDE,
        "every line along dimension {dim} of {argument} is read as the first: the offset of the line is missing",
        "{counted} match when all of these lines of {argument} are the first",
    ),
    Symptom.STEP: Words(
        _K.WRONG_STRIDE,
        "dimension {dim} of {argument} is read with stride {stride}, but its stride is {right}",
        "{counted} match when {argument} is read that way",
    ),
    Symptom.REPEATED: Words(
        _K.WRONG_STRIDE,
        "{argument} is repeated from its beginning instead of broadcast to the shape of the output",
        "{counted} match when {argument} is laid out that way",
    ),
    Symptom.TRANSPOSED_OUTPUT: Words(
        _K.TRANSPOSED_INDEX,
        "rows and columns are swapped where the output is stored: the memory holds the transpose",
        "{counted} are the element of the transpose at their place",
    ),
    Symptom.TRANSPOSED_INPUT: Words(
        _K.TRANSPOSED_INDEX,
        "rows and columns of {argument} are swapped where it is read",
        "{counted} match when {argument} is read that way",
    ),
    Symptom.MOVED: Words(
        _K.WRONG_STRIDE,
        "correct values in wrong positions: element i has the value of {map}",
        "{counted} are the expected value of that other element",
    ),
    Symptom.ARGUMENT: Words(
        _K.IGNORED_ARGUMENT,
        "output equals the answer for {argument} = {value} instead of {given}",
        "{counted} match for {argument} = {value}",
    ),
    Symptom.STRIDE_ARGUMENT: Words(
        _K.WRONG_STRIDE,
        "output equals the answer for {argument} = {value} instead of {given}",
        "{counted} match for {argument} = {value}",
    ),
    Symptom.TWO_SOURCES: Words(
        _K.RACE,
        "negative indices in {argument} are clamped to 0, where {sources} sources write: the last write wins",
        "{counted} match when they are 0",
    ),
    Symptom.NEGATIVE_INDEX: Words(
        _K.IGNORED_ARGUMENT,
        "negative indices in {argument} are clamped to 0 instead of skipped",
        "{counted} match when they are 0",
    ),
    Symptom.SHIFTED_INDEX: Words(
        _K.WRONG_STRIDE,
        "every index in {argument} is read as one {step} than its value",
        "{counted} match when it is one {step}",
    ),
    Symptom.OWN_NUMBER: Words(
        _K.IGNORED_ARGUMENT,
        "{argument} ignored: 0, 1, 2, ... along dimension {dim} used instead",
        "{counted} match with those numbers as {argument}",
    ),
    Symptom.EXCHANGED: Words(
        _K.IGNORED_ARGUMENT,
        "{argument} and {other} are swapped",
        "{counted} match when they are swapped",
    ),
    Symptom.WHOLE_SCALED: Words(
        _K.MISSING_SCALE,
        "everything is multiplied by {argument}, which applies to one term only",
        "{counted} match when the answer for {argument} = 1 is multiplied by {argument}, {given}",
    ),
    Symptom.ONES: Words(
        _K.MISSING_SCALE,
        "multiplication by {argument} is missing",
        "{counted} match when {argument} is 1 throughout",
    ),
    Symptom.ZEROS: Words(
        _K.MISSING_BIAS,
        "{argument} is not added",
        "{counted} match when {argument} is 0 throughout",
    ),
    Symptom.BASE_TWO: Words(
        _K.MISSING_SCALE,
        "exp2 used instead of exp: multiply x by log2(e) = 1.442695",
        "{counted} match with powers of 2 in place of powers of e",
    ),
    Symptom.CONJUGATED: Words(
        _K.IGNORED_ARGUMENT,
        "wrong conjugation of {argument}: conjugated instead of plain, or vice versa",
        "{counted} match when {argument} is conjugated",
    ),
    Symptom.SIGN: Words(
        _K.MISSING_SCALE,
        "{argument} has the wrong sign",
        "{counted} match for -{argument}",
    ),
    Symptom.INNER_SIGN: Words(
        _K.MISSING_SCALE,
        "sign error: output equals -f(-{argument})",
        "{counted} match -f(-{argument})",
    ),
    Symptom.NO_SIGN: Words(
        _K.MISSING_SCALE,
        "the sign of {argument} is lost",
        "{counted} match for the absolute value of {argument}",
    ),
    Symptom.HALVES: Words(
        _K.WRONG_STRIDE,
        "the two halves of the last dimension of {argument} are swapped",
        "{counted} match when they are swapped",
    ),
    Symptom.HALF_SIGN: Words(
        _K.MISSING_SCALE,
        "the second half of the last dimension of {argument} has the wrong sign",
        "{counted} match when its sign is inverted",
    ),
    Symptom.BACKWARDS: Words(
        _K.WRONG_STRIDE,
        "dimension {dim} of {argument} is read in reverse",
        "{counted} match when that dimension is reversed",
    ),
    Symptom.TOWARD_ZERO: Words(
        _K.ROUNDING_MODE,
        "rounded toward zero instead of down: negative results are too large by 1",
        "{counted} are negative and too large by 1",
    ),
    Symptom.WRAPPED: Words(
        _K.OVERFLOW,
        "integer overflow: values wrap around at {bits} bits; compute them in a wider type",
        "{counted} are the expected value modulo 2^{bits}",
    ),
    Symptom.OVERFLOWN: Words(
        _K.OVERFLOW,
        "an intermediate overflows {dtype} (largest value {largest}): compute it in float32",
        "{counted} match when all is computed in {dtype}",
    ),
    Symptom.EXPONENT: Words(
        _K.OVERFLOW,
        "exp overflows or underflows float32: subtract the maximum of the whole line first",
        "{counted} are in lines of {argument} whose largest value is above 88 or below -87",
    ),
    Symptom.MAXIMUM_FROM_ZERO: Words(
        _K.REDUCTION_IDENTITY,
        "a maximum starts at 0 instead of -inf: where all values are far below 0, every exponential is 0",
        "{counted} are in lines of {argument} whose largest value is below -87, and lines above 88 are correct",
    ),
    Symptom.MASKED_LINE: Words(
        _K.REDUCTION_IDENTITY,
        "-inf minus -inf is NaN: a part of a line that is all -inf has no maximum to subtract",
        "{counted} are in lines of {argument} that hold -inf; no line without one is wrong",
    ),
    Symptom.DIVISOR: Words(
        _K.MISSING_SCALE,
        "divided by the padded length {width} instead of {size}",
        "{counted} match when that dimension is {width} long with zeros at its end, which add nothing to the sum",
    ),
    Symptom.PADDED: Words(
        _K.REDUCTION_IDENTITY,
        "masked lanes contribute 0 to the reduction: {size} elements are read as {width}",
        "{counted} match when that dimension is {width} long with zeros at its end",
    ),
    Symptom.LAST_BLOCK: Words(
        _K.RACE,
        "only elements from {start} on in {dim} of {argument} count: programs overwrite each other's part, or a loop "
        "assigns where it should add",
        "{counted} match when {argument} is {fill} before {start}, a multiple of {block}",
    ),
    Symptom.BLOCK_SCALE: Words(
        _K.RACE,
        "each block of {block} columns is off by its own factor, the last by none: programs read what other programs "
        "are writing",
        "{counted} have the factor of their block",
    ),
    Symptom.CARRY: Words(
        _K.LOST_RESCALE,
        "the carry between blocks of {block} along dimension {dim} is lost",
        "{counted} are off by the expected value at the end of the previous block",
    ),
    Symptom.RESCALE: Words(
        _K.LOST_RESCALE,
        "the running sum is not rescaled when a later block raises the maximum",
        "{counted} match when {argument} is summed in blocks of {block} along dimension {dim}, each by the maximum so "
        "far",
    ),
    Symptom.ROUNDED_INPUTS: Words(
        _K.PRECISION,
        "the inputs are rounded to {dtype} before they are used",
        "{counted} match when the inputs are rounded to {dtype}",
    ),
    Symptom.SIZE_ENDED: Words(
        _K.TAIL_MASK,
        "elements from {value} on are left out, although {argument} is {given}: the tail after the last whole block "
        "of {block}",
        "{counted} match for {argument} = {value}",
    ),
    Symptom.ENDED: Words(
        _K.TAIL_MASK,
        "elements from {start} on in {dim} of {argument} are left out: the tail after the last whole block of {block}",
        "{counted} match when {argument} is {fill} from {start} on, of {size}",
    ),
    Symptom.LAST_ONE: Words(
        _K.TAIL_MASK,
        "the last element of {dim} of {argument} is left out: a mask ends one element early",
        "{counted} match when that one, of {size}, is {fill}",
    ),
    Symptom.LAST_FEW: Words(
        _K.TAIL_MASK,
        "the last {count} elements of {dim} of {argument} are left out: check for a division that rounds down",
        "{counted} match when those of {size} are {fill}",
    ),
    Symptom.FIRST_ONE: Words(
        _K.TAIL_MASK,
        "the first element of {dim} of {argument} is left out: a loop or mask starts one element late",
        "{counted} match when that one, of {size}, is {fill}",
    ),
    Symptom.TWICE: Words(
        _K.TAIL_MASK,
        "elements from {start} on in {dim} of {argument} count twice: blocks or programs overlap",
        "{counted} match when it is doubled there",
    ),
    Symptom.SMALL_ERRORS: Words(
        _K.PRECISION,
        "{extent} errors are small: rounding of values or sums in {dtype}",
        "{counted}: the largest of their errors is {largest:.1e} of the output's size, a typical one {typical:.1e}; "
        "{dtype} rounds by up to {rounding:.1e}",
    ),
    Symptom.SCALE: Words(
        _K.MISSING_SCALE,
        "output is {factor:.6g} times the expected value{known}",
        "{counted} have that factor",
    ),
    Symptom.LINE_SCALE: Words(
        _K.MISSING_SCALE,
        "each line along dimension {dim} is off by its own factor, from {least:.6g} to {most:.6g}: check what the "
        "line is divided by",
        "{counted} have the factor of their line",
    ),
    Symptom.OFFSET: Words(
        _K.MISSING_BIAS,
        "output is off by {offset:.6g}{known}",
        "{counted} have that offset",
    ),
    Symptom.LINE_OFFSET: Words(
        _K.MISSING_BIAS,
        "each line along dimension {dim} is off by its own constant: an added term is missing",
        "{counted} have the offset of their line",
    ),
    Symptom.TAIL: Words(
        _K.TAIL_MASK,
        "only the end of dimension {dim} is wrong, from {start} on, a multiple of {block}: check the mask of the last "
        "block",
        "{counted} are there; the dimension is {size} long, which {block} does not divide",
    ),
    Symptom.FLAT_TAIL: Words(
        _K.TAIL_MASK,
        "only the last {count} elements are wrong, from {start} on, a multiple of {block}: check the grid and the "
        "mask of the last block",
        "{counted} are there; there are {size} elements, which {block} does not divide",
    ),
    Symptom.ZEROED: Words(
        _K.ZEROED,
        "every wrong element is exactly 0: masked away, skipped, or set to 0",
        "{counted} are 0",
    ),
}
