"""The judge counts right elements of a call without kernels, and those that are right without computing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine import protocol

if TYPE_CHECKING:
    from tests.engine.judge.conftest import Bench


def weighed(bench: Bench, *values: torch.Tensor) -> tuple[protocol.CorrectCount, ...]:
    returned = bench.hand_back(*values)
    reply = bench.ask(
        protocol.CountCorrect(id="w", outputs=str(bench.outputs), max_output_bytes=1 << 20, returned=returned)
    )
    assert isinstance(reply, protocol.CorrectCounted), reply
    return reply.outputs


def test_correct_output_counts_as_right(bench: Bench) -> None:
    bench.prepare("TWICE")
    (output,) = weighed(bench, 2 * bench.arguments[0])
    assert output == protocol.CorrectCount(name="return", total=4, right=4, trivial=0)


def test_poison_has_not(bench: Bench) -> None:
    bench.prepare("TWICE")
    (output,) = weighed(bench, torch.full((4,), torch.nan))
    assert (output.right, output.trivial) == (0, 0)


def test_part_of_an_answer_is_counted(bench: Bench) -> None:
    bench.prepare("PAIR")
    x = bench.arguments[0]
    first, second = weighed(bench, torch.cat([(x + 1)[:2], torch.zeros(1)]), torch.zeros(3))
    assert (first.right, second.right) == (2, 0)


def test_output_equal_to_input_is_right_without_computing(bench: Bench) -> None:
    bench.prepare("SCALAR")  # it returns its input, which is all zeros
    (output,) = weighed(bench, bench.arguments[0].clone())
    assert output == protocol.CorrectCount(name="return", total=4, right=4, trivial=4)


def test_unwritten_argument_keeps_its_previous_content(bench: Bench) -> None:
    bench.prepare("IN_PLACE")
    (output,) = weighed(bench)
    assert (output.name, output.right, output.trivial) == ("x", 0, 0)
    bench.arguments[0].mul_(2)
    assert weighed(bench)[0].right == 4


def test_mixed_zeros_and_old_memory_are_trivial(bench: Bench) -> None:
    bench.prepare("CLEARS")
    assert weighed(bench)[0] == protocol.CorrectCount(name="x", total=4, right=2, trivial=4)


def test_number_that_fills_a_part_of_the_output_is_right_without_computing(bench: Bench) -> None:
    bench.prepare("PADDED")
    (output,) = weighed(bench, torch.full((9,), 7.0))
    assert (output.right, output.trivial) == (5, 5)


def test_empty_output_gives_no_evidence(bench: Bench) -> None:
    bench.prepare("EMPTY")
    (output,) = weighed(bench, torch.empty(0))
    assert output == protocol.CorrectCount(name="return", total=0, right=0, trivial=0)


def test_wrong_number_of_values_has_no_right_element(bench: Bench) -> None:
    bench.prepare("PAIR")
    assert [output.right for output in weighed(bench, bench.arguments[0] + 1)] == [0, 0]


def test_counting_is_about_the_content_of_this_call(bench: Bench) -> None:
    bench.prepare("TWICE")
    stale = 2 * bench.arguments[0]
    bench.refill(fresh=True)
    (output,) = weighed(bench, stale)
    assert output.right == 0


def test_counting_leaves_later_comparison_unchanged(bench: Bench) -> None:
    bench.prepare("TWICE")
    weighed(bench, torch.zeros(4))
    compared = bench.compared(*bench.hand_back(2 * bench.arguments[0]))
    assert (compared.repeated, [report.outcome.value for report in compared.reports]) == (None, ["pass"])


def test_elements_ignored_by_comparer_are_right_without_computing(bench: Bench) -> None:
    bench.prepare("OPEN_TAIL")
    (output,) = weighed(bench, torch.full((4,), torch.nan))
    assert output == protocol.CorrectCount(name="return", total=4, right=2, trivial=2)
