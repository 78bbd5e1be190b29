"""Pictures of a results document: `figures` draws them with matplotlib, `report` writes a page."""

import importlib.util


def lacks(what: str, package: str) -> str:
    """The line to type if the package is not installed; otherwise empty."""
    if importlib.util.find_spec(package) is not None:
        return ""
    return f"{what} needs {package}: pip install 'dlbench[report]'"
