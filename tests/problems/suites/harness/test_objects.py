"""Dataclasses and named tuples as records that travel, and as instances of their own classes again."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import pytest
import torch

from engine.model import ObjectKind, PlainObject
from engine.reference.harness import UnavailableError
from problems.suites.harness.objects import TaskObjects
from problems.suites.harness.values import copied, leaves


class Range(NamedTuple):
    low: float
    high: float = 1.0


@dataclass(frozen=True, slots=True)
class Weights:
    scale: torch.Tensor
    limits: Range


@dataclass
class Config:
    weights: list[Weights]
    names: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.weights


def test_objects_travel_and_become_instances_again() -> None:
    objects = TaskObjects()
    given = (Config([Weights(torch.ones(2), Range(-1.0))], {"n": 3}), torch.zeros(1))
    record = copied(objects.plain(given))
    config, _ = objects.restored(record)

    assert isinstance(record[0], PlainObject)
    assert (record[0].name, record[0].kind, list(record[0].attributes)) == (
        "Config",
        ObjectKind.DATACLASS,
        ["weights", "names"],
    )
    assert [leaf.tolist() for leaf in leaves(record)] == [[1.0, 1.0], [0.0]]
    assert isinstance(config, Config) and isinstance(config.weights[0], Weights)
    assert (config.weights[0].limits, config.names) == (Range(-1.0, 1.0), {"n": 3})
    assert type(config.weights[0].limits) is Range


def test_restored_tensors_are_those_of_the_record() -> None:
    objects = TaskObjects()
    record = copied(objects.plain(Weights(torch.ones(2), Range(0.0))))
    objects.restored(record).scale.zero_()

    assert record.attributes["scale"].tolist() == [0.0, 0.0]


@dataclass
class WithMethod:
    n: int

    def double(self) -> int:
        return 2 * self.n


@dataclass
class WithConstant:
    n: int
    LIMIT: ClassVar[int] = 3


class Longer(Range):
    @property
    def length(self) -> float:
        return self.high - self.low


@dataclass
class Open:
    n: int


def with_more() -> Open:
    made = Open(1)
    made.m = 2  # type: ignore[attr-defined]  # the defect under test
    return made


@pytest.mark.parametrize(
    ("value", "more"),
    [(WithMethod(1), "double"), (WithConstant(1), "LIMIT"), (Longer(0.0), "length"), (with_more(), "m")],
)
def test_class_with_more_than_fields_refused(value: object, more: str) -> None:
    with pytest.raises(UnavailableError, match=rf"cannot be moved to a candidate's process: it has {more} besides its"):
        TaskObjects().plain((value,))


def test_two_classes_of_one_form_refused() -> None:
    other: Any = namedtuple("Range", "low high")  # type: ignore[name-match]

    with pytest.raises(UnavailableError, match="two classes Range with the same attributes"):
        TaskObjects().plain((Range(0.0), other(0.0, 1.0)))


def test_class_that_was_never_drawn_refused() -> None:
    record = PlainObject(name="Range", kind=ObjectKind.NAMED_TUPLE, attributes={"low": 0.0})

    with pytest.raises(UnavailableError, match="has drawn no argument of class Range"):
        TaskObjects().restored((record,))
