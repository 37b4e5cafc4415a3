"""Replays tapes: the launches of a call, on content that the candidate never had, without any of its Python.

Runs as the `replayer` process.  Must not import whatever loads a candidate; of the engine it knows `machine`,
`protocol`, `sandbox`, `model` and `errors`.  Only `device/` knows torch, and `devices`.
"""
