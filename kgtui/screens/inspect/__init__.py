"""The Inspect screen: all evidence on one kernel."""
