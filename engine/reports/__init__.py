"""A finished run as text, Markdown, JSON and tables.

Pure: starts no process and reads no clock; imports `model`, `verdict`, `protocol` and the tables of devices only.
"""
