"""What the tests of more than one package need."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import subprocess
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forking import environment_of_scripts, forking
from tests.sampling import OPTION, Sampling, add_option

NOBODY = 65534
_COLLECT_AFTER = (20_000, 20, 100)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the suite."""
    add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Give torch one thread: small tensors gain nothing from more, which wait for each other on a busy machine."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    divisor: int = config.getoption(OPTION)
    if divisor > 0:
        config.pluginmanager.register(Sampling(divisor))


def pytest_collection_finish() -> None:
    """Leave the collected tests and all modules out of garbage collection, which would visit them for every test."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # or nanobind prints all of Triton's types as leaked at the end
    gc.set_threshold(*_COLLECT_AFTER)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say of the corpus the two figures that must be zero."""
    reported = Counter(
        tuple(one)
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for one in report.user_properties
    )
    cheats, honest = reported["cheat", "passed"] + reported["cheat", "caught"], reported["honest", "flagged"]
    if cheats or honest or reported["honest", "left alone"]:
        terminalreporter.write_line(
            f"corpus: {reported['cheat', 'passed']} of {cheats} cheats passed, "
            f"{honest} of {honest + reported['honest', 'left alone']} honest kernels flagged"
        )


@pytest.fixture
def without_root() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """A block without the powers of root, for whom no file is read-only."""
    return _without_root


@contextlib.contextmanager
def _without_root() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


_SCRIPT = """
import os, runpy, sys

sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="session")
def run_script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs a script with arguments in a process that has imported torch and Triton, and can import nothing of ours."""
    libraries, folder = sysconfig.get_path("purelib"), tmp_path_factory.mktemp("scripts")
    variables = environment_of_scripts()
    with forking("torch", "triton", folder=folder, libraries=libraries, variables=variables) as server:

        def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
            return server.run(_SCRIPT, str(script), *arguments, cwd=script.parent)

        yield run
