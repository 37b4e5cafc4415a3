"""What is read of a process under /proc: here a folder like it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.cpu_time.deadline import Interval
from engine.cpu_time.meter import Meter

TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


class Proc:
    """A folder as /proc, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now_s = 100.0

    def clock(self) -> float:
        return self.now_s

    def process(
        self, pid: int, *, ticks: tuple[int, int, int, int], threads: dict[int, int], children: str = ""
    ) -> None:
        place = self.folder / str(pid)
        for thread, delay_ns in threads.items():
            task = place / "task" / str(thread)
            task.mkdir(parents=True, exist_ok=True)
            (task / "schedstat").write_text(f"77 {delay_ns} 3\n")
            (task / "children").write_text(children if thread == pid else "")
        used = " ".join(map(str, ticks))
        (place / "stat").write_text(f"{pid} (a) name (R) R 1 {pid} {pid} 0 -1 0 0 0 0 0 {used} 20 0 1 0 9 0 0\n")

    def stolen(self, ticks: int) -> None:
        (self.folder / "stat").write_text(f"cpu  1 2 3 4 5 6 7 {ticks} 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n")


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    return Proc(tmp_path)


def meter_of(proc: Proc, **options: bool) -> Meter:
    return Meter(7, clock=proc.clock, proc=proc.folder, **options)


def test_first_look_measures_no_cpu_time(proc: Proc) -> None:
    proc.process(7, ticks=(500, 0, 0, 0), threads={7: 10**9})
    assert meter_of(proc).look() == Interval(wall_s=0.0)


def test_threads_and_processes_below_are_counted_together(proc: Proc) -> None:
    proc.process(7, ticks=(100, 10, 5, 1), threads={7: 0, 8: 0}, children="9 ")
    proc.process(9, ticks=(20, 0, 0, 0), threads={9: 10**9})
    meter = meter_of(proc)
    meter.look()
    proc.now_s += 3.0
    proc.process(7, ticks=(130, 20, 5, 1), threads={7: 10**9, 8: 2 * 10**9}, children="9 ")
    proc.process(9, ticks=(30, 0, 0, 0), threads={9: 10**9, 10: 10**9})
    interval = meter.look()
    assert interval.wall_s == 3.0
    assert interval.cpu_s == pytest.approx(50 * TICK_S)
    assert interval.delayed_s == pytest.approx(4.0)


def test_process_without_children_counts_its_own_time(proc: Proc) -> None:
    proc.process(7, ticks=(0, 0, 0, 0), threads={7: 0}, children="9 ")
    proc.process(9, ticks=(0, 0, 0, 0), threads={9: 0})
    meter = meter_of(proc, below=False)
    meter.look()
    proc.now_s += 1.0
    proc.process(7, ticks=(1, 2, 400, 0), threads={7: 5 * 10**8}, children="9 ")
    proc.process(9, ticks=(90, 0, 0, 0), threads={9: 10**9})
    interval = meter.look()
    assert interval.cpu_s == pytest.approx(3 * TICK_S)
    assert interval.delayed_s == pytest.approx(0.5)


def test_time_of_ended_process_is_never_negative(proc: Proc) -> None:
    proc.process(7, ticks=(0, 0, 0, 0), threads={7: 0}, children="9 ")
    proc.process(9, ticks=(900, 0, 0, 0), threads={9: 10**9})
    meter = meter_of(proc)
    meter.look()
    proc.now_s += 1.0
    proc.process(7, ticks=(10, 0, 0, 0), threads={7: 0})
    assert meter.look() == Interval(wall_s=1.0)


def test_stolen_time_counts_per_core(proc: Proc) -> None:
    proc.process(7, ticks=(0, 0, 0, 0), threads={7: 0})
    proc.stolen(50)
    meter = meter_of(proc)
    meter.look()
    proc.now_s += 1.0
    cores = os.cpu_count() or 1
    proc.stolen(50 + 10 * cores)
    assert meter.look().stolen_s == pytest.approx(10 * TICK_S)


def test_system_without_these_files_counts_clock_only(proc: Proc) -> None:
    meter = meter_of(proc)
    meter.look()
    proc.now_s += 2.0
    assert meter.look() == Interval(wall_s=2.0)
