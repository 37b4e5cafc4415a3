"""Stored runs and sessions as rows, pages and filters."""
