"""What the workbench answers when cases of a run of another file would be run on the open one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgtui.state.workbench.workbench import Workbench


def other_file_sentence(bench: Workbench, *, shown: str) -> str:
    """Which file the shown run is of, and how to open it; `shown` is its path, "" if it has none."""
    back = f"esc returns to {bench.path.name}"
    if bench.shown.candidate:
        return f"{bench.shown.candidate} is a generated candidate: w writes it into {bench.path.name}, {back}"
    if shown:
        return f"run #{bench.shown.number} is of {shown}: ctrl+o, or kgtui open {shown}, opens it; {back}"
    named = bench.shown_filename
    source = f"of {named}" if named != f"run #{bench.shown.number}" else "of a source"
    return f"run #{bench.shown.number} is {source}, without a file: R in the history (F8) restores it, {back}"
