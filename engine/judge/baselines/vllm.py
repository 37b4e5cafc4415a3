"""vLLM's own custom operators, where vLLM is installed, for the problems that are named after them.

vLLM takes many seconds to import; nothing here imports it before a case of such a problem is prepared.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from engine.devices.runtimes import runtime_of
from engine.judge.baselines import BaselineError, ReadyBaseline, ready

if TYPE_CHECKING:
    import torch

    from engine.model import Arguments, Case, ProblemDefinition

NAME = "vllm"

_OPERATORS = "vllm._custom_ops"


def available(problem: ProblemDefinition, device: torch.device) -> str:
    """Reason why it cannot be used: not a vLLM problem, no GPU, or vllm cannot be imported; "" otherwise."""
    if problem.library != "vllm":
        return f"{problem.name} is not an operator of vLLM"
    if runtime_of(device).EXECUTED_ON_CPU:
        return f"vLLM's operators need a GPU; this device is {device.type}"
    if importlib.util.find_spec("vllm") is None:
        return "vllm is not installed in this environment"
    return ""


def prepare(problem: ProblemDefinition, case: Case, arguments: Arguments, device: torch.device) -> ReadyBaseline:
    """The vLLM operator with the name of the problem's entry, which takes the same arguments."""
    label = f"{NAME} of {case.name}"
    try:
        operator = getattr(importlib.import_module(_OPERATORS), problem.entry)
    except Exception as error:  # the edge to vLLM: importing it loads extensions, which may fail in any way
        raise BaselineError(f"{label}: {_OPERATORS}.{problem.entry}: {type(error).__name__}: {error}") from error
    return ready(operator, problem, arguments, label=label, device=device)
