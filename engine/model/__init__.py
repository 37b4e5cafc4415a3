"""The records that every room of the engine speaks in.

Frozen and keyword-only, checked when they are made.  Imports nothing else of the engine, and no torch.
"""

from typing import TYPE_CHECKING

from engine.model.candidate import Candidate
from engine.model.case import Case, DType, Parameter, Tier
from engine.model.category import Category
from engine.model.definition import ProblemDefinition
from engine.model.diagnosis import Diagnosis, DiagnosisKind, Explanation, InputElement
from engine.model.kernels import Artefact, CompiledKernel, Launch, specialisation
from engine.model.plan import BenchmarkPlan, CacheState, Limits, Plan, Policy
from engine.model.problem import Cost, Problem, ProblemId, Tolerance
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

if TYPE_CHECKING:
    from engine.model.definition import Arguments, Outputs, Value

__all__ = [
    "Arguments",
    "Artefact",
    "BenchmarkPlan",
    "CacheState",
    "Candidate",
    "Case",
    "CaseResult",
    "Category",
    "CompiledKernel",
    "Cost",
    "DType",
    "Diagnosis",
    "DiagnosisKind",
    "Explanation",
    "Finding",
    "InputElement",
    "Launch",
    "Limits",
    "Location",
    "OutOfBounds",
    "Outcome",
    "OutputReport",
    "Outputs",
    "Parameter",
    "Plan",
    "Policy",
    "Problem",
    "ProblemDefinition",
    "ProblemId",
    "Severity",
    "Stage",
    "Stream",
    "Tier",
    "Tolerance",
    "Value",
    "Verdict",
    "WrongElement",
    "specialisation",
]
