"""Decisions: pure functions from recorded facts to findings, outcomes and the verdict.

Imports `model`, `protocol` and `errors` only: no process, no clock, no file.
"""
