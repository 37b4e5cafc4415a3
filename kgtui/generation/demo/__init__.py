"""The recorded exchanges of `kgtui demo`: two made-up models on three operators; the engine verifies them for real."""
