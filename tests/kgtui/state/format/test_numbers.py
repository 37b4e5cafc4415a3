"""Every number of the screen, written in one way."""

from __future__ import annotations

import pytest

from engine.model import Cost
from engine.model.benchmark import Interval
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import ASCII, UNICODE


def interval(value: float, low: float, high: float) -> Interval:
    return Interval(value=value, low=low, high=high)


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [(0.0, "0 ms"), (0.0004, "<1 ms"), (0.0312, "31 ms"), (0.31, "0.31 s"), (12.34, "12.3 s"), (125.0, "2 min")],
)
def test_durations_are_short(duration_s: float, text: str) -> None:
    assert numbers.seconds(duration_s) == text


@pytest.mark.parametrize(
    ("value_us", "text"),
    [
        ((0.42, 0.418, 0.423), "0.420 ±0.003"),
        ((6.41, 6.38, 6.45), "6.41 ±0.04"),
        ((112.44, 111.2, 113.0), "112.4 ±1.2"),
        ((5120.0, 5100.0, 5130.0), "5,120 ±20"),
    ],
)
def test_time_and_interval_end_on_same_digit(value_us: tuple[float, float, float], text: str) -> None:
    assert numbers.microseconds(interval(*value_us), glyphs=UNICODE) == text


def test_speedup_states_interval_in_both_symbol_sets() -> None:
    speedup = interval(1.361, 1.341, 1.371)
    assert numbers.factor(speedup, glyphs=UNICODE) == "1.36× ±0.02"
    assert numbers.factor(speedup, glyphs=ASCII) == "1.36x +-0.02"
    assert numbers.span(speedup, digits=3) == "1.341 to 1.371"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123, "0.123"), (4.27, "4.27"), (9.996, "10.0"), (38.1, "38.1"), (99.96, "100"), (12345.0, "12,345")],
)
def test_quantity_has_three_digits_also_when_rounded_up(value: float, text: str) -> None:
    assert numbers.short(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.4, "0.4%"), (9.4, "9.4%"), (38.2, "38%"), (104.6, "105%")])
def test_a_small_percentage_keeps_a_digit(value: float, text: str) -> None:
    assert numbers.percent(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (3124, "3,124 B"),
        (2048, "2 KiB"),
        (25_591_808, "24 MiB"),
        (1 << 20, "1 MiB"),
        (3 << 30, "3 GiB"),
        (500_000, "488 KiB"),
    ],
)
def test_sizes_use_the_best_unit(count: int, text: str) -> None:
    assert numbers.bytes_of(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (999, "999"), (999_499, "999 K"), (999_500, "1.00 M"), (1_310_720, "1.31 M"), (2 * 10**12, "2.00 T")],
)
def test_operations_are_counted_in_three_digits(count: int, text: str) -> None:
    assert numbers.count_of(count) == text


def test_intensity_is_operations_per_byte_or_absent() -> None:
    assert numbers.intensity(Cost(flops=5, bytes_read=4, bytes_written=4)) == "0.625"
    assert numbers.intensity(Cost(flops=5, bytes_read=0, bytes_written=0)) is None


def test_rates_are_in_powers_of_ten() -> None:
    assert numbers.rate_bytes(2.9e12) == "2.90 TB/s"
    assert numbers.rate_bytes(4.1e11) == "410 GB/s"
    assert numbers.rate_flops(5.1e13) == "51.0 TFLOP/s"


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (250.0, "250"), (2.5, "2.5"), (3000.0, "3,000"), (0.125, "0.125")]
)
def test_axis_value_has_no_trailing_zeros(value: float, text: str) -> None:
    assert numbers.tick(value) == text
