"""What a document shows beyond single cells: case sweeps, phases, growth with size."""
