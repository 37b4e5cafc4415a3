"""What follows from a replay."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from engine.model import Severity
from engine.model.layers import Coverage, Layer
from engine.model.proof import COMPUTED_ELSEWHERE, CaseProof, Gap
from engine.protocol.proof.tape import Addressed, Given, HostRead, Moved, TapedPlace
from engine.replay.agreement import Agreement, Disagreement
from engine.run.proving import conclusion
from engine.run.proving.replays import NotReplayed, Replayed
from engine.run.proving.stage import finding_of, report_of
from engine.run.proving.torch_work import AnswerKind
from tests.engine.replay.tapes import launched, tape, vector

LAUNCH = launched(vector(0), vector(1))
PRODUCT = Given(storage=1, operator="aten::mm", line=12)
SUM = Given(storage=1, operator="aten::sum", line=39)
JOINED = Given(storage=1, operator="aten::complex", line=39)
TABLE = Given(storage=1, line=8)
NUMBERS = Given(storage=1, line=8, data=bytes(range(24)))
READ = HostRead(operator="Tensor.item", line=20)


def with_reads(*steps):
    return msgspec.structs.replace(tape(*steps), reads=(READ,))


def replayed(*foreign, mismatch="return: 3 of 6 wrong", by_kernels=True):
    return Replayed(mismatch=mismatch, moved_bytes=24, foreign=foreign, by_kernels=by_kernels)


@pytest.mark.parametrize(
    ("recorded", "foreign", "gap", "reason"),
    [
        (tape(PRODUCT), (0,), Gap.TORCH, "torch computes: aten::mm (line 12)"),
        (tape(SUM), (0,), Gap.TORCH_LIGHT, "torch computes: aten::sum (line 39)"),
        (tape(JOINED), (0,), Gap.TORCH_LIGHT, "torch computes: aten::complex (line 39)"),
        (tape(SUM, PRODUCT), (0, 1), Gap.TORCH, "torch computes: aten::mm (line 12)"),
        (tape(TABLE), (0,), Gap.MEMORY, "memory of unknown origin: 24 bytes (line 8)"),
        (with_reads(LAUNCH), (), Gap.HOST_READS, "the host reads results (`Tensor.item`, line 20)"),
        (
            tape(LAUNCH),
            (),
            Gap.NOT_REPRODUCED,
            "the recorded launches and moves do not give the answer: return: 3 of 6 wrong",
        ),
    ],
    ids=["product", "sum", "light operator that joins parts", "heaviest", "memory", "host", "none"],
)
def test_a_wrong_replay_has_its_reason(recorded, foreign, gap, reason):
    proof = conclusion.of_mismatch("c", recorded, replayed(*foreign))
    assert (proof.gap, proof.reason) == (gap, reason)


OFFSETS = Given(storage=1, operator="aten::__rshift__", line=5, integers=True)
_OFFSETS = "torch computes integers for the kernels, such as offsets: aten::__rshift__ (line 5)"


@pytest.mark.parametrize(
    ("recorded", "has_fractions", "gap", "reason"),
    [
        ((OFFSETS,), True, Gap.TORCH_LIGHT, _OFFSETS),
        ((OFFSETS, SUM), True, Gap.TORCH_LIGHT, "torch computes: aten::sum (line 39)"),
        ((OFFSETS,), False, Gap.TORCH, "torch computes: aten::__rshift__ (line 5)"),
        (
            (msgspec.structs.replace(OFFSETS, integers=False),),
            True,
            Gap.TORCH,
            "torch computes: aten::__rshift__ (line 5)",
        ),
        (
            (msgspec.structs.replace(OFFSETS, operator="aten::sort"),),
            True,
            Gap.TORCH_LIGHT,
            "torch computes integers for the kernels, such as offsets: aten::sort (line 5)",
        ),
        (
            (msgspec.structs.replace(OFFSETS, operator="aten::sort", integers=False),),
            True,
            Gap.TORCH,
            "torch computes: aten::sort (line 5)",
        ),
        (
            (msgspec.structs.replace(OFFSETS, operator="aten::topk"),),
            True,
            Gap.TORCH,
            "torch computes: aten::topk (line 5)",
        ),
    ],
    ids=["offsets", "beside a sum", "integer answer", "bits", "order", "order of results", "largest"],
)
def test_integer_arithmetic_makes_no_fractional_answer(recorded, has_fractions, gap, reason):
    right = replayed(*range(len(recorded)))
    proof = conclusion.of_mismatch("c", tape(*recorded), right, answer=AnswerKind(has_fractions=has_fractions))
    assert (proof.gap, proof.reason) == (gap, reason)
    assert bool(conclusion.flagging([proof])) is (gap is Gap.TORCH)


def test_kernel_stopped_by_noise_offsets_names_integers():
    stopped = NotReplayed(reason="out of bounds", stopped=True)
    proof = conclusion.of_refusal("c", tape(OFFSETS, LAUNCH), stopped, answer=AnswerKind(has_fractions=True))
    assert (proof.gap, proof.reason) == (Gap.TORCH_LIGHT, _OFFSETS)


def test_memory_of_the_call_outweighs_light_operators():
    proof = conclusion.of_mismatch("c", tape(TABLE, SUM), replayed(0, 1), varying=(0,))
    assert (proof.gap, proof.reason) == (Gap.MEMORY, "memory of unknown origin: 24 bytes (line 8)")


@pytest.mark.parametrize(
    ("numbers", "answer_bytes", "gap"),
    [(63, 8, None), (64, 512, Gap.NUMBERS), (64, 1548, None), (200, 800, Gap.NUMBERS), (64, 1547, Gap.NUMBERS)],
)
def test_numbers_as_many_as_the_answer_flag(numbers, answer_bytes, gap):
    proof = conclusion.of_numbers("c", numbers, answer_bytes, largest=answer_bytes // 12)  # values and indices
    assert (proof and proof.gap) == gap
    assert not proof or conclusion.flagging([proof]) == (proof,)


@pytest.mark.parametrize(
    ("stopped", "varying", "gap"),
    [(True, (0,), Gap.MEMORY), (True, (), Gap.UNSUPPORTED), (False, (0,), Gap.UNSUPPORTED)],
)
def test_kernel_stopped_by_noise_in_memory_flags(stopped, varying, gap):
    refused = NotReplayed(reason="double: out of bounds", stopped=stopped)
    assert conclusion.of_refusal("c", tape(TABLE, LAUNCH), refused, varying).gap is gap


def test_kernel_stopped_by_operator_noise_names_operator():
    made = Given(storage=1, data=None, operator="aten::nonzero", line=45)
    proof = conclusion.of_refusal("c", tape(made, LAUNCH), NotReplayed(reason="out of bounds", stopped=True))
    assert (proof.gap, proof.reason) == (Gap.TORCH_LIGHT, "torch computes: aten::nonzero (line 45)")
    assert conclusion.flagging([proof]) == ()


def test_kernel_stopped_by_noise_names_no_known_constant():
    constant = Given(storage=1, data=bytes(24), operator="aten::arange", line=44)
    made = Given(storage=1, data=None, operator="aten::searchsorted", line=45)
    stopped = NotReplayed(reason="out of bounds", stopped=True)
    named = [
        conclusion.of_refusal("c", tape(*steps, LAUNCH), stopped).reason for steps in ((constant, made), (constant,))
    ]
    assert named == ["torch computes: aten::searchsorted (line 45)", "torch computes: aten::arange (line 44)"]


@pytest.mark.parametrize(("data", "answer_bytes", "smaller"), [(8, 128, True), (8, 127, False), (None, 1 << 20, False)])
def test_memory_far_smaller_than_the_answer_holds_none(data, answer_bytes, smaller):
    given = Given(storage=1, data=bytes(data) if data is not None else None)
    assert conclusion.is_far_smaller([given], answer_bytes) is smaller


@pytest.mark.parametrize(
    ("answer_bytes", "table_bytes", "can"),
    [(24, 1 << 31, False), (24, 25, False), (24, 24, True), (24, 0, True), (25, 0, False), (0, 0, False)],
    ids=["far", "no room", "table", "any", "larger answer", "no answer"],
)
def test_constants_hold_answers_of_a_table_at_most(answer_bytes, table_bytes, can):
    right = dataclasses.replace(replayed(mismatch=""), table_bytes=table_bytes, answer_bytes=answer_bytes)
    assert conclusion.can_hold_the_answer(24, right) is can


@pytest.mark.parametrize(("words", "gap"), [(63, None), (64, Gap.NUMBERS)])
def test_tables_of_many_addresses_may_stand_for_an_answer(words, gap):
    table = Addressed(storage=1, words=(TapedPlace(storage=0, offset_bytes=0),) * (words - 1) + (7,))
    number_bytes = conclusion.bytes_of_numbers((table, NUMBERS))
    assert number_bytes == 8 * words
    proof = conclusion.of_numbers_for_all("c", number_bytes, 12)
    assert (proof and proof.gap) == gap


def test_different_numbers_of_all_launches_count_once():
    launches = tuple(launched(vector(0), vector(1), n=n) for n in (1, 2, 1))
    assert conclusion.bytes_of_numbers(launches) == 16


@pytest.mark.parametrize(
    ("steps", "may"),
    [
        ((LAUNCH,), False),
        ((TABLE,), False),
        ((msgspec.structs.replace(TABLE, data=bytes(range(24))),), True),
        ((Addressed(storage=1, words=(7,)),), True),
        (tuple(launched(vector(0), vector(1), n=n) for n in range(63)), False),
        (tuple(launched(vector(0), vector(1), n=n) for n in range(64)), True),
    ],
    ids=["launch", "zeros", "constants", "addresses", "few numbers", "many numbers"],
)
def test_tapes_that_may_hold_a_table(steps, may):
    assert conclusion.may_hold_tables(steps) is may


@pytest.mark.parametrize(
    ("operator", "integers", "is_rearrangement", "gap"),
    [
        ("aten::flip", False, True, Gap.TORCH),
        ("aten::flip", True, True, Gap.TORCH_LIGHT),
        ("aten::where", True, True, Gap.TORCH_LIGHT),
        ("aten::where", True, False, Gap.TORCH),
        ("aten::where", False, True, Gap.TORCH),
        ("aten::flip", False, False, Gap.TORCH_LIGHT),
        ("aten::resolve_conj", False, True, Gap.TORCH_LIGHT),
        ("aten::copy_.float8_e4m3fn", False, True, Gap.TORCH_LIGHT),
        ("aten::resolve_neg", False, True, Gap.TORCH_LIGHT),
    ],
    ids=[
        "flip",
        "flip of positions",
        "choice of positions",
        "choice for another answer",
        "choice of elements",
        "flip for another answer",
        "conjugates",
        "cast",
        "negatives",
    ],
)
def test_move_by_torch_makes_a_rearrangement(operator, integers, is_rearrangement, gap):
    moved = Given(storage=1, operator=operator, integers=integers)
    answer = AnswerKind(has_fractions=True, is_rearrangement=is_rearrangement)
    assert conclusion.of_mismatch("c", tape(moved), replayed(0), answer=answer).gap is gap


@pytest.mark.parametrize(
    ("step", "varying", "answer_bytes", "reason"),
    [
        (PRODUCT, (), 24, "torch computes: aten::mm (line 12), and a kernel that stores the answer gets the result"),
        (PRODUCT, (), 16 * 24 - 1, "torch computes: aten::mm (line 12), and a kernel that stores the answer gets the"),
        (PRODUCT, (), 16 * 24, None),
        (msgspec.structs.replace(PRODUCT, reads=(0,)), (), 16 * 48 - 1, "torch computes: aten::mm (line 12), and a"),
        (msgspec.structs.replace(PRODUCT, reads=(0,)), (), 16 * 48, None),
        (TABLE, (), 24, None),
        (msgspec.structs.replace(PRODUCT, data=bytes(24)), (), 24, None),
        (
            msgspec.structs.replace(PRODUCT, data=bytes(24)),
            (0,),
            24,
            "torch computes: aten::mm (line 12), and a kernel",
        ),
    ],
    ids=[
        "product", "not far smaller", "far smaller", "made of as much", "made of far less", "no operator", "constant",
        "differs from call to call",
    ],
)  # fmt: skip
def test_right_answer_beside_results_of_operators_is_not_proven(step, varying, answer_bytes, reason):
    right = dataclasses.replace(replayed(0, mismatch=""), answer_bytes=answer_bytes)
    proof = conclusion.of_operators("c", tape(step, LAUNCH), right, varying)
    assert (proof and (proof.gap, proof.reason[: len(reason or "")])) == (reason and (Gap.TORCH_LIGHT, reason))


def test_operators_that_no_kernel_reads_from_do_not_matter():
    right = dataclasses.replace(replayed(mismatch=""), answer_bytes=24)
    assert conclusion.of_operators("c", tape(PRODUCT, LAUNCH), right, ()) is None


@pytest.mark.parametrize(
    ("proof", "idle"),
    [
        (CaseProof(case="c"), True),
        (CaseProof(case="c", moved_bytes=4), False),
        (CaseProof(case="c", constants="24 bytes", constant_bytes=24, answer_bytes=400), False),
        (CaseProof(case="c", gap=Gap.NO_LAUNCH, reason="moved"), False),
    ],
    ids=["nothing", "moves", "constants", "unproven"],
)
def test_only_a_proof_without_work_is_idle(proof, idle):
    assert conclusion.is_idle(proof) is idle


def test_a_right_replay_proves_the_case():
    proof = conclusion.of_match("c", tape(LAUNCH), replayed(mismatch=""), (), 24)
    assert proof == CaseProof(case="c", moved_bytes=24)


def test_memory_that_a_right_replay_used_is_named():
    proof = conclusion.of_match("c", tape(NUMBERS, LAUNCH), replayed(mismatch=""), (NUMBERS,), 400)
    assert (proof.proven, proof.constants) == (True, "memory of unknown origin: 24 bytes (line 8)")
    assert (proof.constant_bytes, proof.answer_bytes) == (24, 400)


def test_an_answer_that_operators_moved_is_not_proven():
    move = Moved(target=vector(1), source=vector(0))
    proof = conclusion.of_match("c", tape(move), replayed(mismatch="", by_kernels=False), (), 24)
    assert (proof.gap, proof.reason) == (
        Gap.NO_LAUNCH,
        "no launch wrote one of the outputs, or most of it; operators of torch moved it",
    )


@pytest.mark.parametrize(
    ("steps", "changes", "gap", "reason"),
    [
        (
            (Moved(target=vector(1), source=vector(0)), LAUNCH),
            {"rearranged_by": 0},
            Gap.TORCH_LIGHT,
            "the answer is a rearrangement, and a copy by torch may have made it",
        ),
        (
            (Moved(target=vector(1), source=vector(0)), LAUNCH),
            {"rearranged_by": 0, "made_by_moves": True},
            Gap.TORCH,
            "the answer is a rearrangement, and a copy by torch made it",
        ),
        (
            (NUMBERS, LAUNCH),
            {"looks_up_foreign": True},
            Gap.TORCH_LIGHT,
            "torch looks up elements, in or by memory of unknown origin: 24 bytes (line 8)",
        ),
        (
            (LAUNCH,),
            {"looks_up_table": True},
            Gap.TORCH_LIGHT,
            "torch looks up elements in a table that depends on no argument",
        ),
        (
            (LAUNCH,),
            {"looks_up_by_fractions": True},
            Gap.TORCH_LIGHT,
            "torch looks up elements at positions that are the bits of fractions",
        ),
        (
            (Moved(target=vector(1, dtype="int64"), source=vector(0)), LAUNCH),
            {"truncated_by": 0},
            Gap.TORCH_LIGHT,
            "torch drops the fractions of elements: a cast of float32 to int64",
        ),
    ],
    ids=["rearranged", "made", "foreign table", "table", "positions of fractions", "truncating cast"],
)
def test_moves_that_may_make_the_output_prove_nothing(steps, changes, gap, reason):
    right = dataclasses.replace(replayed(mismatch=""), **changes)
    used = tuple(step for step in steps if isinstance(step, Given))
    proof = conclusion.of_match("c", tape(*steps), right, used, 400)
    assert (proof.gap, proof.reason) == (gap, reason)


def test_tapes_differing_after_host_read_report_the_read():
    differing = Agreement(difference=Disagreement.STEPS, message="two calls of this case take 1 and 2 steps")
    assert conclusion.of_disagreement("c", with_reads(LAUNCH), differing).gap is Gap.HOST_READS
    assert conclusion.of_disagreement("c", tape(LAUNCH), differing).gap is Gap.UNSTEADY


def test_a_scalar_that_differs_is_the_reason():
    differing = Agreement(difference=Disagreement.SCALAR, message="a scalar that depends on the data: argument n")
    assert conclusion.of_disagreement("c", with_reads(LAUNCH), differing).gap is Gap.SCALAR


def test_a_tape_that_the_machine_refuses_is_unsupported():
    proof = conclusion.of_refusal("c", tape(LAUNCH), NotReplayed(reason="line 4: inline assembly"))
    assert (proof.gap, proof.reason) == (Gap.UNSUPPORTED, "not replayed: line 4: inline assembly")


PROVEN = CaseProof(case="a")


def gap(kind, case="b"):
    return CaseProof(case=case, gap=kind, reason=f"because of {kind}")


@pytest.mark.parametrize("kind", [Gap.TORCH, Gap.MEMORY, Gap.NOT_REPRODUCED])
def test_an_answer_computed_elsewhere_flags(kind):
    finding = finding_of((PROVEN, gap(Gap.HOST_READS), gap(kind, "c")))
    assert finding is not None
    assert (finding.check, finding.severity, finding.case) == ("proof", Severity.SUSPECT, "c")
    assert finding.message == f"1 of 3 cases is not computed by the kernels alone: because of {kind}"


def test_cases_wrong_on_other_inputs_flag_in_their_own_words():
    wrong = [conclusion.of_other_inputs(case, "return: 3 of 6 wrong") for case in "cd"]
    finding = finding_of((PROVEN, *wrong))
    assert finding is not None
    words = "right on the inputs of its calls, but wrong on others: return: 3 of 6 wrong"
    assert (finding.severity, finding.case) == (Severity.SUSPECT, "c")
    assert finding.message == f"2 of 3 cases: {words}"
    elsewhere = finding_of((*wrong, gap(Gap.TORCH, "e")))
    assert elsewhere is not None
    assert elsewhere.message == "1 of 3 cases is not computed by the kernels alone: because of torch computes"


def with_constants(answer_bytes, *, line=8, case="a"):
    """The proof of a case whose answer has this many bytes and is computed with 24 bytes of constants."""
    given = msgspec.structs.replace(NUMBERS, line=line)
    if answer_bytes <= 24:
        return conclusion.of_large_constants(case, tape(given, LAUNCH), (given,), answer_bytes)
    return conclusion.of_match(case, tape(given, LAUNCH), replayed(mismatch=""), (given,), answer_bytes)


def test_constants_independent_of_output_size_are_only_shown():
    small = with_constants(8)
    assert (small.gap, small.reason) == (Gap.MEMORY, "memory of unknown origin: 24 bytes (line 8)")
    assert finding_of((small, with_constants(16 * 24))) is None


def test_larger_constants_of_the_same_lines_bound_smaller_ones():
    small = dataclasses.replace(
        with_constants(8, case="b"), constant_bytes=20, reason="memory of unknown origin: 20 bytes"
    )
    assert finding_of((small, with_constants(16 * 24))) is None
    large = dataclasses.replace(small, constant_bytes=25)
    assert finding_of((large, with_constants(16 * 24))) is not None


@pytest.mark.parametrize(
    "others",
    [(), (with_constants(16 * 24 - 1),), (with_constants(4096, line=9),), (PROVEN,)],
    ids=["alone", "not far smaller", "other memory", "no constants"],
)
def test_constants_as_large_as_every_answer_flag(others):
    finding = finding_of((with_constants(8, case="b"), *others))
    assert finding is not None
    assert finding.case == "b"


def test_varying_memory_is_flagged_beside_constants_of_size():
    varying = conclusion.of_mismatch("b", tape(NUMBERS), replayed(0))
    assert finding_of((varying, with_constants(4096))) is not None


def test_repeated_bytes_are_not_constants():
    counters = msgspec.structs.replace(NUMBERS, data=bytes(24))
    assert conclusion.bytes_of_constants((NUMBERS, counters, TABLE)) == 24


@pytest.mark.parametrize("kind", sorted(set(Gap) - COMPUTED_ELSEWHERE - {Gap.OTHER_INPUTS}))
def test_every_other_gap_is_only_shown(kind):
    assert finding_of((PROVEN, gap(kind))) is None


def test_layer_is_checked_when_every_case_is_proven():
    report = report_of((PROVEN,))
    assert (report.layer, report.coverage, report.why) == (Layer.PROOF, Coverage.CHECKED, "")


def test_the_layer_names_the_first_gap():
    report = report_of((PROVEN, gap(Gap.SCALAR), gap(Gap.TORCH)))
    assert report.coverage is Coverage.NOT_CHECKED
    assert report.why == "2 of 3 cases are not proven, first b: because of scalar depends on data"


def test_a_failing_engine_is_never_the_kernels_fault():
    assert report_of((PROVEN, gap(Gap.ENGINE))).coverage is Coverage.ENGINE_FAILED


@pytest.mark.parametrize(
    ("seeds", "answer_bytes", "gap"),
    [(0, 4, None), (1, 128, None), (1, 127, Gap.SCALAR), (2, 255, Gap.SCALAR)],
)
def test_seeds_prove_only_far_larger_answers(seeds, answer_bytes, gap):
    assert conclusion.of_seeds(CaseProof(case="c"), seeds, answer_bytes).gap is gap


def test_seeds_are_numbers_that_may_be_any_others():
    proof, wrong = CaseProof(case="c", moved_bytes=8), gap(Gap.NOT_REPRODUCED)
    assert conclusion.of_other_seeds(proof, CaseProof(case="c")) == proof
    unproven = conclusion.of_other_seeds(proof, wrong)
    reason = "numbers differ from call to call, and with others in their place: because of answer not reproduced"
    assert (unproven.gap, unproven.reason) == (Gap.SCALAR, reason)


def test_too_many_seeds_are_counted_in_the_reason():
    proof = conclusion.of_seeds(CaseProof(case="c"), 2, 100)
    assert proof.reason == "2 numbers differ from call to call, for an answer of 100 bytes"


@pytest.mark.parametrize(
    ("answer_bytes", "gap"), [(16 * 2 * 24, Gap.TORCH_LIGHT), (16 * 2 * 24 - 1, Gap.TORCH)], ids=["little", "much"]
)
def test_work_on_far_less_than_the_answer_is_light(answer_bytes, gap):
    scan = Given(storage=1, operator="aten::cumsum", reads=(0,))
    wrong = dataclasses.replace(replayed(0), answer_bytes=answer_bytes)
    assert conclusion.of_mismatch("c", tape(scan), wrong).gap is gap


@pytest.mark.parametrize(("varying", "name"), [((), "aten::sum"), ((0,), "aten::mm")], ids=["replayed", "replaced"])
def test_result_that_is_replayed_as_it_was_is_no_reason(varying, name):
    constant = msgspec.structs.replace(PRODUCT, data=bytes(24))
    proof = conclusion.of_mismatch("c", tape(constant, SUM), replayed(0, 1), varying)
    assert name in proof.reason


@pytest.mark.parametrize("operator", ["aten::__rshift__", "aten::where"])
def test_integers_may_be_elements_of_a_rearrangement_of_integers(operator):
    made = Given(storage=1, operator=operator, integers=True)
    answer = AnswerKind(has_fractions=False, is_rearrangement=True)
    assert conclusion.of_mismatch("c", tape(made), replayed(0), answer=answer).gap is Gap.TORCH
