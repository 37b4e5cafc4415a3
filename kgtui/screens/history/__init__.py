"""The History screen: stored runs and sessions."""
