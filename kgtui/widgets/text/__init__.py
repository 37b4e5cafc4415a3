"""Widgets that draw and edit text and code."""
