"""The Workbench screen: one kernel file and its newest run."""
