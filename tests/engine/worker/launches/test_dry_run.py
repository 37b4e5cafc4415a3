"""A dry run tells whether it came to its end."""

from __future__ import annotations

import msgspec
import pytest
import torch
import triton
from triton import knobs
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from engine import protocol
from engine.worker.launches.dry_run import DryRun
from engine.worker.launches.tuning import Tuning

COMMAND = protocol.RunDry(id="a", case="one", arguments=(protocol.ScalarSpec(value=1),), storages=(16,))


@pytest.fixture
def dry_run(monkeypatch: pytest.MonkeyPatch) -> DryRun:
    """One in this process, which takes back afterwards what it changes in Triton for good."""
    monkeypatch.setattr(JITFunction, "run", JITFunction.run)
    monkeypatch.setattr(Autotuner, "__init__", Autotuner.__init__)
    monkeypatch.setattr(Autotuner, "do_bench", vars(Autotuner)["do_bench"])
    monkeypatch.setattr(Autotuner, "prune_configs", Autotuner.prune_configs)
    with knobs.runtime.scope():
        return DryRun(torch.device("cpu"), Tuning())


def test_returning_entry_sets_no_stumbled_flag(dry_run: DryRun) -> None:
    assert dry_run.call(lambda number: number, COMMAND) == protocol.DryRunDone(id="a", launches=(), is_incomplete=False)


def test_raising_entry_sets_stumbled_flag(dry_run: DryRun) -> None:
    assert dry_run.call(lambda number: 1 / (number - 1), COMMAND) == protocol.DryRunDone(
        id="a", launches=(), is_incomplete=True
    )


@pytest.mark.parametrize(("tunes", "warps"), [(False, [[8], [8]]), (True, [[1, 2, 4, 8, 16], [1, 2, 4, 8, 16]])])
def test_dry_run_launches_every_configuration_only_to_tune(
    dry_run: DryRun, tunes: bool, warps: list[list[int]]
) -> None:
    launched: list[int] = []

    blocks = {1: 256, 2: 128, 4: 64, 8: 32, 16: 512}  # by warps

    @triton.autotune(configs=[triton.Config({"block": blocks[one]}, num_warps=one) for one in blocks], key=["n"])
    @triton.jit
    def kernel(x, n, block):  # type: ignore[no-untyped-def]  # Triton reads the function, not Python
        pass

    class Launches:
        def run(self, *args: object, num_warps: int, **kwargs: object) -> None:
            launched.append(num_warps)

    kernel.fn = Launches()
    found: list[list[int]] = []
    for case in ("one", "two"):  # the second has the key of the first
        launched.clear()
        command = msgspec.structs.replace(COMMAND, case=case, tunes=tunes)
        dry_run.call(lambda number: kernel.run(None, number, grid=(1,), warmup=False), command)
        found.append(sorted(set(launched)))
    assert found == warps
