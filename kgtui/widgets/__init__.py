"""Widgets that draw records; they change no state but their own, and call no engine function."""
