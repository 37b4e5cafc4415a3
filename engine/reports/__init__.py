"""A finished run as text, Markdown, JSON and tables.  Pure: imports `model` and the device names only."""
