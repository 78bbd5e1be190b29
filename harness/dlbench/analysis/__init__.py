"""Questions to a document: cases, phases, growth with size."""
