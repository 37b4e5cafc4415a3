"""Replays tapes: the launches of a call, on content that the candidate never had, without any of its Python.

Runs as the `replayer` process.  Must not import code that loads a candidate; of the engine it imports `machine`,
`protocol`, `sandbox`, `model` and `errors`.  Only `device/` imports torch, `devices` and `clock`.
"""
