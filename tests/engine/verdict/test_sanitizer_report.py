"""Reports in the form of NVIDIA's manual, written for this project: each error once, with place, detail and count."""

from __future__ import annotations

import pytest

from engine.verdict.sanitizer_report import SanitizerError, errors_of, is_complete

MEMCHECK = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at add(const float *, float *, int)+0x90 in kernel.cu:7
=========     by thread (31,0,0) in block (2,0,0)
=========     Address 0x7f0a4c000400 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f0a4c000000 of size 1024 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: python3 [0x1234]
=========
========= Invalid __global__ write of size 4 bytes
=========     at add(const float *, float *, int)+0x90 in kernel.cu:7
=========     by thread (30,0,0) in block (2,0,0)
=========     Address 0x7f0a4c0003fc is out of bounds
=========
========= ERROR SUMMARY: 2 errors
"""
RACECHECK = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at sum(float *)+0x100 in kernel.cu:12
=========     and Read access at sum(float *)+0x340 in kernel.cu:15 [508 hazards]
=========     and Write access at sum(float *)+0x100 in kernel.cu:12 [4 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
INITCHECK = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at scale_kernel+0x70
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f0a4c000800
=========
========= ERROR SUMMARY: 1 error
"""


def test_same_error_at_one_place_is_counted() -> None:
    assert errors_of(MEMCHECK) == (
        SanitizerError(
            kind="Invalid __global__ write of size 4 bytes",
            kernel="add(const float *, float *, int)",
            file="kernel.cu",
            line=7,
            detail="Address 0x7f0a4c000400 is out of bounds",
            count=2,
        ),
    )


def test_race_names_both_accesses_and_counts_hazards() -> None:
    (race,) = errors_of(RACECHECK)
    assert (race.kernel, race.line, race.count) == ("sum(float *)", 12, 512)
    assert race.sentence == (
        "Race: Write access in sum(float *) at kernel.cu:12, against Read access at sum(float *)+0x340 in "
        "kernel.cu:15; Write access at sum(float *)+0x100 in kernel.cu:12, 512 times"
    )


def test_code_without_line_numbers_has_its_kernel() -> None:
    (error,) = errors_of(INITCHECK)
    assert (error.kernel, error.line, error.detail) == ("scale_kernel", None, "Address 0x7f0a4c000800")


@pytest.mark.parametrize("report", [MEMCHECK, RACECHECK, INITCHECK])
def test_only_finished_report_is_complete(report: str) -> None:
    assert is_complete(report)
    assert not is_complete(report[: report.index("SUMMARY")])


@pytest.mark.parametrize(
    "report", ["", "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", "Invalid __global__ read\n"]
)
def test_report_without_errors_has_none(report: str) -> None:
    assert errors_of(report) == ()
