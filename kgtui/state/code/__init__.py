"""Compiled code as text: its forms, its source lines, and differences between two runs."""
