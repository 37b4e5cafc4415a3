"""The stage of a run that calls a passing candidate again under other conditions.

A probed worker may keep wrong values, so probing comes after the benchmark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from engine.draws import Draws
from engine.model import Stage
from engine.model.layers import Coverage, LayerReport
from engine.probes import Probe, is_apart, is_on_demand, name_of, observations_of, probes
from engine.probes.lab.case_session import Lab
from engine.run.event_stream import EventEmitter

PLACE_BESIDE = 1  # in the judge, of the probes that run beside the others


class ProbingStage:
    """Runs every probe, or those `chosen`, on one candidate; `run` once.

    Raises:
        EngineError: a file in the folder of probes defines no probe.
    """

    def __init__(self, *, lab: Lab, emitter: EventEmitter, chosen: Sequence[Probe] | None = None) -> None:
        self._lab = lab
        self._emitter = emitter
        self._all = tuple(probe for probe in probes() if lab.plan.sanitizes or not is_on_demand(probe))
        self._probes = self._all if chosen is None else tuple(chosen)

    async def run(self) -> None:
        """Emit the observations of the probes; the probed candidate has no worker afterwards."""
        began = self._emitter.begin(Stage.PROBE)
        beside = [probe for probe in self._probes if is_apart(probe) and self._lab.process_pool.interpreted]
        asked = [asyncio.create_task(self._ask_apart(probe)) for probe in beside]
        try:
            for probe in self._probes:
                if probe not in beside:
                    await self._ask(probe, self._lab)
            await asyncio.gather(*asked)
        finally:
            for asking in asked:
                asking.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        for probe in self._all:
            if name_of(probe) not in map(name_of, self._probes):
                why = "probe not selected"
                self._emitter.report(
                    LayerReport(layer=probe.LAYER, by=name_of(probe), coverage=Coverage.NOT_ASKED, why=why)
                )
        if self._probes:
            self._lab.session.begin_clear()  # awaited at the end of the run, so that this stage ends immediately
        self._emitter.end(Stage.PROBE, began)

    async def _ask_apart(self, probe: Probe) -> None:
        session = self._lab.session.another()
        try:
            await self._ask(probe, replace(self._lab, session=session, place=PLACE_BESIDE))
        finally:
            self._lab.session.end_other(session)

    async def _ask(self, probe: Probe, lab: Lab) -> None:
        """Report the observations of one probe; those made while an engine process failed or was killed are dropped."""
        lab = replace(lab, draws=Draws(lab.plan.draw_seed, name_of(probe)))
        before = _failures(lab), lab.session.kills
        observed = [observation async for observation in observations_of(probe, lab)]
        if (_failures(lab), lab.session.kills) != before:
            await lab.renew()
            failures = _failures(lab)
            observed = [observation async for observation in observations_of(probe, lab)]
            if _failures(lab) != failures:
                reports = [one for one in observed if isinstance(one, LayerReport)]
                why = next((report.why for report in reports if report.why), "a process of the engine failed")
                report = LayerReport(layer=probe.LAYER, by=name_of(probe), coverage=Coverage.ENGINE_FAILED, why=why)
                observed = [report]
        for observation in observed:
            if isinstance(observation, LayerReport):
                self._emitter.report(observation)
            else:
                self._emitter.find(observation)


def _failures(lab: Lab) -> int:
    """Number of engine failures so far in commands of probes."""
    return lab.process_pool.failures + lab.session.failures
