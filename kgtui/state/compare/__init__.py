"""Runs side by side: sources aligned, cases, times and facts compared."""
