"""The Doctor screen: hardware, versions and sandboxing."""
