"""Coding agents: a server for the Model Context Protocol over one warm engine.

An agent sends a source and gets the engine's report.  Nothing else that it sends affects a verdict.
"""
