"""Every action of the screen, once: its keys, its words, and where it works.

The bindings, the help, the palette and the key table of the manual are made from this list, by `kgtui.settings.keys`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Where(enum.StrEnum):
    """The screen that an action belongs to."""

    EVERYWHERE = "everywhere"
    OPERATORS = "operators"
    WORKBENCH = "workbench"
    BENCH = "bench"
    HISTORY = "history"
    TARGETS = "targets"
    DIFFERENCES = "differences"
    INSPECT = "inspect"
    CASE = "case"
    TUNE = "tune"
    SETTINGS = "settings"
    DOCTOR = "doctor"
    HELP = "help"
    MANUAL = "manual"
    COMPARE = "compare"
    MODELS = "models"


@dataclass(frozen=True, kw_only=True)
class Action:
    """One thing that a user can do.

    `call` is what the screen runs; `bar` puts it on the key bar; `priority` gives it the key before the focused
    widget, also while text is typed.  A bar without room for all drops the least `keep` first, of equal ones the last.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: str
    where: Where
    call: str
    bar: bool = False
    priority: bool = False
    listed: bool = True
    keep: int = 1


ACTIONS = (
    # Everywhere
    Action(id="operators", keys=("ctrl+o",), label="operators", help="choose another operator", group="Screens",
           where=Where.EVERYWHERE, call="app.show('operators')", bar=True, priority=True, keep=0),
    Action(id="history", keys=("f8", "H"), label="history", help="every run and session that was kept",
           group="Screens", where=Where.EVERYWHERE, call="app.show('history')"),
    Action(id="help", keys=("question_mark", "f1"), label="help", help="show every key", group="Screens",
           where=Where.EVERYWHERE, call="app.show('help')", bar=True, keep=3),
    Action(id="settings", keys=("f2", "comma"), label="settings", help="theme, target, keys and the rest; where from",
           group="Screens", where=Where.EVERYWHERE, call="app.show('settings')"),
    Action(id="doctor", keys=("f12", "M"), label="doctor", help="what this machine has, and what holds here",
           group="Screens", where=Where.EVERYWHERE, call="app.show('doctor')"),
    Action(id="models", keys=("f10", "L"), label="models", help="generate kernels with language models; what they cost",
           group="Screens", where=Where.EVERYWHERE, call="app.show('models')"),
    Action(id="palette", keys=("ctrl+p",), label="palette", help="find an action by its name", group="Screens",
           where=Where.EVERYWHERE, call="app.command_palette", priority=True, listed=False),
    Action(id="quit", keys=("ctrl+q",), label="quit", help="leave; asks once when there is unsaved text",
           group="Screens", where=Where.EVERYWHERE, call="app.quit", bar=True, priority=True, keep=3),
    Action(id="suspend", keys=("ctrl+z",), label="suspend", help="back to the shell, fg returns; in text: undo",
           group="Screens", where=Where.EVERYWHERE, call="app.suspend"),
    # Operators
    Action(id="open", keys=("enter",), label="open", help="open the operator's kernel file", group="List",
           where=Where.OPERATORS, call="screen.open", bar=True),
    Action(id="new", keys=("n",), label="new file", help="make a new kernel file from a template", group="List",
           where=Where.OPERATORS, call="screen.new", bar=True),
    Action(id="filter", keys=("slash",), label="filter", help="narrow the list by a few letters", group="List",
           where=Where.OPERATORS, call="screen.filter", bar=True),
    Action(id="facet-source", keys=("s",), label="source", help="next source: aten, vllm, cublas, all", group="List",
           where=Where.OPERATORS, call="screen.facet('source')", bar=True),
    Action(id="facet-category", keys=("c",), label="category", help="next category", group="List",
           where=Where.OPERATORS, call="screen.facet('category')", bar=True),
    Action(id="facet-dtype", keys=("d",), label="dtype", help="next element type", group="List",
           where=Where.OPERATORS, call="screen.facet('dtype')", bar=True),
    Action(id="facet-progress", keys=("t",), label="state", help="next state: untried, failing, right, faster, all",
           group="List", where=Where.OPERATORS, call="screen.facet('progress')", bar=True),
    Action(id="back", keys=("escape",), label="back", help="clear the filter; then back to the workbench",
           group="List", where=Where.OPERATORS, call="screen.back", priority=True, keep=2),
    # Workbench: the loop
    Action(id="run", keys=("r", "f5"), label="run", help="judge the saved file again, all cases", group="Loop",
           where=Where.WORKBENCH, call="screen.run_again", bar=True),
    Action(id="failed", keys=("f",), label="failed", help="judge only the cases that failed", group="Loop",
           where=Where.WORKBENCH, call="screen.run_failed", bar=True),
    Action(id="why", keys=("W",), label="why", help="why the case under the cursor failed, on a screen of its own",
           group="Loop", where=Where.WORKBENCH, call="app.show('case')", bar=True),
    Action(id="benchmark", keys=("b",), label="benchmark", help="verify, then time the bench cases again",
           group="Loop", where=Where.WORKBENCH, call="screen.benchmark"),
    Action(id="verify", keys=("v",), label="verify only", help="judge all cases again and time nothing", group="Loop",
           where=Where.WORKBENCH, call="screen.verify"),
    Action(id="alone", keys=("a",), label="case alone", help="judge only the case under the cursor", group="Loop",
           where=Where.WORKBENCH, call="screen.run_alone"),
    Action(id="smoke", keys=("s",), label="smoke", help="judge the smoke cases alone on each save; again for all cases",
           group="Loop", where=Where.WORKBENCH, call="screen.smoke"),
    Action(id="pause", keys=("p",), label="pause", help="stop judging on save; again to go on", group="Loop",
           where=Where.WORKBENCH, call="screen.pause"),
    Action(id="target", keys=("t",), label="target", help="compile for the next target", group="Loop",
           where=Where.WORKBENCH, call="screen.next_target"),
    # Workbench: the source
    Action(id="edit", keys=("e",), label="edit", help="edit the file here; esc returns to watching", group="Source",
           where=Where.WORKBENCH, call="screen.edit", bar=True),
    Action(id="save", keys=("ctrl+s",), label="save", help="write the file and judge it", group="Source",
           where=Where.WORKBENCH, call="screen.save", priority=True),
    Action(id="find", keys=("ctrl+f",), label="find", help="search the file, also while it is edited",
           group="Source", where=Where.WORKBENCH, call="screen.find", priority=True, keep=0),
    Action(id="replace", keys=("ctrl+r",), label="replace", help="replace a text in the file, place by place or all",
           group="Source", where=Where.WORKBENCH, call="screen.replace", priority=True, keep=0),
    Action(id="go-to-line", keys=("ctrl+g",), label="line", help="go to a line of the file by its number",
           group="Source", where=Where.WORKBENCH, call="screen.go_to_line", priority=True, keep=0),
    Action(id="editor", keys=("E", "f4"), label="editor", help="open $EDITOR at the cursor, beside this in tmux",
           group="Source", where=Where.WORKBENCH, call="screen.editor", bar=True, keep=0),
    # Workbench: generated candidates
    Action(id="generate", keys=("m",), label="generate", group="Candidates", where=Where.WORKBENCH,
           help="generate candidates with a model; answers stream into the source, then run", call="screen.generate"),
    Action(id="version-before", keys=("less_than_sign",), label="before", group="Candidates", where=Where.WORKBENCH,
           help="show the generated candidate before", call="screen.version(-1)"),
    Action(id="next-version", keys=("greater_than_sign",), label="next", group="Candidates", where=Where.WORKBENCH,
           help="show the next generated candidate; the newest first", call="screen.version(1)"),
    Action(id="keep", keys=("w",), label="write", help="write the shown candidate into the file; e edits it instead",
           group="Candidates", where=Where.WORKBENCH, call="screen.keep"),
    Action(id="remark", keys=("R",), label="send back", group="Candidates", where=Where.WORKBENCH,
           help="send the shown candidate back to its model, with a remark", call="screen.remark"),
    # Workbench: panes
    Action(id="tab-cases", keys=("1",), label="cases", help="every case, and why one failed", group="Panes",
           where=Where.WORKBENCH, call="screen.tab('cases')"),
    Action(id="tab-findings", keys=("2",), label="findings", help="what the checks observed", group="Panes",
           where=Where.WORKBENCH, call="screen.tab('findings')"),
    Action(id="tab-bench", keys=("3",), label="bench", help="times, speed-ups and percent of the roofline",
           group="Panes", where=Where.WORKBENCH, call="screen.tab('bench')"),
    Action(id="tab-ir", keys=("4",), label="IR", help="compiled kernels, their resources and code", group="Panes",
           where=Where.WORKBENCH, call="screen.tab('ir')"),
    Action(id="tab-history", keys=("5",), label="history", help="earlier runs of this operator", group="Panes",
           where=Where.WORKBENCH, call="screen.tab('history')"),
    Action(id="tab-log", keys=("6",), label="log", help="what the kernel and the engine wrote", group="Panes",
           where=Where.WORKBENCH, call="screen.tab('log')"),
    Action(id="next-tab", keys=("right_square_bracket",), label="next tab", help="the next tab", group="Panes",
           where=Where.WORKBENCH, call="screen.turn_tab(1)"),
    Action(id="previous-tab", keys=("left_square_bracket",), label="previous tab", help="the tab before",
           group="Panes", where=Where.WORKBENCH, call="screen.turn_tab(-1)"),
    Action(id="next-pane", keys=("tab",), label="next pane", help="move to the next pane", group="Panes",
           where=Where.WORKBENCH, call="app.focus_next"),
    Action(id="previous-pane", keys=("shift+tab",), label="previous pane", help="move to the pane before",
           group="Panes", where=Where.WORKBENCH, call="app.focus_previous"),
    Action(id="zoom", keys=("z",), label="zoom", help="give this pane the whole screen; again to undo",
           group="Panes", where=Where.WORKBENCH, call="screen.zoom", bar=True),
    Action(id="plot", keys=("B",), label="plot", help="the bench cases over their sizes, on a screen of its own",
           group="Panes", where=Where.WORKBENCH, call="app.show('bench')"),
    Action(id="ir-pane", keys=("i",), label="IR pane", help="show or hide the code beside the results",
           group="Panes", where=Where.WORKBENCH, call="screen.ir_pane"),
    Action(id="ir-form", keys=("x",), label="IR form", help="next form: ttir, ttgir, llir, ptx, sass",
           group="Panes", where=Where.WORKBENCH, call="screen.ir_form"),
    Action(id="inspect", keys=("I",), label="inspect", help="all that speaks for and against this kernel, on one page",
           group="Panes", where=Where.WORKBENCH, call="app.show('inspect')"),
    Action(id="targets", keys=("T",), label="targets", help="compile what was launched for a list of targets",
           group="Panes", where=Where.WORKBENCH, call="app.show('targets')"),
    Action(id="differences", keys=("D",), label="differences",
           help="what changed in the code of this kernel since an earlier run", group="Panes", where=Where.WORKBENCH,
           call="app.show('differences')"),
    Action(id="tune", keys=("u",), label="tune", help="try other values of the constants and launch options",
           group="Panes", where=Where.WORKBENCH, call="app.show('tune')"),
    Action(id="compare", keys=("c",), label="compare", help="the best run and this one, or those marked",
           group="Panes", where=Where.WORKBENCH, call="app.show('compare')", bar=True),
    # Workbench: inside a pane
    Action(id="search", keys=("slash",), label="search", help="search the text, or filter the cases", group="In a pane",
           where=Where.WORKBENCH, call="screen.search", bar=True, keep=0),
    Action(id="next-hit", keys=("n", "f3"), label="next hit", help="the next place that matches", group="In a pane",
           where=Where.WORKBENCH, call="screen.hit(1)"),
    Action(id="previous-hit", keys=("N", "shift+f3"), label="previous hit", help="the matching place before",
           group="In a pane", where=Where.WORKBENCH, call="screen.hit(-1)"),
    Action(id="follow", keys=("enter",), label="follow", help="show a failed case whole; go from an error to its line",
           group="In a pane", where=Where.WORKBENCH, call="screen.follow"),
    Action(id="mark", keys=("space",), label="mark", help="mark the past run under the cursor to be compared",
           group="In a pane", where=Where.WORKBENCH, call="screen.mark"),
    Action(id="unmark", keys=("X",), label="unmark all", help="take back every mark", group="In a pane",
           where=Where.WORKBENCH, call="screen.unmark"),
    Action(id="copy", keys=("y",), label="copy", help="copy the value under the cursor", group="In a pane",
           where=Where.WORKBENCH, call="screen.copy_value"),
    Action(id="copy-all", keys=("Y",), label="copy all", help="copy the whole result as Markdown", group="In a pane",
           where=Where.WORKBENCH, call="screen.copy_result"),
    # The plot of the bench cases
    Action(id="measure", keys=("m",), label="measure", help="next measure: time, bandwidth, operations a second",
           group="Plot", where=Where.BENCH, call="screen.measure", bar=True),
    Action(id="axis", keys=("x",), label="axis", help="over the working set, or in the order of the cases",
           group="Plot", where=Where.BENCH, call="screen.axis", bar=True),
    Action(id="again", keys=("b",), label="benchmark", help="verify, then time the bench cases again", group="Plot",
           where=Where.BENCH, call="screen.benchmark", bar=True),
    Action(id="close", keys=("escape",), label="back", help="back to the workbench", group="Plot",
           where=Where.BENCH, call="screen.close", bar=True, keep=2),
    # The inspection
    Action(id="next-finding", keys=("n",), label="next finding", help="the next line that is about the source",
           group="Inspection", where=Where.INSPECT, call="screen.finding(1)", bar=True),
    Action(id="previous-finding", keys=("N",), label="previous finding", help="the one before that is about the source",
           group="Inspection", where=Where.INSPECT, call="screen.finding(-1)"),
    Action(id="to-source", keys=("enter",), label="to its line", help="go to the line of the source in the workbench",
           group="Inspection", where=Where.INSPECT, call="screen.follow", bar=True),
    Action(id="claim", keys=("c",), label="claim", help="hold a claimed speed-up against the measured one",
           group="Inspection", where=Where.INSPECT, call="screen.claim", bar=True),
    Action(id="judge-again", keys=("r",), label="run", help="judge the saved file again, all cases",
           group="Inspection", where=Where.INSPECT, call="screen.run_again"),
    Action(id="write-html", keys=("w",), label="write HTML", help="write the page as a new HTML file beside the kernel",
           group="Inspection", where=Where.INSPECT, call="screen.write_html", bar=True),
    Action(id="copy-line", keys=("y",), label="copy", help="copy the line under the cursor", group="Inspection",
           where=Where.INSPECT, call="screen.copy_value"),
    Action(id="copy-page", keys=("Y",), label="copy all", help="copy the whole page as Markdown", group="Inspection",
           where=Where.INSPECT, call="screen.copy_result", bar=True),
    Action(id="leave-page", keys=("escape",), label="back", help="leave the question; then back to the workbench",
           group="Inspection", where=Where.INSPECT, call="screen.step_back", bar=True, priority=True, keep=2),
    # A failed case
    Action(id="next-case", keys=("n",), label="next", help="the next case that failed", group="Failed case",
           where=Where.CASE, call="screen.other_case(1)", bar=True),
    Action(id="previous-case", keys=("N",), label="previous", help="the case before that failed", group="Failed case",
           where=Where.CASE, call="screen.other_case(-1)"),
    Action(id="to-line", keys=("enter",), label="to its line", help="go to the line that is at fault",
           group="Failed case", where=Where.CASE, call="screen.follow", bar=True),
    Action(id="replay", keys=("a",), label="case alone", help="judge only this case again", group="Failed case",
           where=Where.CASE, call="screen.run_alone", bar=True),
    Action(id="rerun", keys=("r",), label="run", help="judge the saved file again, all cases", group="Failed case",
           where=Where.CASE, call="screen.run_again"),
    Action(id="write-script", keys=("w",), label="write script",
           help="write this case as a new script that needs torch and Triton alone", group="Failed case",
           where=Where.CASE, call="screen.write_script", bar=True),
    Action(id="copy-case", keys=("y", "Y"), label="copy", help="copy all that is said of this case",
           group="Failed case", where=Where.CASE, call="screen.copy_result"),
    Action(id="leave-case", keys=("escape",), label="back", help="back to the workbench", group="Failed case",
           where=Where.CASE, call="screen.close", bar=True, keep=2),
    # The targets
    Action(id="read", keys=("enter",), label="read code", help="read the code as compiled for this target",
           group="Targets", where=Where.TARGETS, call="screen.read", bar=True),
    Action(id="port", keys=("r",), label="compile", help="compile the launches again for every target",
           group="Targets", where=Where.TARGETS, call="screen.port", bar=True),
    Action(id="leave", keys=("escape",), label="back", help="stop compiling; then back to the workbench",
           group="Targets", where=Where.TARGETS, call="screen.leave", bar=True, keep=2),
    # Models
    Action(id="open-run", keys=("enter",), label="open", help="open the run of this candidate in the workbench",
           group="Models", where=Where.MODELS, call="screen.open_run", bar=True),
    Action(id="generate", keys=("r",), label="generate", help="type models and a budget, then generate",
           group="Models", where=Where.MODELS, call="screen.ask", bar=True),
    Action(id="copy-models", keys=("Y",), label="copy", help="copy the comparison as Markdown", group="Models",
           where=Where.MODELS, call="screen.copy_result"),
    Action(id="leave-models", keys=("escape",), label="back", help="stop typing, then generating; then go back",
           group="Models", where=Where.MODELS, call="screen.step_back", bar=True, priority=True, keep=2),
    # Tuning
    Action(id="choose", keys=("enter",), label="choose", help="choose the values of a tunable; look at a variant's run",
           group="Tuning", where=Where.TUNE, call="screen.choose", bar=True),
    Action(id="try", keys=("r",), label="try all", help="judge the file as it is, then every variant", group="Tuning",
           where=Where.TUNE, call="screen.try_all", bar=True),
    Action(id="sort", keys=("s",), label="sort", help="sort the variants by the next column", group="Tuning",
           where=Where.TUNE, call="screen.sort", bar=True),
    Action(id="reverse", keys=("S",), label="reverse", help="sort the variants the other way round", group="Tuning",
           where=Where.TUNE, call="screen.reverse"),
    Action(id="write-winner", keys=("w",), label="write winner", group="Tuning", where=Where.TUNE,
           help="write the fastest variant into the file, once you confirmed it", call="screen.write", bar=True),
    Action(id="copy-variant", keys=("y",), label="copy", help="copy the values of the variant", group="Tuning",
           where=Where.TUNE, call="screen.copy_value"),
    Action(id="copy-grid", keys=("Y",), label="copy all", help="copy all variants as Markdown", group="Tuning",
           where=Where.TUNE, call="screen.copy_result"),
    Action(id="other-table", keys=("tab", "shift+tab"), label="other table", help="from the tunables to the variants",
           group="Tuning", where=Where.TUNE, call="screen.other_table", bar=True),
    Action(id="leave-tuning", keys=("escape",), label="back", group="Tuning", where=Where.TUNE,
           help="leave the question; then stop trying; then back to the workbench", call="screen.step_back", bar=True,
           priority=True, keep=2),
    # The differences of two runs
    Action(id="form", keys=("x",), label="form", help="next form: ttir, ttgir, llir, ptx, sass", group="Differences",
           where=Where.DIFFERENCES, call="screen.form", bar=True),
    Action(id="older", keys=("left_square_bracket",), label="older run", help="compare with the run before that",
           group="Differences", where=Where.DIFFERENCES, call="screen.turn_run(1)", bar=True),
    Action(id="newer", keys=("right_square_bracket",), label="newer run", help="compare with the run after that",
           group="Differences", where=Where.DIFFERENCES, call="screen.turn_run(-1)", bar=True),
    Action(id="next-kernel", keys=("K",), label="kernel", help="the next kernel of this run", group="Differences",
           where=Where.DIFFERENCES, call="screen.next_kernel", bar=True),
    Action(id="next-change", keys=("n",), label="next change", help="the next change", group="Differences",
           where=Where.DIFFERENCES, call="screen.change(1)", bar=True),
    Action(id="previous-change", keys=("N",), label="change before", help="the change before", group="Differences",
           where=Where.DIFFERENCES, call="screen.change(-1)"),
    Action(id="copy", keys=("y",), label="copy", help="copy the differences", group="Differences",
           where=Where.DIFFERENCES, call="screen.copy", bar=True),
    Action(id="close", keys=("escape",), label="back", help="back to the workbench", group="Differences",
           where=Where.DIFFERENCES, call="screen.close", bar=True, keep=2),
    # Runs side by side
    *(
        Action(id=f"part-{name}", keys=(str(number),), label=name, help=help, group="Compare", where=Where.COMPARE,
               call=f"screen.tab('{name}')")
        for number, (name, help) in enumerate((
            ("source", "the sources side by side"), ("cases", "what became of every case on each side"),
            ("times", "what every timed case takes, and whether the difference counts"),
            ("resources", "registers, spills, shared memory and occupancy"), ("findings", "what the checks observed"),
            ("cost", "model, tokens and money; device and versions"),
        ), start=1)
    ),
    Action(id="next-part", keys=("tab",), label="next part", help="the next part of the comparison", group="Compare",
           where=Where.COMPARE, call="screen.turn_tab(1)"),
    Action(id="previous-part", keys=("shift+tab",), label="part before", help="the part of the comparison before",
           group="Compare", where=Where.COMPARE, call="screen.turn_tab(-1)"),
    Action(id="next-difference", keys=("n",), label="next difference", help="the next difference", group="Compare",
           where=Where.COMPARE, call="screen.difference(1)", bar=True),
    Action(id="previous-difference", keys=("N",), label="difference before", help="the difference before",
           group="Compare", where=Where.COMPARE, call="screen.difference(-1)"),
    Action(id="next-side", keys=("right_square_bracket",), label="next side", group="Compare",
           help="show the next side beside the reference", where=Where.COMPARE, call="screen.turn_side(1)"),
    Action(id="previous-side", keys=("left_square_bracket",), label="side before", group="Compare",
           help="show the side before beside the reference", where=Where.COMPARE, call="screen.turn_side(-1)"),
    Action(id="best", keys=("b",), label="best", help="the best run against the current one, whatever is marked",
           group="Compare", where=Where.COMPARE, call="screen.best", bar=True),
    Action(id="measure", keys=("m",), label="measure", group="Compare",
           help="judge the shown side again, timed taking turns with the reference", where=Where.COMPARE,
           call="screen.measure", bar=True),
    Action(id="copy-row", keys=("y",), label="copy", help="copy the row under the cursor", group="Compare",
           where=Where.COMPARE, call="screen.copy_value"),
    Action(id="copy-comparison", keys=("Y",), label="copy all", help="copy the whole comparison as Markdown",
           group="Compare", where=Where.COMPARE, call="screen.copy_result", bar=True),
    Action(id="close", keys=("escape",), label="back", help="back to where you came from", group="Compare",
           where=Where.COMPARE, call="screen.close", bar=True, keep=2),
    # History
    Action(id="open-run", keys=("enter",), label="open", help="look at the run as it was; list a session's runs",
           group="Past", where=Where.HISTORY, call="screen.open", bar=True),
    Action(id="mark", keys=("space",), label="mark", help="mark the run to be compared", group="Past",
           where=Where.HISTORY, call="screen.mark", bar=True),
    Action(id="unmark", keys=("X",), label="unmark all", help="take back every mark", group="Past",
           where=Where.HISTORY, call="screen.unmark"),
    Action(id="compare", keys=("c",), label="compare", help="the marked runs side by side, or this and the current one",
           group="Past", where=Where.HISTORY, call="screen.compare", bar=True),
    Action(id="find", keys=("slash",), label="filter", help="find runs by operator, file, device, tag, outcome, words",
           group="Past", where=Where.HISTORY, call="screen.filter", bar=True),
    Action(id="same-operator", keys=("o",), label="same operator", help="only runs of this operator", group="Past",
           where=Where.HISTORY, call="screen.same('operator')"),
    Action(id="same-file", keys=("f",), label="same file", help="only runs of files of this name", group="Past",
           where=Where.HISTORY, call="screen.same('file')"),
    Action(id="sessions", keys=("s",), label="sessions", help="list sessions instead of runs, or runs again",
           group="Past", where=Where.HISTORY, call="screen.sessions", bar=True),
    Action(id="tag", keys=("t",), label="tag", help="put the run under a tag", group="Past", where=Where.HISTORY,
           call="screen.tag", bar=True),
    Action(id="note", keys=("n",), label="note", help="write a note to the run", group="Past", where=Where.HISTORY,
           call="screen.note", bar=True),
    Action(id="restore", keys=("R",), label="restore", help="put the run's source into a new file and open that",
           group="Past", where=Where.HISTORY, call="screen.restore", bar=True),
    Action(id="delete", keys=("d", "delete"), label="delete", help="delete the run or session, once you confirmed it",
           group="Past", where=Where.HISTORY, call="screen.delete", bar=True),
    Action(id="copy-number", keys=("y",), label="copy", help="copy the number of the run", group="Past",
           where=Where.HISTORY, call="screen.copy_value"),
    Action(id="leave-history", keys=("escape",), label="back",
           help="one step back: leave the question, clear the filter, list runs again; then leave", group="Past",
           where=Where.HISTORY, call="screen.back", bar=True, priority=True, keep=2),
    # Settings
    Action(id="change", keys=("enter", "space"), label="change", help="the next value, or type another one",
           group="Settings", where=Where.SETTINGS, call="screen.change", bar=True),
    Action(id="take-back", keys=("u",), label="take back", help="take back what you changed here", group="Settings",
           where=Where.SETTINGS, call="screen.take_back", bar=True),
    Action(id="write", keys=("w",), label="write", help="write what you changed to the file; shows it and asks first",
           group="Settings", where=Where.SETTINGS, call="screen.write", bar=True),
    Action(id="find", keys=("slash",), label="find", help="only settings and bindings with these letters",
           group="Settings", where=Where.SETTINGS, call="screen.find", bar=True),
    Action(id="copy", keys=("y",), label="copy", help="copy the setting as a line of the file", group="Settings",
           where=Where.SETTINGS, call="screen.copy_value"),
    Action(id="leave", keys=("escape",), label="back", help="leave the question or the search; then leave",
           group="Settings", where=Where.SETTINGS, call="screen.step_back", bar=True, priority=True, keep=2),
    # Doctor
    Action(id="again", keys=("r",), label="again", help="look again", group="Doctor", where=Where.DOCTOR,
           call="screen.again", bar=True),
    Action(id="copy-line", keys=("y",), label="copy", help="copy the line under the cursor", group="Doctor",
           where=Where.DOCTOR, call="screen.copy_value", bar=True),
    Action(id="copy-page", keys=("Y",), label="copy all", help="copy the whole diagnosis", group="Doctor",
           where=Where.DOCTOR, call="screen.copy_result", bar=True),
    Action(id="close", keys=("escape",), label="back", help="back to where you were", group="Doctor",
           where=Where.DOCTOR, call="screen.close", bar=True, keep=2),
    # Help
    Action(id="find", keys=("slash",), label="find", help="only lines with these letters", group="Help",
           where=Where.HELP, call="screen.find"),
    Action(id="manual", keys=("m",), label="manual", help="open the manual", group="Help",
           where=Where.HELP, call="app.show('manual')"),
    Action(id="close", keys=("escape", "q"), label="back", help="leave the search; then leave", group="Help",
           where=Where.HELP, call="screen.step_back", keep=2),
    Action(id="down", keys=("j",), label="down", help="scroll down", group="Help", where=Where.HELP,
           call="screen.scroll('down')", listed=False),
    Action(id="up", keys=("k",), label="up", help="scroll up", group="Help", where=Where.HELP,
           call="screen.scroll('up')", listed=False),
    Action(id="top", keys=("g",), label="top", help="scroll to the top", group="Help", where=Where.HELP,
           call="screen.scroll('home')", listed=False),
    Action(id="bottom", keys=("G",), label="bottom", help="scroll to the bottom", group="Help", where=Where.HELP,
           call="screen.scroll('end')", listed=False),
    # Manual
    Action(id="read", keys=("enter",), label="read", help="go to the text of the selected topic", group="Manual",
           where=Where.MANUAL, call="screen.read", bar=True),
    Action(id="other-part", keys=("tab", "shift+tab"), label="topics/text", help="from the topics to the text",
           group="Manual", where=Where.MANUAL, call="app.focus_next", bar=True),
    Action(id="copy-page", keys=("Y",), label="copy all", help="copy the page as Markdown", group="Manual",
           where=Where.MANUAL, call="screen.copy_result", bar=True),
    Action(id="close", keys=("escape",), label="back", help="back to where you were", group="Manual",
           where=Where.MANUAL, call="screen.close", bar=True, keep=2),
    *(
        Action(id=f"move-{name}", keys=(key,), label=name, help=f"move {name}", group="In a pane", where=where,
               call=f"screen.move('{name}')", listed=False)
        for where in (Where.OPERATORS, Where.WORKBENCH, Where.BENCH, Where.TARGETS, Where.INSPECT, Where.CASE,
                      Where.HISTORY, Where.COMPARE, Where.SETTINGS, Where.DOCTOR, Where.TUNE,
                      Where.MANUAL, Where.MODELS)
        for key, name in (("h", "left"), ("j", "down"), ("k", "up"), ("l", "right"), ("g", "top"), ("G", "bottom"))
    ),
    Action(id="escape", keys=("escape",), label="back",
           help="one step back: leave editing, the search, the zoom, an old run; then cancel the run",
           group="In a pane", where=Where.WORKBENCH, call="screen.step_back", priority=True, keep=2),
)  # fmt: skip
