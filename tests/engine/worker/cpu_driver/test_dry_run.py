"""A dry run on the CPU reports the launches of a case by the keys of their kernels, and lowers and launches nothing."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from engine import protocol
from engine.protocol.compiling import KeyedLaunch
from engine.worker.cpu_driver.dry_run import CpuDryRun
from tests.engine.replay.tapes import launch_record


class Launches:
    """Those of a worker that has no kernels; `on_launch` is called as by a suppressed launch."""

    def __init__(self) -> None:
        self.on_launch: Callable[[KeyedLaunch], None] = lambda keyed: None

    def suppress(self, on_launch: Callable[[KeyedLaunch], None]) -> None:
        self.on_launch = on_launch


class Tuning:
    """That of a worker whose kernels have no tuner."""

    def stop_measuring(self) -> None:
        pass


COMMAND = protocol.RunDry(id="a", case="one", arguments=(protocol.ScalarSpec(value=3),), storages=(16,))
LAUNCH = launch_record("k")
KEYED = KeyedLaunch(key="1" * 64, state="2" * 64, launch=LAUNCH)


def dry_run() -> tuple[Launches, CpuDryRun]:
    launches = Launches()
    return launches, CpuDryRun(launches, Tuning())  # type: ignore[arg-type]  # doubles at the seam


def test_launches_before_an_error_are_returned() -> None:
    launches, run = dry_run()

    def entry(number: int) -> None:
        assert number == 3
        launches.on_launch(KEYED)
        raise ValueError("a result is missing")

    assert run.call(entry, COMMAND) == protocol.DryRunDone(id="a", keyed=(KEYED,))


def test_kernels_of_earlier_calls_are_not_returned_again() -> None:
    launches, run = dry_run()
    run.call(lambda _: launches.on_launch(KEYED), COMMAND)
    assert run.call(lambda _: launches.on_launch(KEYED), COMMAND) == protocol.DryRunDone(id="a")


def test_launches_that_do_not_fit_into_a_reply_come_with_the_next() -> None:
    launches, run = dry_run()

    def entry(number: int) -> None:
        for key in range(513):
            launches.on_launch(replace(KEYED, key=f"{key:064x}"))

    first, second = run.call(entry, COMMAND), run.call(lambda _: None, COMMAND)
    assert (len(first.keyed), [keyed.key for keyed in second.keyed]) == (512, [f"{512:064x}"])
