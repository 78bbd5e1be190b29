"""This machine, its devices and their drivers."""
