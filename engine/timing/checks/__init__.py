"""Contradictions between a benchmark's numbers: findings from raw times.  Pure; imports no process code."""
