"""Runs every scenario and prints its value, violation or error as JSON."""

from __future__ import annotations

import inspect
import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

import msgspec

from engine.loading.raised import OutOfBoundsError
from engine.worker.launches.tuning import Tuning
from tests.engine.worker.scenarios import addresses, bounds, language, program_order, recording, reductions
from tests.engine.worker.scenarios.launching import LAUNCHES, SCENARIOS

MODULES = (bounds, addresses, recording, language, reductions, program_order)


def main() -> None:
    """Run them with the driver installed; a finding names lines of the file of its scenario."""
    LAUNCHES.install()
    Tuning().stop_measuring()
    results: dict[str, Any] = {}
    for name, run in SCENARIOS.items():
        LAUNCHES.watch(inspect.getfile(run))
        results[name] = _became(run)
    json.dump(results, sys.stdout)


def _became(run: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"value": run()}
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, OutOfBoundsError):
                return {"violation": msgspec.to_builtins(cause.report), "message": str(cause)}
            root, cause = cause, cause.__cause__
        return {"error": repr(root), "trace": traceback.format_exc()}


if __name__ == "__main__":
    main()
