"""The recorded exchanges of `kgtui demo`: two fictitious models on three operators; the engine really verifies them."""
