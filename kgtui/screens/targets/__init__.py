"""The Targets screen: a run compiled for other targets."""
