"""Facts of the diagnosis as rows: one label for the facts below each other, and lines as wide as the screen."""

from __future__ import annotations

from kgtui.state.doctor import CHECKING_CONFINEMENT, diagnosis_rows
from kgtui.state.format.lines import Tone, plain_text

FACTS = (
    "device       NVIDIA H100",
    "device       cpu, on which kernels are executed by the machine for TTIR",
    "store        /data/sessions.db  NOT WRITABLE",
)


def test_facts_of_one_label_are_grouped_and_wrapped() -> None:
    rows = diagnosis_rows(FACTS, width=40)
    assert plain_text(tuple(row.line for row in rows)).splitlines() == [
        "device       NVIDIA H100",
        "             cpu, on which kernels are",
        "             executed by the machine for",
        "             TTIR",
        "",
        "store        /data/sessions.db  NOT",
        "             WRITABLE",
    ]
    assert [row.line[-1].tone for row in rows] == [Tone.PLAIN] * 5 + [Tone.WARN] * 2


def test_starting_engine_has_its_elapsed_time() -> None:
    (row,) = diagnosis_rows((CHECKING_CONFINEMENT,), width=100, elapsed_s=2.4)
    assert plain_text((row.line,)) == "confinement  starting an engine to check the sandboxing (2 s)"
