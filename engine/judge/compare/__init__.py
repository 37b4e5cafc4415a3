"""Comparing outputs with their reference; imports no other room of the judge."""
