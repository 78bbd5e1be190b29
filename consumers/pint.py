"""Pint's quantities: they hold the array itself if Pint knows its type."""

import pint

DEFAULT = False

PROTOCOLS = {"convert": pint.get_application_registry().Quantity}
