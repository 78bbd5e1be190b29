"""Analyses of several cells of a document: case sweeps, phases, growth with size."""
