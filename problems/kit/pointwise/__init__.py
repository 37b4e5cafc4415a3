"""What elementwise operators share: cases, inputs, references and costs.  Imports no torch when it is imported."""
