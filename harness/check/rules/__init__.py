"""The rules, one file for each family. Importing them fills RULES in the order of the output."""

from importlib import import_module

from dlbench.check.rule import RULES

__all__ = ["RULES"]

for _family in (
    *(
        "export_call",
        "export_stream",
        "export_order",
        "export_version",
        "export_copy",
        "export_struct",
        "export_layout",
    ),
    *("export_lifetime", "import_version", "import_layout", "import_dtype", "import_call"),
    *(
        "import_copy",
        "import_lifetime",
        "exchange_api",
        "buffers",
        "import_buffer",
        "array_interface",
        "import_interface",
    ),
    *("array_method", "cuda_interface", "dispatch"),
):
    import_module(f"{__name__}.{_family}")
