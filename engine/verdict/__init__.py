"""Decisions: pure functions from recorded facts to findings, outcomes and the verdict.

Imports `model` and `protocol` only: no process, no clock, no file.
"""
