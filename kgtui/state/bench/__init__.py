"""Benchmarks as rows, plots and sentences."""
