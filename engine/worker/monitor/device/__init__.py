"""Records of a candidate on a device: kernels that ran, and stores outside of its tensors."""
