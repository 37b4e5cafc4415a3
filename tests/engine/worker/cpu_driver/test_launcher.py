"""Launches on the machine and in the interpreter: accesses out of bounds have tensor, index and line; others pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import triton.language as tl

Scenarios = dict[str, dict[str, Any]]


@pytest.fixture(params=["launched", "interpreted"])
def scenarios(request: pytest.FixtureRequest) -> Scenarios:
    """The scenarios on the machine, or in Triton's interpreter."""
    found: Scenarios = request.getfixturevalue(request.param)
    return found


LINES = {
    text.split("# LINE ")[1].strip(): number
    for module in (Path(__file__).parents[1] / "scenarios").glob("*.py")
    for number, text in enumerate(module.read_text().splitlines(), start=1)
    if "# LINE " in text
}


@pytest.mark.parametrize(
    ("scenario", "access", "kernel", "tensor", "index", "elements", "program", "line"),
    [
        ("load_past_the_end", "load", "copy", "x", 5, 5, [0, 0, 0], "load"),
        ("load_before_the_start", "load", "copy", "x", -3, 8, [0, 0, 0], "load"),
        ("store_past_the_end", "store", "copy", "y", 12, 12, [1, 0, 0], "store"),
        ("atomic_past_the_end", "atomic", "add_atomically", "y", 4, 4, [0, 0, 0], "atomic"),
        ("swap_past_the_end", "atomic", "swap_if", "y", 4, 4, [0, 0, 0], "swap"),
        ("helper_past_the_end", "load", "copy_with_helper", "x", 7, 7, [0, 0, 0], "helper"),
        ("scalar_past_the_end", "load", "load_scalar", "x", 2, 2, [0, 0, 0], "scalar"),
        ("a_view_may_not_reach_out_of_its_storage", "load", "copy", "x", 16, 16, [0, 0, 0], "load"),
        ("a_tensor_of_the_case_that_the_launch_was_not_given", "load", "copy_from", "x", 8, 8, [0, 0, 0], "copied"),
        ("a_tensor_of_the_case_after_a_launch_that_made_pointers", "load", "copy_from", "x", 8, 8, [0, 0, 0], "copied"),
        ("autotune_does_not_look_past_a_violation", "store", "tuned_out_of_bounds", "x", 4, 4, [0, 0, 0], "tuned"),
    ],
)
def test_access_outside_every_tensor_names_its_line(
    scenarios: Scenarios,
    scenario: str,
    access: str,
    kernel: str,
    tensor: str,
    index: int,
    elements: int,
    program: list[int],
    line: str,
) -> None:
    assert scenarios[scenario]["violation"] == {
        "access": access,
        "kernel": kernel,
        "tensor": tensor,
        "index": index,
        "elements": elements,
        "program": program,
        "location": {"line": LINES[line], "column": None},
    }


def test_access_to_empty_tensor_is_reported(launched: Scenarios) -> None:
    violation = launched["a_load_from_a_view_without_elements"]["violation"]
    assert (violation["tensor"], violation["index"], violation["elements"]) == ("x", 0, 0)


def test_overrun_names_its_own_tensor_instead_of_nearest(scenarios: Scenarios) -> None:
    violation = scenarios["past_the_end_and_near_to_another_tensor"]["violation"]
    assert (violation["tensor"], violation["elements"], violation["location"]["line"]) == ("x", 4, LINES["leap"])


def test_message_is_one_sentence_with_all_details(scenarios: Scenarios) -> None:
    assert scenarios["store_past_the_end"]["message"] == (
        "out-of-bounds store in copy: y[12], but y has 12 elements (program (1, 0, 0))"
    )


@pytest.mark.parametrize(
    ("scenario", "value"),
    [
        ("in_bounds", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        ("masked_lanes_may_point_anywhere", [1.0] * 5),
        ("every_lane_masked", [0.0] * 5),
        ("a_tensor_without_elements_is_not_accessed", [1.0] * 5),
        ("a_condition_on_a_scalar_is_part_of_a_mask", [1.0, 1.0, 1.0, 0.0, 0.0]),
        ("a_view_may_reach_back_into_its_storage", [float(i) for i in range(8)] + [0.0] * 8),
        ("the_kernel_after_a_violation_is_judged_by_its_own_tensors", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        ("an_address_from_memory_is_followed_where_it_is_allowed", [7.0]),
        ("a_tensor_of_the_case_is_written_through_its_address", [2.0] + [0.0] * 7 + [7.0] * 7 + [2.0]),
        ("numbers_of_loops_are_cast", [float(i) for i in range(15)]),
        ("the_language_has_the_names_it_had", []),
        ("a_function_of_the_language_by_another_name", [8.0, 8.0]),
        ("a_kernel_that_was_warmed_up_is_launched", [1.0] * 4 + [0.0] * 2 + [0.5]),
        ("a_float_is_an_argument_of_float32", [2.0009765625, 6.0029296875, 2.0]),
        ("floats_have_the_types_that_are_declared", [0.10000000149011612, 0.1, 0.0999755859375, 0.10009765625, 1.5]),
        ("bfloat16_chosen_by_a_comparison", [3.0, 4.0]),
        ("tensors_in_a_tuple", [0.0, 1.0, 2.0]),
        ("a_reduction_by_a_function_of_its_own", [6.0, 8.0, 12.0, 8.0]),
        ("a_scan_by_a_function_that_does_not_commute", [0.0, 0.0]),
        ("hooks_before_two_launches", [[0.0, 0.0, 2, 2], [1.0, 1.0, 2, 2]]),
        ("places_of_the_largest_among_nan", [[1.0, 0.0, "4.0"], [3.0, 3.0, "nan"]]),
        (
            "a_kernel_is_asked_about_itself",
            [True, "asked", ["x", "n", "block"], ["x", "n", "block"], "def asked(x, n, block: tl.constexpr):", True],
        ),
        ("functions_of_libdevice", [3.0, 17.5, 257.25, 3.0625, 1.0]),
    ],
)
def test_access_inside_bounds_stays_unchanged(scenarios: Scenarios, scenario: str, value: list[Any]) -> None:
    assert scenarios[scenario] == {"value": value}


def test_type_refused_by_libdevice_is_refused(scenarios: Scenarios) -> None:
    assert scenarios["a_type_that_libdevice_does_not_take"]["error"] == "KeyError((triton.language.bfloat16))"


def test_uninterpretable_libdevice_function_is_named(scenarios: Scenarios) -> None:
    error = scenarios["a_function_that_libdevice_has_and_the_interpreter_has_not"]["error"]
    assert "the interpreter has no libdevice.rcp64h; run this kernel on a GPU" in error


def test_tensor_in_tuple_is_bounds_checked(scenarios: Scenarios) -> None:
    message = scenarios["past_the_end_of_a_tensor_in_a_tuple"]["message"]
    assert message.startswith("out-of-bounds load in copy_of_two: tensors.0[3], but tensors.0 has 3 elements")


def test_query_of_compiled_code_reports_none(scenarios: Scenarios) -> None:
    error = scenarios["a_figure_of_a_kernel_that_was_warmed_up"]["error"]
    assert error == "NotCompiledError('kernels are compiled to TTIR only on the CPU, which has no n_spills; use a GPU')"


def test_address_loaded_from_memory_outside_is_refused(scenarios: Scenarios) -> None:
    violation = scenarios["an_address_from_memory_is_refused_elsewhere"]["violation"]
    assert (violation["access"], violation["location"]["line"]) == ("load", LINES["follow"])
    violation = scenarios["an_address_beyond_the_tensors_of_the_case"]["violation"]
    assert (violation["access"], violation["location"]["line"]) == ("store", LINES["through"])


def test_launch_without_tensors_has_no_valid_address(scenarios: Scenarios) -> None:
    violation = scenarios["a_launch_without_a_tensor"]["violation"]
    assert (violation["tensor"], violation["location"]["line"]) == ("(the launch has no tensor)", LINES["wild"])


def test_autotune_takes_the_first_configuration_that_compiles(scenarios: Scenarios) -> None:
    tuned = scenarios["autotune_takes_the_first_configuration_that_works"]["value"]
    assert tuned["y"] == [1.0] * 10
    assert tuned["asked"] == [8]  # a grid is evaluated once a kernel has compiled; 16 would do and is not tried
    [launch] = tuned["launches"]
    assert (launch["num_warps"], launch["num_stages"], launch["grid"]) == (2, 5, [2])


def test_autotune_without_working_configuration_raises_reason(scenarios: Scenarios) -> None:
    error = scenarios["autotune_without_a_working_configuration_raises_the_first_refusal"]["error"]
    assert error.startswith("CompileTimeAssertionFailure(")


def test_heuristics_choose_and_choice_is_recorded(scenarios: Scenarios) -> None:
    assert scenarios["heuristics_choose_and_are_recorded"]["value"] == {"y": [1.0] * 5, "constants": [{"block": "8"}]}


def test_launch_is_recorded_with_types_and_grid(scenarios: Scenarios) -> None:
    [recorded] = scenarios["a_launch_is_recorded_with_its_types_and_grid"]["value"]
    launch = {name: value for name, value in recorded.items() if name not in ("line", "traffic")}
    assert launch == {
        "kernel": "copy",
        "signature": {
            "x": "*fp32", "y": "*bf16", "n": "i32", "first": "i32", "block": "constexpr", "masked": "constexpr"
        },
        "constants": {"block": "8", "masked": "True"},
        "closure": "",
        "generated_source": "",
        "divisible_by_16": ["x", "y", "n", "first"],
        "num_warps": 8, "num_stages": 2, "grid": [1], "count": 1, "options": {},
    }  # fmt: skip


def test_only_launches_of_the_machine_have_traffic(launched: Scenarios, interpreted: Scenarios) -> None:
    name = "a_launch_is_recorded_with_its_types_and_grid"
    accesses = launched[name]["value"][0]["traffic"]["accesses"]
    assert [(one["kind"], one["tensors"]) for one in accesses] == [("load", ["x"]), ("store", ["y"])]
    assert interpreted[name]["value"][0]["traffic"] is None


def test_launch_with_overrun_is_recorded(scenarios: Scenarios) -> None:
    assert scenarios["a_launch_that_fails_is_recorded_too"]["value"] == [16]


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="this Triton has no tl.atomic_poll")
def test_poll_waits_for_an_earlier_program_only(scenarios: Scenarios) -> None:
    assert scenarios["a_program_polls_an_earlier_one"] == {"value": [1, 1, 1, 1, 1, 0, 0, 1, 2, 3, 4, 0]}
    error = scenarios["a_program_polls_a_later_one"]["error"]
    assert error.startswith("InterpreterLimitError('tl.atomic_poll waits for a program that runs later; ")


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="this Triton has no tl.atomic_poll")
def test_programs_that_wait_run_in_no_other_order(launched: Scenarios) -> None:
    assert launched["launches_in_another_order"]["value"] == [0, 1]


def test_witness_names_conflicting_programs_and_lines(launched: Scenarios, interpreted: Scenarios) -> None:
    line = LINES["wide"]
    low, high = ({"stores": True, "program": [number, 0, 0], "line": line} for number in (1, 2))
    race = {"kernel": "store_twice_as_wide", "tensor": "y", "index": 8}
    backwards = {**race, "first": high, "second": low}
    assert launched["programs_that_meet"]["value"] == [backwards, backwards]
    assert interpreted["programs_that_meet"]["value"] == [None, backwards]


def test_disjoint_programs_have_no_race(scenarios: Scenarios) -> None:
    assert scenarios["programs_that_do_not_meet"]["value"] is None
