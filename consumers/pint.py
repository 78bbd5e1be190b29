"""Pint's quantities, which contain the array itself if Pint supports its type."""

import pint

DEFAULT = False

PROTOCOLS = {"convert": pint.get_application_registry().Quantity}
