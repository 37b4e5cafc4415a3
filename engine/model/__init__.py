"""Records that every room of the engine uses.

Frozen and keyword-only, checked when they are made.  Imports nothing else of the engine, and no torch.

Records of runs are imported when a name of theirs is first used: a list of operators needs none of them, and they are
most of the time that this package takes to import.
"""

import importlib
from typing import TYPE_CHECKING

from engine.model.problems.case import Case, DType, Parameter, Tier
from engine.model.problems.category import Category
from engine.model.problems.comparison import CalledCase, OutputMatch
from engine.model.problems.definition import ProblemDefinition
from engine.model.problems.form import CandidateForm
from engine.model.problems.problem import Cost, Problem, ProblemId, Tolerance
from engine.model.problems.semantics import Determinism, FrameworkWork, Rearrangement, ReturnedMemory
from engine.model.problems.suite_origin import Precision, SuiteOrigin
from engine.model.problems.values import ObjectKind, PlainObject, PointerArray, items_of, map_items

if TYPE_CHECKING:
    from engine.model.candidate import Candidate
    from engine.model.diagnosis import Diagnosis, DiagnosisKind, Explanation, InputElement
    from engine.model.kernels import (
        AccessTraffic,
        Artefact,
        CompiledKernel,
        Launch,
        Traffic,
        TrafficKind,
        specialisation,
    )
    from engine.model.plan import BenchmarkPlan, CacheState, Limits, Plan, Policy
    from engine.model.problems.values import Arguments, Outputs, Returned, Value
    from engine.model.results import (
        CaseResult,
        Finding,
        Location,
        Outcome,
        OutOfBounds,
        OutputReport,
        Severity,
        Stage,
        Stream,
        Verdict,
        WrongElement,
    )

__all__ = [
    "AccessTraffic",
    "Arguments",
    "Artefact",
    "BenchmarkPlan",
    "CacheState",
    "CalledCase",
    "Candidate",
    "CandidateForm",
    "Case",
    "CaseResult",
    "Category",
    "CompiledKernel",
    "Cost",
    "DType",
    "Determinism",
    "Diagnosis",
    "DiagnosisKind",
    "Explanation",
    "Finding",
    "FrameworkWork",
    "InputElement",
    "Launch",
    "Limits",
    "Location",
    "ObjectKind",
    "OutOfBounds",
    "Outcome",
    "OutputMatch",
    "OutputReport",
    "Outputs",
    "Parameter",
    "PlainObject",
    "Plan",
    "PointerArray",
    "Policy",
    "Precision",
    "Problem",
    "ProblemDefinition",
    "ProblemId",
    "Rearrangement",
    "Returned",
    "ReturnedMemory",
    "Severity",
    "Stage",
    "Stream",
    "SuiteOrigin",
    "Tier",
    "Tolerance",
    "Traffic",
    "TrafficKind",
    "Value",
    "Verdict",
    "WrongElement",
    "items_of",
    "map_items",
    "specialisation",
]

LATE = {
    "candidate": ("Candidate",),
    "diagnosis": ("Diagnosis", "DiagnosisKind", "Explanation", "InputElement"),
    "kernels": ("AccessTraffic", "Artefact", "CompiledKernel", "Launch", "Traffic", "TrafficKind", "specialisation"),
    "plan": ("BenchmarkPlan", "CacheState", "Limits", "Plan", "Policy"),
    "results": (
        *("CaseResult", "Finding", "Location", "Outcome", "OutOfBounds", "OutputReport", "Severity", "Stage", "Stream"),
        *("Verdict", "WrongElement"),
    ),
}
"""The modules that are imported on first use, with their names in this package."""


def import_late() -> None:
    """Import the modules in LATE; a candidate's child must not import our modules after its start."""
    for name in (name for names in LATE.values() for name in names):
        _late(name)


def _late(name: str) -> object:
    """The value of a name of LATE, which this package has from now on."""
    module = next((module for module, names in LATE.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # for mypy every name would exist
    __getattr__ = _late
