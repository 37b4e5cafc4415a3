"""Operators of torch that a worker has seen: which count against a candidate, and how that is said."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from engine import protocol
from engine.model import (
    Category,
    Cost,
    DType,
    Finding,
    Location,
    Severity,
)
from engine.verdict.observed_effects import findings
from tests.engine.verdict.observed_calls import (
    DEFINITION,
    ELEMENTS,
    LIGHT,
    PROBLEM,
    RESULTS,
    found,
    severities,
    used,
)


def test_operators_producing_output_size_are_named() -> None:
    (finding,) = found(used(uses=3), used("aten::exp", made=600))
    assert (finding.check, finding.severity, finding.case) == ("behaviour", Severity.SUSPECT, "large")
    assert finding.message == (
        "computed by torch: aten::_softmax 3 times, up to 1,000 elements; aten::exp once, up to 600 elements (1 case)"
    )


def test_operators_have_the_line_of_their_first_use() -> None:
    (finding,) = found(used(), msgspec.structs.replace(used("aten::exp"), line=12))
    assert finding.location == Location(line=12)


@pytest.mark.parametrize("name", ["aten::mul", "aten::floor_divide", "aten::add_", "aten::bitwise_and"])
def test_arithmetic_on_indices_is_no_finding(name: str) -> None:
    assert found(msgspec.structs.replace(used(name, kind=LIGHT), integers=True)) == []


@pytest.mark.parametrize(
    ("name", "uses", "count"),
    [
        ("aten::cumsum", 1, 0),
        ("aten::cumsum", 8, 1),
        ("aten::mul", 1, 0),
        ("aten::mul", 8, 1),
        ("aten::bitwise_and", 8, 0),
        ("aten::__rshift__", 8, 0),
    ],
)
def test_arithmetic_on_more_integers_than_elements_is_suspect(name: str, uses: int, count: int) -> None:
    many = used(name, uses=uses, made=1000 * uses)
    assert len(found(msgspec.structs.replace(many, integers=True))) == count


@pytest.mark.parametrize(
    ("uses", "integers", "count"), [(1, True, 0), (8, True, 1), (1, False, 1)], ids=["order", "many", "of results"]
)
def test_tables_of_integers_are_no_finding_up_to_the_elements(uses: int, integers: bool, count: int) -> None:
    order = used("aten::sort", uses=uses, made=1000 * uses)
    assert len(found(msgspec.structs.replace(order, integers=integers))) == count


@pytest.mark.parametrize(
    ("made", "integers", "count"), [(63, True, 0), (64, True, 1), (63, False, 1)], ids=["sizes", "many", "fractions"]
)
def test_few_integers_brought_in_are_no_finding(made: int, integers: bool, count: int) -> None:
    results = [dataclasses.replace(RESULTS[1], outputs=(dataclasses.replace(RESULTS[1].outputs[0], total=32),))]
    table = used("aten::lift_fresh", kind=protocol.OperatorKind.ALLOCATION, reads=False, taken=0, made=made)
    observed = protocol.Observed(id="i", operators=(msgspec.structs.replace(table, integers=integers),))
    assert len(list(findings(PROBLEM, results, observed))) == count


@pytest.mark.parametrize(("operations", "count"), [(8000, 1), (8001, 0)], ids=["light work", "products"])
def test_light_work_on_inputs_of_a_heavy_operator_is_no_finding(operations: int, count: int) -> None:
    heavy = dataclasses.replace(
        DEFINITION, cost=lambda case: Cost(flops=operations, bytes_read=2000, bytes_written=2000)
    ).problem("toy_problems")
    observed = protocol.Observed(id="i", operators=(used("aten::neg", kind=LIGHT),))
    assert len(list(findings(heavy, RESULTS, observed))) == count


@pytest.mark.parametrize(
    ("heavy", "light", "count"), [(6, 1, 0), (6, 2, 1), (3, 1, 1)], ids=["few cases", "many cases", "light operator"]
)
def test_light_work_in_few_cases_of_a_heavy_operator_prepares_it(heavy: int, light: int, count: int) -> None:
    names = [f"c{number}" for number in range(8)]
    definition = dataclasses.replace(
        DEFINITION,
        cases=tuple(dataclasses.replace(DEFINITION.cases[0], name=name) for name in names),
        cost=lambda case: Cost(
            flops=100_000 if case.name in names[:heavy] else 1000, bytes_read=2000, bytes_written=2000
        ),
    )
    results = [dataclasses.replace(RESULTS[1], case=name) for name in names]
    seen = tuple(used("aten::neg", kind=LIGHT, case=name) for name in names[-light:])
    observed = protocol.Observed(id="i", operators=seen)
    assert len(list(findings(definition.problem("toy_problems"), results, observed))) == count


@pytest.mark.parametrize(
    ("operator", "integers", "rearranges", "count"),
    [
        ("aten::where", True, True, 0),
        ("aten::sum", True, True, 0),
        ("aten::cumsum", True, True, 0),
        ("aten::where", False, True, 1),
        ("aten::where", True, False, 1),
    ],
)
def test_integers_are_places_of_a_rearrangement(operator: str, integers: bool, rearranges: bool, count: int) -> None:
    category = Category.INDEXING if rearranges else DEFINITION.category
    problem = dataclasses.replace(DEFINITION, category=category).problem("toy_problems")
    many = msgspec.structs.replace(used(operator, uses=8, taken=8000, made=8000), integers=integers)
    observed = protocol.Observed(id="i", operators=(many,))
    assert len(list(findings(problem, RESULTS, observed))) == count


@pytest.mark.parametrize("operator", ["aten::__rshift__", "aten::where"])
def test_integers_may_be_elements_of_a_rearrangement_of_integers(operator: str) -> None:
    cases = tuple(dataclasses.replace(case, dtype=DType.INT32) for case in DEFINITION.cases)
    problem = dataclasses.replace(DEFINITION, category=Category.WEIGHT_REPACK, cases=cases).problem("toy_problems")
    observed = protocol.Observed(id="i", operators=(msgspec.structs.replace(used(operator), integers=True),))
    assert severities(list(findings(problem, RESULTS, observed))) == [Severity.SUSPECT]


@pytest.mark.parametrize(
    ("operator", "positions", "rearranges", "count"),
    [
        ("aten::where", True, True, 0),
        ("aten::sort", True, True, 0),
        ("aten::nonzero", True, True, 0),
        ("aten::where", False, True, 1),
        ("aten::where", True, False, 1),
        ("aten::silu", True, True, 1),
    ],
)
def test_work_on_positions_makes_no_rearrangement(operator: str, positions: bool, rearranges: bool, count: int) -> None:
    cases = tuple(dataclasses.replace(case, dtype=DType.INT32) for case in DEFINITION.cases)
    category = Category.INDEXING if rearranges else DEFINITION.category
    problem = dataclasses.replace(DEFINITION, category=category, cases=cases).problem("toy_problems")
    one = msgspec.structs.replace(used(operator), integers=True, positions=positions)
    assert len(list(findings(problem, RESULTS, protocol.Observed(id="i", operators=(one,))))) == count


@pytest.mark.parametrize(
    ("reads", "integers", "operations", "count"),
    [(False, True, 0, 0), (True, True, 0, 1), (False, False, 0, 1), (False, True, 1000, 1)],
    ids=["counts", "arguments", "bits of fractions", "sums of integers"],
)
def test_running_sums_of_counts_make_no_rearrangement(reads: bool, integers: bool, operations: int, count: int) -> None:
    cases = tuple(dataclasses.replace(case, dtype=DType.INT32) for case in DEFINITION.cases)
    definition = dataclasses.replace(
        DEFINITION,
        category=Category.INDEXING,
        cases=cases,
        cost=lambda _: Cost(flops=operations, bytes_read=4000, bytes_written=4000),
    )
    scan = msgspec.structs.replace(used("aten::cumsum", reads=reads), integers=integers)
    found = findings(definition.problem("toy_problems"), RESULTS, protocol.Observed(id="i", operators=(scan,)))
    assert len(list(found)) == count


@pytest.mark.parametrize(
    ("dtypes", "rearranges", "count"),
    [
        (("int64",), False, 1),
        (("float32", "int32"), False, 1),
        (("int8", "float32"), False, 0),
        (("int64",), True, 0),
    ],
)
def test_integers_may_be_an_answer_of_indices(dtypes: tuple[str, ...], rearranges: bool, count: int) -> None:
    category = Category.INDEXING if rearranges else DEFINITION.category
    problem = dataclasses.replace(DEFINITION, category=category).problem("toy_problems")
    results = [
        dataclasses.replace(
            result, outputs=tuple(dataclasses.replace(result.outputs[0], dtype=dtype) for dtype in dtypes)
        )
        for result in RESULTS
    ]
    observed = protocol.Observed(id="i", operators=(msgspec.structs.replace(used("aten::mul"), integers=True),))
    assert len(list(findings(problem, results, observed))) == count


def test_positions_of_a_mask_are_no_finding() -> None:
    assert found(used("aten::nonzero")) == []


def test_selection_by_integers_is_suspect() -> None:
    (finding,) = found(msgspec.structs.replace(used("aten::where", kind=LIGHT), integers=True))
    assert finding.severity is Severity.SUSPECT


def test_operator_producing_output_rows_is_named() -> None:
    (finding,) = found(used(uses=100))
    assert finding.message == "computed by torch: aten::_softmax 100 times, up to 1,000 elements (1 case)"


def test_table_rows_count_as_output_in_several_cases() -> None:
    lookup, case = used("aten::index_select", taken=1010), dataclasses.replace(PROBLEM.cases[1], name="larger")
    assert found(lookup) == []
    assert len(found(lookup, used())) == 1
    moving = dataclasses.replace(DEFINITION, cost=lambda _: Cost(flops=0, bytes_read=2000, bytes_written=2000)).problem(
        "toy_problems"
    )
    assert len(list(findings(moving, RESULTS, protocol.Observed(id="i", operators=(lookup,))))) == 1
    more = dataclasses.replace(
        DEFINITION, cases=(*PROBLEM.cases, case), cost=lambda _: Cost(flops=1, bytes_read=2000, bytes_written=2000)
    ).problem("toy_problems")
    results = (*RESULTS, dataclasses.replace(RESULTS[1], case="larger"))
    both = (lookup, used("aten::index_select", case="larger", taken=1010))
    assert len(list(findings(more, results, protocol.Observed(id="i", operators=both)))) == 1
    fewer = tuple(used("aten::index_select", case=name, taken=1010, made=999) for name in ("large", "larger"))
    assert list(findings(more, results, protocol.Observed(id="i", operators=fewer))) == []


def test_single_numbers_read_count_as_output() -> None:
    (finding,) = found(used("Tensor.item", kind=protocol.OperatorKind.METADATA, uses=1000))
    assert finding.severity is Severity.SUSPECT
    assert finding.message.endswith("other code can compute it: Tensor.item 1000 times, up to 1,000 elements (1 case)")


@pytest.mark.parametrize(
    "operator",
    [
        used(taken=400, made=499),
        used(made=1),
        used("aten::lift_fresh", kind=protocol.OperatorKind.ALLOCATION, taken=0, made=499),
        used("aten::fill_", kind=protocol.OperatorKind.ALLOCATION, taken=0, uses=15),
        used("aten::cat", kind=protocol.OperatorKind.COPY, uses=15),
        used("aten::copy_", kind=protocol.OperatorKind.COPY, reads=False, uses=16),
        used("aten::eq", kind=protocol.OperatorKind.QUESTION, made=15999),
        used("Tensor.item", kind=protocol.OperatorKind.METADATA, taken=40, made=40, uses=40),
        used(taken=0, made=499),
        used(case="small", taken=4, made=4),
        used(case="empty", taken=0, made=0),
        used(case="never heard of"),
        used("aten::clone", kind=protocol.OperatorKind.COPY, uses=16),
        used("aten::zeros", kind=protocol.OperatorKind.ALLOCATION),
        used("aten::gt", kind=protocol.OperatorKind.QUESTION),
        used("aten::randn", kind=protocol.OperatorKind.RANDOM),
        used("aten::view", kind=protocol.OperatorKind.VIEW),
    ],
)
def test_small_helpers_copies_views_have_no_finding(operator: protocol.OperatorSeen) -> None:
    assert found(operator) == []


@pytest.mark.parametrize(
    ("operator", "what"),
    [
        (
            used("aten::lift_fresh", kind=protocol.OperatorKind.ALLOCATION, taken=0, made=500),
            "data as large as the output came",
        ),
        (
            used("aten::fill_", kind=protocol.OperatorKind.ALLOCATION, taken=0, made=500, uses=500),
            "data as large as the output came",
        ),
        (used("aten::cat", kind=protocol.OperatorKind.COPY, uses=16), "torch assembled the output from many pieces"),
        (used("aten::copy_", kind=protocol.OperatorKind.COPY, uses=16), "torch assembled the output from many pieces"),
        (
            used("aten::eq", kind=protocol.OperatorKind.QUESTION, made=16000),
            "torch evaluated more predicates",
        ),
        (used("aten::linalg_vector_norm", made=2), "computed by torch"),
    ],
)
def test_content_of_unknown_origin_is_suspect(operator: protocol.OperatorSeen, what: str) -> None:
    (finding,) = found(operator)
    assert finding.severity is Severity.SUSPECT
    assert finding.message.startswith(what)


def test_torch_work_on_kernel_results_counts_from_half() -> None:
    two = tuple(dataclasses.replace(one, case=f"large {number}") for one in RESULTS[1:2] for number in "12")
    problem = dataclasses.replace(
        DEFINITION,
        cases=tuple(dataclasses.replace(PROBLEM.cases[1], name=one.case) for one in two),
        cost=lambda case: Cost(flops=4000, bytes_read=2000, bytes_written=2000),
    ).problem("toy_problems")

    def reported(taken: int) -> list[Finding]:
        seen = [used("aten::sum", kind=LIGHT, case=one.case, reads=False, taken=taken) for one in two]
        return list(findings(problem, two, protocol.Observed(id="i", operators=tuple(seen))))

    assert [(one.severity, one.message.partition(":")[0]) for one in (*reported(1999), *reported(2000))] == [
        (Severity.NOTE, "torch finished the output of its kernels"),
        (Severity.SUSPECT, "torch did the arithmetic on the output of its kernels"),
    ]


def test_operator_reading_little_input_did_not_compute() -> None:
    assert found(used(taken=0, made=500)) != []
    whole = 2 * ELEMENTS["large"]
    assert found(used(taken=0, made=whole // 4 - 1)) == []


def test_arithmetic_on_offsets_that_kernels_made_is_no_finding() -> None:
    assert found(msgspec.structs.replace(used("aten::sub", kind=LIGHT, reads=False), integers=True)) == []


def test_light_arithmetic_counts_on_inputs_only() -> None:
    assert severities(found(used("aten::sum", kind=LIGHT))) == [Severity.SUSPECT]
    (noted,) = found(used("aten::sum", kind=LIGHT, reads=False))
    assert (noted.severity, noted.message) == (
        Severity.NOTE,
        "torch finished the output of its kernels: aten::sum once, up to 1,000 elements (1 case)",
    )
    assert severities(found(used(reads=False))) == [Severity.SUSPECT]


@pytest.mark.parametrize(
    "operator",
    [
        used(),
        used("aten::sum", kind=LIGHT),
        used("aten::sum", kind=LIGHT, reads=False),
        used("aten::lift_fresh", kind=protocol.OperatorKind.ALLOCATION, reads=False),
        used("aten::cat", kind=protocol.OperatorKind.COPY, uses=16),
    ],
)
def test_work_of_torch_in_a_proven_case_is_no_finding(operator: protocol.OperatorSeen) -> None:
    assert found(operator, proven=frozenset({"large"})) == []
    assert len(found(operator, proven=frozenset({"small"}))) == 1


def test_content_elsewhere_is_suspect_in_proven_cases() -> None:
    assert severities(found(used("Tensor.tolist"), proven=frozenset({"large"}))) == [Severity.SUSPECT]


def test_content_that_left_torch_was_computed_elsewhere() -> None:
    (finding,) = found(used("Tensor.tolist"), used("Tensor.numpy", made=499))
    assert (finding.severity, finding.message) == (
        Severity.SUSPECT,
        "data as large as the output left torch, where other code can compute it: "
        "Tensor.tolist once, up to 1,000 elements (1 case)",
    )


@pytest.mark.parametrize(
    ("operator", "what"),
    [
        (used("aten::linalg_vector_norm", reads=False, taken=1000, made=10), "computed by torch"),
        (used("aten::amax", kind=LIGHT, taken=1000, made=10), "computed by torch"),
        (
            used("aten::_foreach_copy_", kind=protocol.OperatorKind.COPY, uses=16),
            "torch assembled the output from many pieces",
        ),
        (
            used("aten::add_", kind=LIGHT, reads=False, uses=1000),
            "data as large as the output came from outside torch",
        ),
        (
            used("aten::full", kind=protocol.OperatorKind.ALLOCATION, reads=False, taken=0, uses=1000),
            "data as large as the output came from outside torch",
        ),
        (
            used("aten::uniform_", kind=protocol.OperatorKind.RANDOM, uses=1000),
            "data as large as the output came from outside torch",
        ),
        (
            used("aten::clone.out", kind=protocol.OperatorKind.COPY, uses=16),
            "torch assembled the output from many pieces",
        ),
    ],
)
def test_other_origin_of_output_is_reported(operator: protocol.OperatorSeen, what: str) -> None:
    finding = found(operator)[0]
    assert (finding.severity, finding.message.partition(":")[0]) == (Severity.SUSPECT, what)


@pytest.mark.parametrize(
    "operator",
    [
        used("aten::linalg_vector_norm", reads=False, taken=400, made=10),
        used("aten::sum", kind=LIGHT, reads=False, taken=1000, made=10),
        used("aten::add", kind=LIGHT, reads=False, uses=15, taken=15, made=15),
        used("Launch.numbers", taken=0, made=499, reads=False),
    ],
)
def test_parts_and_few_numbers_are_not_answers(operator: protocol.OperatorSeen) -> None:
    assert Severity.SUSPECT not in severities(found(operator))


@pytest.mark.parametrize(
    ("dtype", "reads", "made", "severity"),
    [
        ("bool", True, 1000, [Severity.SUSPECT]),
        ("bool", True, 1, []),
        ("bool", False, 1000, []),
        ("float16", True, 1000, []),
    ],
    ids=["comparison", "check of the arguments", "of a kernel's result", "mask"],
)
def test_torch_that_compares_the_inputs_computes_an_answer_of_bools(
    dtype: str, reads: bool, made: int, severity: list[Severity]
) -> None:
    results = [
        dataclasses.replace(
            result, outputs=tuple(dataclasses.replace(output, dtype=dtype) for output in result.outputs)
        )
        for result in RESULTS
    ]
    asked = used("aten::gt", kind=protocol.OperatorKind.QUESTION, reads=reads, made=made)
    observed = protocol.Observed(id="i", operators=(asked,), actions=(), changes=())
    assert severities(list(findings(PROBLEM, results, observed))) == severity
    assert list(findings(PROBLEM, results, observed, proven=frozenset(ELEMENTS))) == []
