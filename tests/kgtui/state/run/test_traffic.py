"""Memory accesses of a kernel are lines with bytes, sectors and the share of them that was used."""

from __future__ import annotations

import dataclasses

import pytest

from engine.model import AccessTraffic, Launch, Traffic, TrafficKind
from kgtui.state.format.lines import Tone, plain_text
from kgtui.state.run.traffic import traffic_lines

LOAD = AccessTraffic(
    kind=TrafficKind.LOAD, line=12, tensors=("x",), executions=2, requested_bytes=256, distinct_bytes=256, sectors=8
)
STRIDED = dataclasses.replace(LOAD, line=13, distinct_bytes=64, sectors=16)
LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(2,), line=9
)


def launch(*accesses, programs=2):
    return dataclasses.replace(LAUNCH, traffic=Traffic(programs=programs, accesses=accesses, operations={}))


def test_an_access_has_its_bytes_and_sectors():
    assert plain_text(traffic_lines(launch(LOAD))).splitlines() == [
        "first launch: 2 programs, 256 B requested; sectors have 32 B",
        "  line 12 load x: 256 B requested, 256 B distinct, 100% of 8 sectors used",
    ]


@pytest.mark.parametrize(("access", "tone"), [(LOAD, Tone.PLAIN), (STRIDED, Tone.WARN)], ids=["whole", "strided"])
def test_sectors_that_are_hardly_used_warn(access, tone):
    assert traffic_lines(launch(access))[1][-1].tone is tone


def test_library_access_without_sector_is_noted():
    access = dataclasses.replace(LOAD, line=None, distinct_bytes=0, requested_bytes=0, sectors=0)
    text = plain_text(traffic_lines(launch(access, programs=1))[1:])
    assert text == "  in a library load x: 0 B requested, 0 B distinct, no sector"


def test_more_than_four_accesses_are_counted():
    lines = traffic_lines(launch(*[LOAD] * 6))
    assert (len(lines), plain_text(lines[-1:])) == (6, "  and 2 more accesses")


@pytest.mark.parametrize("bare", [LAUNCH, launch()], ids=["not counted", "no access"])
def test_a_launch_without_accesses_has_no_lines(bare):
    assert traffic_lines(bare) == ()
