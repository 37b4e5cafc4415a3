"""Every page there is to see: each screen in each of its states, as data.

A page names the stream that the engine tells, the store it finds and the keys that lead to it.  What it must say, in
words or signs, has to be there at every size and without colour.
"""

from __future__ import annotations

from dataclasses import dataclass

from kgtui.state.format.glyphs import State

SIZES = ((80, 24), (120, 36), (200, 60))
TINY = ((59, 24), (80, 14), (24, 5))
_NO_KNOBS = b"def softmax(x, dim):\n    return x\n"
_EIGHT = ("u", "enter", *["backspace"] * 15, *"4 8", "enter")


@dataclass(frozen=True, kw_only=True)
class Page:
    """One screen in one state.

    `script` is what the engine says of the file that is open, `then` what it says of the next save; `store` is what the
    store holds, `marked` which of its runs are marked.  `timed` is for a device that can time.  `ends_cancelled` waits
    for the verdict that the last key asked for; `overtaken` has another program write the file last, `gone` has it
    take the file away.  `ports_only` is how many events the engine tells of what it compiles for other targets.
    `state` is the state of the workbench, where it is one.
    """

    name: str
    screen: str
    says: tuple[str, ...]
    state: State | None = None
    script: str = "all_pass"
    then: str = ""
    keys: tuple[str, ...] = ()
    store: str = ""
    marked: tuple[int, ...] = ()
    timed: bool = False
    opened: bool = True
    content: bytes | None = None
    ends_cancelled: bool = False
    overtaken: bool = False
    gone: bool = False
    ports_only: int | None = None
    engine_starts: bool = True
    sizes: tuple[tuple[int, int], ...] = SIZES


_RUNNING = (
    Page(name="nothing-ran", screen="workbench", state=State.IDLE, says=("· idle", "save the file"),
         engine_starts=False, keys=("escape",)),
    Page(name="beginning", screen="workbench", state=State.STARTING, says=("⟳ starting", "starting the run..."),
         script="never_begins"),
    Page(name="starting", screen="workbench", state=State.STARTING, says=("⟳ starting",), engine_starts=False),
    Page(name="reading", screen="workbench", state=State.LOADING, says=("⟳ loading",), script="parsing"),
    Page(name="loading", screen="workbench", state=State.LOADING, says=("⟳ loading",), script="loading"),
    Page(name="verifying", screen="workbench", state=State.VERIFYING,
         says=("⟳ verifying 4/8, smoke 4/4 passed", "smoke passed after"), script="smoke_passed", keys=("1",)),
    Page(name="failing", screen="workbench", state=State.FAILED,
         says=("✗ failed 1/8 so far, verifying 5/8", "✗ wrong value"), script="stops_half_way", keys=("1",)),
    Page(name="failing-over-stale-results", screen="workbench", state=State.FAILED,
         says=("✗ failed 2/8 so far, verifying 5/8", "✗ wrong value"), script="some_fail", then="stops_half_way",
         keys=("1",)),
    Page(name="probing", screen="workbench", state=State.PASSED, says=("✔ passed 8/8, probing",), script="probing"),
    Page(name="compiling", screen="workbench", state=State.PASSED, says=("✔ passed 8/8, compiling 0/1",),
         script="compiling"),
    Page(name="waiting-for-the-device", screen="workbench", state=State.QUEUED, says=("… queued", "train.py"),
         script="waits_for_the_device", keys=("3",), timed=True),
    Page(name="timing", screen="workbench", state=State.BENCHMARKING, says=("▶ benchmarking 2/5",),
         script="times_two_of_five", keys=("3",), timed=True),
    Page(name="timing-so-far", screen="workbench", state=State.BENCHMARKING, says=("so far", "· 55.6"),
         script="times_third_of_five", keys=("3", "j", "j"), timed=True),
    Page(name="timing-over-stale-results", screen="workbench", state=State.BENCHMARKING, says=("▶ benchmarking 2/5",),
         script="all_timed", then="times_two_of_five", keys=("3",), timed=True),
)  # fmt: skip
_ENDED = (
    Page(name="passed", screen="workbench", state=State.PASSED, says=("✔ passed", "right on 8 of 8"), keys=("1",)),
    Page(name="passed-before", screen="workbench", state=State.PASSED, says=("✔ passed",), store="known"),
    Page(name="failed", screen="workbench", state=State.FAILED, says=("✗ failed", "✗ wrong value"),
         script="some_fail", keys=("1",)),
    Page(name="failed-zoomed", screen="workbench", state=State.FAILED, says=("✗ wrong value", "look at"),
         script="explained", keys=("1", "z")),
    Page(name="out-of-bounds", screen="workbench", state=State.FAILED, says=("✗ failed", "✗ runtime error"),
         script="beyond_the_end", keys=("1",)),
    Page(name="crashed", screen="workbench", state=State.FAILED, says=("✗ failed", "✗ crashed"), script="crashed",
         keys=("1",)),
    Page(name="timed-out", screen="workbench", state=State.FAILED, says=("✗ failed", "✗ timeout"), script="timed_out",
         keys=("1",)),
    Page(name="no-Python", screen="workbench", state=State.FAILED, says=("✗ failed", "line 14, column 5: syntax error"),
         script="does_not_parse"),
    Page(name="does-not-build", screen="workbench", state=State.FAILED, says=("✗ failed", "does not build"),
         script="does_not_build", keys=("4",)),
    Page(name="refused", screen="workbench", state=State.FAILED, says=("✗ failed", "not run"), script="refused",
         keys=("2",)),
    Page(name="flagged", screen="workbench", state=State.FLAGGED, says=("⚑ flagged", "not credible"),
         script="suspicious", keys=("2",)),
    Page(name="cancelled", screen="workbench", state=State.CANCELLED, says=("⊘ cancelled",), script="stops_half_way",
         keys=("escape",), ends_cancelled=True),
    Page(name="not-possible-here", screen="workbench", state=State.UNSUPPORTED, says=("? not possible here",),
         script="unsupported"),
    Page(name="engine-error", screen="workbench", state=State.ENGINE_ERROR, says=("! engine error",),
         script="engine_broke"),
    Page(name="paused", screen="workbench", state=State.PAUSED, says=("‖ paused",), keys=("p",)),
    Page(name="edited", screen="workbench", state=State.EDITED, says=("~ edited", "EDIT"), keys=("e", "x")),
    Page(name="cut-short", screen="workbench", state=State.INTERRUPTED, says=("⊘ interrupted", "5 of 8 cases", "#1"),
         store="cut_short", script="never_begins", keys=("5", "enter")),
    Page(name="the-store-in-trouble", screen="workbench", state=State.PASSED, says=("no space left",), store="broken"),
)  # fmt: skip
_PANES = (
    Page(name="cases-filtered", screen="workbench", says=("✗ wrong value", "/f16"), script="some_fail",
         keys=("1", "slash", *"f16", "enter")),
    Page(name="cases-none-matches", screen="workbench", says=("no case has 'nothing'",), script="some_fail",
         keys=("1", "slash", *"nothing", "enter")),
    Page(name="searching", screen="workbench", says=("mask",), keys=("slash", *"mask")),
    Page(name="no-findings", screen="workbench", says=("Findings",), keys=("2",)),
    Page(name="why-nothing-is-timed", screen="workbench", says=("executed",), keys=("3",)),
    Page(name="timed", screen="workbench", state=State.PASSED, says=("▲", "▼", "✔ passed"), script="all_timed",
         keys=("3", "j"), timed=True),
    Page(name="timed-beside-the-best", screen="workbench", says=("best #38",), script="all_timed", keys=("3",),
         timed=True, store="with_a_best"),
    Page(name="timed-and-flagged", screen="workbench", state=State.FLAGGED, says=("⚑ flagged",),
         script="timed_and_flagged", keys=("3",), timed=True),
    Page(name="wrong-while-timed", screen="workbench", state=State.FAILED, says=("✗ failed",),
         script="wrong_while_timed", keys=("3",), timed=True),
    Page(name="how-a-case-was-timed", screen="workbench", says=("eager", "compile"), script="two_baselines",
         keys=("3", "enter", "z"), timed=True),
    Page(name="IR", screen="workbench", says=("softmax_kernel", "40"), keys=("4",)),
    Page(name="PTX-zoomed", screen="workbench", says=("ptx", "ld.global.b32"), keys=("4", "z")),
    Page(name="no-IR-yet", screen="workbench", says=("IR",), script="stops_half_way", keys=("4",)),
    Page(name="history-tab", screen="workbench", says=("#4", "●"), store="four", marked=(1, 3), keys=("5",)),
    Page(name="an-old-run", screen="workbench", says=("#3", "✗ failed"), store="four", keys=("5", "j", "enter")),
    Page(name="log", screen="workbench", says=("engine line 19",), script="talkative", keys=("6", "G")),
    Page(name="unsaved-leaving", screen="workbench", says=("unsaved text", "save first", "discard"),
         keys=("e", "x", "ctrl+q")),
    Page(name="unsaved-switching", screen="workbench", says=("unsaved text", "save first", "discard"),
         keys=("e", "x", "escape", "shift+tab", "j", "enter"), sizes=SIZES[::-1]),
    Page(name="gone", screen="workbench", says=("softmax.py no longer exists",), gone=True),
    Page(name="overtaken", screen="workbench", says=("also changed on disk", "esc answer"), keys=("e", "x"),
         overtaken=True),
)  # fmt: skip
_OVER = (
    Page(name="plot", screen="bench", says=("eager",), script="two_baselines", keys=("B", "j"), timed=True),
    Page(name="plot-in-the-order-of-the-cases", screen="bench", says=("eager",), script="two_baselines",
         keys=("B", "x", "m", "m"), timed=True),
    Page(name="plot-of-nothing", screen="bench", says=("nothing",), keys=("B",)),
    Page(name="wrong-value", screen="case", says=("✗ wrong value", "mask of the last block", "[3, 127]"),
         script="explained", keys=("1", "enter")),
    Page(name="unwritten-output", screen="case", says=("✗ wrong value", "never written"), script="explained",
         keys=("1", "enter", "n")),
    Page(name="case-out-of-bounds", screen="case", says=("✗ runtime error", "16,256"), script="beyond_the_end",
         keys=("1", "enter")),
    Page(name="case-not-failed", screen="case", says=("did not fail",), keys=("1", "W")),
    Page(name="case-not-judged", screen="case", says=("not",), script="never_begins", keys=("1", "W")),
    Page(name="targets", screen="targets", says=("gfx950", "✗"), keys=("T", *"jjjjjj")),
    Page(name="targets-half-way", screen="targets", says=("sm_90", "gfx1100"), keys=("T",), ports_only=4),
    Page(name="targets-before-a-run", screen="targets", says=("as soon as",),
         script="never_begins", keys=("T",)),
    Page(name="differences", screen="differences", says=("#1", "#2"), then="all_pass", keys=("D",)),
    Page(name="no-differences", screen="differences", says=("no other run",), keys=("D",)),
    Page(name="inspect-passed", screen="inspect", says=("aten::softmax: pass",), script="inspected", keys=("I",)),
    Page(name="inspect-flagged", screen="inspect", says=("flagged",), script="inspected_and_flagged",
         keys=("I", "n")),
    Page(name="inspect-cancelled", screen="inspect", says=("cancelled",), script="stops_half_way",
         keys=("escape", "I")),
    Page(name="inspect-running", screen="inspect", says=("running",), script="stops_half_way", keys=("I",)),
    Page(name="inspect-a-claim", screen="inspect", says=("claim",), script="all_timed", timed=True,
         keys=("I", "c", *"1.9")),
    Page(name="models", screen="models", says=("nothing generated yet",), keys=("f10",)),
    Page(name="batch", screen="batch", says=("no batch yet",), keys=("f9",)),
    Page(name="doctor", screen="doctor", says=("NOT IN FORCE",), keys=("f12",)),
    Page(name="settings", screen="settings", says=("theme",), keys=("f2",)),
    Page(name="settings-writing", screen="settings", says=("Write these lines?", "+notify", "write them"),
         keys=("f2", "slash", *"notify", "enter", "enter", "w")),
    Page(name="settings-none-matches", screen="settings", says=("no setting has 'xyz'",),
         keys=("f2", "slash", *"xyz", "enter")),
    Page(name="help", screen="help", says=("run the saved file again",), keys=("f1",)),
    Page(name="help-searched", screen="help", says=("zoom",), keys=("f1", "slash", *"zoom")),
    Page(name="manual", screen="manual", says=("concepts", "keys"), keys=("f1", "m")),
    Page(name="manual-table", screen="manual", says=("aten::_softmax", "normalisation"),
         keys=("f1", "m", "G", *"k" * 14, "enter")),
    Page(name="palette", screen="palette", says=("run",), keys=("ctrl+p",)),
    Page(name="palette-searched", screen="palette", says=("zoom",), keys=("ctrl+p", *"zoom")),
)  # fmt: skip
_TUNE = (
    Page(name="nothing-to-turn", screen="tune", says=("no tunable parameters",), content=_NO_KNOBS, keys=("u",)),
    Page(name="values-are-typed", screen="tune", says=("num_warps",), keys=("u", "enter")),
    Page(name="grid-not-timed", screen="tune", says=("3/3 tried", "nothing was timed"), keys=(*_EIGHT, "r")),
    Page(name="grid-with-a-winner", screen="tune", says=("num_warps=8", "w writes it"), script="fast_with_eight_warps",
         keys=(*_EIGHT, "r"), timed=True),
    Page(name="grid-writing-the-winner", screen="tune", says=("write it",), script="fast_with_eight_warps",
         keys=(*_EIGHT, "r", "w"), timed=True),
)  # fmt: skip
_COMPARE = (
    Page(name="two-sources", screen="compare", says=("#1", "#2"), store="four", marked=(1, 2), keys=("c",)),
    Page(name="three-sources", screen="compare", says=("#1", "#3"), store="four", marked=(1, 2, 3), keys=("c",)),
    Page(name="four-sources", screen="compare", says=("#1", "#2"), store="four", marked=(1, 2, 3, 4), keys=("c",)),
    Page(name="compared-cases", screen="compare", says=("✗", "✔"), store="four", marked=(1, 3, 4), keys=("c", "2")),
    Page(name="compared-times", screen="compare", says=("▲",), store="two_timed", script="all_timed", timed=True,
         marked=(1, 2), keys=("c", "3")),
    Page(name="compared-resources", screen="compare", says=("registers",), store="four", marked=(1, 3, 4),
         keys=("c", "4")),
    Page(name="compared-findings", screen="compare", says=("handler",), store="four", marked=(1, 3, 4),
         keys=("c", "5")),
    Page(name="compared-costs", screen="compare", says=("tokens",), store="four", marked=(1, 3, 4), keys=("c", "6")),
    Page(name="the-best-and-the-current", screen="compare", says=("best",), store="two_timed", script="all_timed",
         timed=True, marked=(1, 2), keys=("c", "b")),
    Page(name="nothing-to-compare", screen="compare", says=("space",), store="empty", keys=("c",)),
)  # fmt: skip
_PAST = (
    Page(name="history", screen="history", says=("✔", "✗", "⚑", "keep"), store="full", opened=False, keys=("f8",)),
    Page(name="history-empty", screen="history", says=("no runs yet",), store="empty",
         opened=False, keys=("f8",)),
    Page(name="sessions", screen="history", says=("an evening [bold]",), store="full", opened=False, keys=("f8", "s")),
    Page(name="history-filtered", screen="history", says=("failed",), store="full", opened=False,
         keys=("f8", "slash", *"failed", "enter")),
    Page(name="history-none-matches", screen="history", says=("nothing",), store="full", opened=False,
         keys=("f8", "slash", *"nothing", "enter")),
    Page(name="history-a-note", screen="history", says=("leave empty to remove it",), store="full", opened=False,
         keys=("f8", "j", "j", "n")),
    Page(name="history-deleting", screen="history", says=("Permanently delete", "delete", "stay"), store="full",
         opened=False, keys=("f8", "d")),
    Page(name="history-restoring", screen="history", says=("is missing", "restore", "stay"), store="full", opened=False,
         keys=("f8", "enter")),
)  # fmt: skip
_OPERATORS = (
    Page(name="operators", screen="operators", says=("aten::softmax", "vllm::rms_norm"), opened=False),
    Page(name="operators-filtered", screen="operators", says=("vllm::rms_norm",), opened=False, keys=("slash", *"rms")),
    Page(
        name="operators-none-matches",
        screen="operators",
        says=("no operator matches",),
        opened=False,
        keys=("slash", *"xyz"),
    ),
    Page(name="operators-recent-files", screen="operators", says=("softmax_v3.py",), store="recent", opened=False),
    Page(name="operators-judged-before", screen="operators", says=("✔",), keys=("ctrl+o",)),
)
_TINY = (
    Page(name="too-small", screen="workbench", says=("too small",), sizes=TINY),
    Page(
        name="too-small-for-a-question",
        screen="workbench",
        says=("too small",),
        keys=("e", "x", "ctrl+q"),
        store="broken",
        sizes=TINY,
    ),
    Page(name="too-small-for-history", screen="history", says=("too small",), opened=False, keys=("f8",), sizes=TINY),
)
PAGES = (*_OPERATORS, *_RUNNING, *_ENDED, *_PANES, *_OVER, *_TUNE, *_COMPARE, *_PAST, *_TINY)
