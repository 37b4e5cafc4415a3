"""The table of static checks that look for a name: one row each, in `TABLE`.

A row has the name of its findings, its patterns with a sentence each, a severity, the strict rule, and examples that
match and that do not.  It never imports `engine.static.checks`, which lists the table beside the checks in files.
"""

from __future__ import annotations

from engine.static.names.matching import NameCheck
from engine.static.names.native_code import NATIVE_CHECKS
from engine.static.names.outside_code import CODE_CHECKS
from engine.static.names.processes import PROCESS_CHECKS
from engine.static.names.shared_state import STATE_CHECKS

TABLE: tuple[NameCheck, ...] = (*PROCESS_CHECKS, *STATE_CHECKS, *CODE_CHECKS, *NATIVE_CHECKS)
