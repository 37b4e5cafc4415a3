"""Records that every room of the engine uses.

Frozen and keyword-only, checked when they are made.  Imports nothing else of the engine, and no torch.
"""

from typing import TYPE_CHECKING

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
from engine.model.problems.case import Case, DType, Parameter, Tier
from engine.model.problems.category import Category
from engine.model.problems.comparison import CalledCase, OutputMatch
from engine.model.problems.definition import ProblemDefinition
from engine.model.problems.form import CandidateForm
from engine.model.problems.problem import Cost, Problem, ProblemId, Tolerance
from engine.model.problems.semantics import Determinism, FrameworkWork, Rearrangement
from engine.model.problems.suite_origin import Precision, SuiteOrigin
from engine.model.problems.values import ObjectKind, PlainObject, PointerArray, items_of, map_items
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
    from engine.model.problems.values import Arguments, Outputs, Returned, Value

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
