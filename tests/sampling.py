"""The rule of the sample that `make test` runs; `make test-all` runs every test.

With `--sample=N`, N > 0:

- a test marked `slow` does not run;
- of a test marked `sampled` those sets of parameters run whose node id has a CRC-32 that N divides, and of each group
  the one with the smallest CRC-32.  `sampled(group=f)` makes groups of what `f` returns for the parameters, such as
  the operator; without it a test is one group;
- of the other tests in a file of `COSTLY`, which start the application, processes or compilers or draw thousands of
  numbers, those run whose CRC-32 `ONE_IN` divides, and of each file the one with the smallest CRC-32;
- every other test runs.

The rule depends on node ids alone: two runs of one source run the same tests, on any number of workers.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import pytest

OPTION = "--sample"
ONE_IN = 20
COSTLY = (
    "tests/architecture/test_imports.py",
    "tests/engine/compiler/",
    "tests/engine/end_to_end/",
    "tests/engine/judge/test_baselines.py",
    "tests/engine/timing/test_bench.py",
    "tests/engine/timing/numbers/test_statistics.py",
    "tests/kgtui/app/",
    "tests/kgtui/cli/",
    "tests/kgtui/screens/",
    "tests/kgtui/standalone/",
    "tests/kgtui/terminal/",
    "tests/kgtui/widgets/",
)
_COUNTS = "sample_counts"


def add_option(parser: pytest.Parser) -> None:
    """Add `--sample` to the options of pytest; 0, the default, runs every test."""
    parser.addoption(OPTION, type=int, default=0, metavar="N", help="run the sample of tests/sampling.py, 0: run all")


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What the rule reads of one test."""

    nodeid: str
    slow: bool = False
    sampled: bool = False
    group: Hashable = None

    @property
    def costly(self) -> bool:
        """Whether it is not marked and in a file of `COSTLY`."""
        return not self.sampled and self.nodeid.startswith(COSTLY)

    @property
    def checksum(self) -> int:
        """The CRC-32 of the node id."""
        return zlib.crc32(self.nodeid.encode())


def in_sample(tests: Iterable[Collected], divisor: int) -> frozenset[str]:
    """The node ids of the tests that the sample has."""
    chosen: set[str] = set()
    smallest: dict[Hashable, Collected] = {}
    for test in (test for test in tests if not test.slow):
        one_in = divisor if test.sampled else ONE_IN if test.costly else 1
        if test.checksum % one_in == 0:
            chosen.add(test.nodeid)
        if one_in > 1:
            group = test.nodeid.partition("::" if test.costly else "[")[0], test.group
            smallest[group] = min(smallest.get(group, test), test, key=lambda one: one.checksum)
    return frozenset(chosen | {test.nodeid for test in smallest.values()})


def _read(item: pytest.Item) -> Collected:
    mark = item.get_closest_marker("sampled")
    function = mark.kwargs.get("group") if mark is not None else None
    parameters = item.callspec.params if isinstance(item, pytest.Function) and function is not None else {}
    return Collected(
        nodeid=item.nodeid,
        slow=item.get_closest_marker("slow") is not None,
        sampled=mark is not None,
        group=function(**parameters) if function is not None else None,
    )


class Sampling:
    """The plugin of a run with `--sample`."""

    def __init__(self, divisor: int) -> None:
        self._divisor = divisor
        self._chosen = self._collected = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect what the sample does not have."""
        chosen = in_sample(map(_read, items), self._divisor)
        left_out = [item for item in items if item.nodeid not in chosen]
        self._chosen, self._collected = len(items) - len(left_out), len(items)
        items[:] = [item for item in items if item.nodeid in chosen]
        config.hook.pytest_deselected(items=left_out)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the counts of a worker of xdist to the process that writes the summary."""
        output: dict[str, object] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_COUNTS] = (self._chosen, self._collected)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Take the counts of a worker of xdist; all workers have the same."""
        output: Mapping[str, tuple[int, int]] = getattr(node, "workeroutput", {})
        self._chosen, self._collected = output.get(_COUNTS, (self._chosen, self._collected))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write how much of the suite ran."""
        terminalreporter.write_line(f"sample: {self._chosen:,} of {self._collected:,} tests; make test-all runs all")
