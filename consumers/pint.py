"""Pint's quantities: they hold the very array that they are given, where they know its type."""

import pint

DEFAULT = False

PROTOCOLS = {"convert": pint.get_application_registry().Quantity}
