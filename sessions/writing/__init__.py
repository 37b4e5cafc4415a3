"""Statements that record runs and benchmarks, delete them, or copy them to another store; never reads for a caller."""
