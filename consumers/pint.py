"""Pint's quantities: they hold the given array itself, where they know its type."""

import pint

DEFAULT = False

PROTOCOLS = {"convert": pint.get_application_registry().Quantity}
