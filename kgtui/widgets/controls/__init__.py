"""Bars, questions, input lines and other small controls."""
