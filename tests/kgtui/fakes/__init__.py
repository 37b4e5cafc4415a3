"""Doubles at the seams of the screen: an engine that replays events, a store in memory, three operators, a watcher.

They keep to `kgtui.ports.protocols`; nothing here starts a process or opens a file.  `timed_runs` has the event streams
of runs that were timed, `stored_runs` runs in a real store in memory.
"""

from tests.kgtui.fakes.cases import WRONG_TAIL, out_of_bounds, passed, wrong
from tests.kgtui.fakes.engine import FakeEngine
from tests.kgtui.fakes.kernels import PTX, SOURCE, compiled, read_artefact, softmax_launch
from tests.kgtui.fakes.machine import diagnose
from tests.kgtui.fakes.problems import Problems, catalogue, described, descriptions, softmax_problem
from tests.kgtui.fakes.recording import NOW, MemoryRecording, recent_file
from tests.kgtui.fakes.streams import (
    Script,
    all_pass,
    never_begins,
    ported,
    run_events,
    some_fail,
    stops_half_way,
    suspicious,
)
from tests.kgtui.fakes.watcher import FakeWatcher

__all__ = [
    "NOW",
    "PTX",
    "SOURCE",
    "WRONG_TAIL",
    "FakeEngine",
    "FakeWatcher",
    "MemoryRecording",
    "Problems",
    "Script",
    "all_pass",
    "catalogue",
    "compiled",
    "described",
    "descriptions",
    "diagnose",
    "never_begins",
    "out_of_bounds",
    "passed",
    "ported",
    "read_artefact",
    "recent_file",
    "run_events",
    "softmax_launch",
    "softmax_problem",
    "some_fail",
    "stops_half_way",
    "suspicious",
    "wrong",
]
