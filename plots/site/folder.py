"""The folder of a site. Only files that dlbench made there are replaced or removed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from dlbench import writing
from dlbench.errors import BadInput, os_reason

RUNS = "data/runs"  #: the records of the runs that the site shows
LIST = ".dlbench-site"  #: names the files that dlbench made
HEAD = "Files made by dlbench site; it replaces and removes these, and no others."


def require(folder: Path) -> None:
    """Raises BadInput unless the site can be written there."""
    try:
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"--out {folder}: is a file; allowed: a folder, new, empty or of a site")
        if folder.is_dir() and not (folder / LIST).is_file() and any(folder.iterdir()):
            raise BadInput(f"--out {folder}: holds files that 'dlbench site' did not make")
    except OSError as error:
        raise BadInput(f"--out {folder}: {os_reason(error)}") from error


def write(folder: Path, pages: Iterable[tuple[str, bytes]]) -> int:
    """Writes the files and removes those of an earlier site; their number. Raises BadInput, also
    for a record of before that is not among them: it may be the only one of its run."""
    earlier, made = _listed(folder), dict(pages)
    for path in made.keys() - earlier.keys():
        if (folder / path).exists():
            raise BadInput(f"--out {folder}: 'dlbench site' did not make its {path}")
    for path in sorted(earlier.keys() - made.keys()):
        if path.startswith(f"{RUNS}/") and (folder / path).exists():
            raise BadInput(f"--out {folder}: would remove the record {path}: "
                           f"name {folder / RUNS} as a RUN too, or delete that file")  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _list(folder, {**earlier, **made})  # first, so that an interrupted site is continued
        for path, content in made.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            writing.write(target, partial(_fill, content))
        for path in earlier.keys() - made.keys():
            (folder / path).unlink(missing_ok=True)
        _list(folder, made)
    except OSError as error:
        raise BadInput(f"--out {folder}: {os_reason(error)}") from error
    return len(made)


def _fill(content: bytes, out: BinaryIO) -> None:
    out.write(content)


def _listed(folder: Path) -> dict[str, None]:
    try:
        lines = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"--out {folder}: cannot read {LIST}") from error
    # A list from elsewhere must not name files outside.
    inside = (line for line in lines[1:] if not Path(line).is_absolute() and ".." not in line)
    return dict.fromkeys(inside)


def _list(folder: Path, paths: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in (HEAD, *paths))
    writing.write(folder / LIST, lambda out: out.write(text.encode()))
