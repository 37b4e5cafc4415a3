"""torch.compile of what a PyTorch user would write, for exactly the shapes of one case.

The compiler falls back to eager execution silently in several cases: on an error, on Python that it cannot trace, after
too many variants of one function.  A time of such a call would be shown under a false name, so each of them is either
noted or refused here.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING

from engine.judge.baselines import RUNS_APART, BaselineError, ReadyBaseline, call_once

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, ProblemDefinition, Returned

NAME = "compile"

_MOST_SETTLING_CALLS = 4


def available(problem: ProblemDefinition, device: torch.device) -> str:
    """The reason why it cannot be used: no compiler for its code, or a problem of a foreign suite; "" otherwise."""
    if problem.suite is not None:
        return RUNS_APART
    if device.type == "cpu":
        found = any(map(shutil.which, ("c++", "g++", "clang++")))
        return "" if found else "torch.compile needs a C++ compiler on the CPU; none is on the PATH"
    return "" if importlib.util.find_spec("triton") else "torch.compile needs Triton, which is not installed"


def prepare(problem: ProblemDefinition, case: Case, arguments: Arguments, device: torch.device) -> ReadyBaseline:
    """The problem's `eager` in the compiler's default mode."""
    return compiled(problem, arguments, label=f"{NAME} of {case.name}", device=device, mode="default")


def compiled(
    problem: ProblemDefinition, arguments: Arguments, *, label: str, device: torch.device, mode: str
) -> ReadyBaseline:
    """The problem's `eager` compiled as one graph, or in pieces with a note if that is impossible.

    Raises:
        BaselineError: it cannot be compiled, or nothing of it was, or it is compiled again on every call.
    """
    import torch
    import torch._dynamo
    import torch._inductor.config
    from torch._dynamo.exc import Unsupported, UserError

    # One thread: further ones would be processes that are not limited, confined or ended with this one.
    with torch._dynamo.config.patch(suppress_errors=False), torch._inductor.config.patch(compile_threads=1):
        try:
            whole = torch.compile(_with_own_code(problem.eager), fullgraph=True, dynamic=False, mode=mode)
            _settle(whole, problem, arguments, label=label, device=device)
            return ReadyBaseline(call=whole)
        except BaselineError as error:
            if not isinstance(error.__cause__, Unsupported | UserError):
                raise
            reason = str(error.__cause__).strip().partition("\n")[0]
        pieces = torch.compile(_with_own_code(problem.eager), dynamic=False, mode=mode)
        graphs = _settle(pieces, problem, arguments, label=label, device=device)
        return ReadyBaseline(call=pieces, notes=(f"compiled in {graphs} pieces, not as one graph: {reason}",))


def _settle(
    call: Callable[..., Returned], problem: ProblemDefinition, arguments: Arguments, *, label: str, device: torch.device
) -> int:
    """Call until a call compiles nothing; returns the number of graphs compiled before.

    Raises:
        BaselineError: a call failed, nothing was compiled, or every call compiled something.
    """
    import torch

    before = _graphs_compiled()
    for _ in range(_MOST_SETTLING_CALLS):
        known = _graphs_compiled()
        call_once(call, problem, arguments, label=label, device=device)
        if _graphs_compiled() == known:
            break
    else:
        raise BaselineError(f"{label}: each of {_MOST_SETTLING_CALLS} equal calls was recompiled; it cannot be timed")
    if known == before:
        raise BaselineError(f"{label}: torch.compile compiled nothing and ran it eagerly; time `eager` instead")
    with torch.compiler.set_stance("fail_on_recompile"):  # the count misses a frame compiled again without a graph
        call_once(call, problem, arguments, label=label, device=device)
    return known - before


def _graphs_compiled() -> int:
    """Number of graphs that this process has compiled so far."""
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"]


def _with_own_code(function: Callable[..., Returned]) -> Callable[..., Returned]:
    """The same function on a separate code object.

    The compiler keeps compiled variants with the code object, at most eight, and runs the ninth eagerly.  Resetting the
    compiler instead would drop what other ready baselines still use.
    """
    plain = function if isinstance(function, FunctionType) else lambda *arguments: function(*arguments)
    assert isinstance(plain, FunctionType)
    copy = FunctionType(
        plain.__code__.replace(), plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__
    )
    copy.__kwdefaults__ = plain.__kwdefaults__
    return copy
