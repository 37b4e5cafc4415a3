"""Parts that elementwise operators share: cases, inputs, references and costs.  Imports no torch by itself."""
