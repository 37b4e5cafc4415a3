"""A dry run on the CPU hands on what the frontend makes, and launches nothing."""

from __future__ import annotations

from pathlib import Path

from engine import protocol
from engine.protocol.compiling import PublishedKernel
from engine.worker.cpu_driver.lowering import LoweringRun
from engine.worker.cpu_driver.shared_modules import SharedModules


class Launches:
    """Those of a worker that has no kernels."""

    def __init__(self) -> None:
        self.suppressed = False
        self.shared_modules = SharedModules()
        self.shared_modules.read_from((), Path("/tmp/maker"))

    def suppress(self) -> None:
        self.suppressed = True


class Tuning:
    """That of a worker whose kernels have no tuner."""

    def stop_measuring(self) -> None:
        pass


COMMAND = protocol.RunDry(id="a", case="one", arguments=(protocol.ScalarSpec(value=3),), storages=(16,))
KERNEL = PublishedKernel(key="1" * 64, ttir="module {}")


def test_kernels_made_before_an_error_are_returned() -> None:
    launches = Launches()
    run = LoweringRun(launches, Tuning())  # type: ignore[arg-type]  # doubles at the seam

    def entry(number: int) -> None:
        assert number == 3
        launches.shared_modules.keep(KERNEL.key, KERNEL.ttir)
        raise ValueError("a result is missing")

    assert run.call(entry, COMMAND) == protocol.DryRunDone(id="a", kernels=(KERNEL,))
    assert launches.suppressed


def test_kernels_of_earlier_calls_are_not_returned_again() -> None:
    launches = Launches()
    run = LoweringRun(launches, Tuning())  # type: ignore[arg-type]  # doubles at the seam
    run.call(lambda _: launches.shared_modules.keep(KERNEL.key, KERNEL.ttir), COMMAND)
    assert run.call(lambda _: None, COMMAND) == protocol.DryRunDone(id="a", kernels=())
