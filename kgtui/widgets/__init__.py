"""Widgets that draw records; they change only their own state, and call no engine function."""
