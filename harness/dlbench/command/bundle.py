"""`dlbench bundle OUT`: an archive that installs dlbench and libraries without a network."""

from __future__ import annotations

import io
import re
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path
from typing import BinaryIO

import click

from dlbench import _core, writing
from dlbench.errors import BadInput, last_line
from dlbench.running import options
from dlbench.text import output
from dlbench.text.layout import count

TIMEOUT_S = 3600.0
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
#: By older name of a platform tag, the minor version of the C library that it needs.
OLDER = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}
INSTALL = """\
#!/bin/sh
# Installs dlbench and libraries from this folder, without a network.
# usage: ./install-here [PYTHON [DIR]]   default: python{version}, and the environment ./venv
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=${{1:-python{version}}}
folder=${{2:-$here/venv}}
found=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ "$found" != "{version}" ]; then
  echo "install-here: $python is Python $found; this bundle is for Python {version}" >&2
  exit 2
fi
if [ -e "$folder" ]; then
  echo "install-here: $folder exists; name another folder: ./install-here PYTHON DIR" >&2
  exit 2
fi
"$python" -m venv "$folder"
"$folder/bin/python" -m pip install --quiet --no-index --find-links "$here/wheels" \\
  -r "$here/requirements.txt"
echo "$folder/bin/dlbench"
"""


@click.command("bundle")
@click.argument("out", metavar="OUT")
@click.argument("libraries", nargs=-1, metavar="[REQUIREMENT]...")
@click.option("--python", "version", metavar="X.Y", default=HERE,
              help="Python version of the target machine. Default: this one.")  # fmt: skip
@click.option("--platform", "platforms", multiple=True, metavar="TAG",
              help="Platform of the target machine in pip's form, such as manylinux_2_28_x86_64; "
                   "may be repeated. Default: this one.")  # fmt: skip
@click.option("--wheel", metavar="FILE", help="Wheel of dlbench. Default: found by pip.")
@click.option(
    "--find-links",
    multiple=True,
    metavar="DIR",
    help="Look for wheels in DIR too; may be repeated.",
)
@options.FORCE
def bundle(
    out: str,
    libraries: tuple[str, ...],
    version: str,
    platforms: tuple[str, ...],
    wheel: str | None,
    find_links: tuple[str, ...],
    force: bool,
) -> None:
    """Write an archive that installs dlbench and libraries without a network.

    OUT is a file that ends in .tar. REQUIREMENTs are libraries as pip names them: numpy,
    torch==2.13.0. The archive holds the wheels that pip downloads, and `install-here`, which makes
    an environment of them.
    """
    path = Path(out)
    if path.suffix != ".tar":
        raise BadInput(f"{out}: allowed: a name that ends in .tar")
    writing.require_free(path, "OUT", force=force)
    _require_version(version)
    for word in libraries:
        if word.startswith("-"):
            raise BadInput(f"{word}: allowed: a library as pip names it, such as torch==2.13.0")
    required = f"dlbench=={_version_of(Path(wheel)) if wheel else _core.version}"
    own = str(Path(wheel).absolute()) if wheel else required
    with tempfile.TemporaryDirectory() as folder:
        wheels = Path(folder) / "wheels"
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(wheels)]
        words += ["--only-binary", ":all:", "--python-version", version]
        words += [word for place in find_links for word in ("--find-links", place)]
        tags = [tag for each in platforms for tag in _accepted(each)] if platforms else _here()
        for tag in dict.fromkeys(tags):
            words += ["--platform", tag]
        if version != HERE:
            # pip evaluates markers for the Python that runs it, whatever --python-version is.
            output.print_error(
                f"dlbench: pip evaluates markers such as python_version for Python {HERE}: wheels "
                f"that only Python {version} needs may be missing; run dlbench bundle under "
                f"Python {version}"
            )
        _download([*words, own, *libraries])
        found = sorted(wheels.iterdir())
        requirements = "".join(f"{line}\n" for line in (required, *libraries))
        name = path.stem

        def fill(to: BinaryIO) -> None:
            with tarfile.open(fileobj=to, mode="w") as archive:
                for file in found:
                    archive.add(file, f"{name}/wheels/{file.name}")
                _add(archive, f"{name}/requirements.txt", requirements, 0o644)
                _add(archive, f"{name}/install-here", INSTALL.format(version=version), 0o755)

        writing.write_requested(path, fill)
    output.print_line(f"{path}: {count(len(found), 'wheel')}; on the target: tar xf {path.name} && "
               f"{name}/install-here")  # fmt: skip


def _version_of(wheel: Path) -> str:
    """The version of dlbench in the name of its wheel."""
    if not wheel.is_file():
        raise BadInput(f"--wheel {wheel}: no such file")
    parts = wheel.name.removesuffix(".whl").split("-")
    if wheel.suffix != ".whl" or parts[0] != "dlbench" or len(parts) not in (5, 6):
        raise BadInput(f"--wheel {wheel}: allowed: a wheel of dlbench, dlbench-VERSION-....whl")
    return parts[1]


def _require_version(version: str) -> None:
    parts = version.split(".")
    if len(parts) != 2 or not all(part.isdigit() for part in parts):
        raise BadInput(f"--python {version!r}: allowed: a version such as 3.12")
    if (int(parts[0]), int(parts[1])) < (3, 10):
        raise BadInput(f"--python {version}: dlbench needs Python 3.10 or later")


def _here() -> list[str]:
    """The tags of this platform that wheels commonly have, the newest first."""
    system, _, architecture = sysconfig.get_platform().partition("-")
    if system != "linux":
        return [sysconfig.get_platform().replace("-", "_").replace(".", "_")]
    return [*_manylinux(_glibc(), architecture), f"linux_{architecture}"]


def _accepted(tag: str) -> list[str]:
    """The tags of wheels that run on a platform of this tag. pip uses only the tags that it is
    passed, so each older manylinux tag is included."""
    name, _, rest = tag.partition("_")
    if name in OLDER and rest:
        return list(dict.fromkeys([tag, *_manylinux(OLDER[name], rest)]))
    found = re.fullmatch(r"manylinux_2_(\d+)_(\w+)", tag)
    if found is None:
        return [tag]
    return list(dict.fromkeys([tag, *_manylinux(int(found[1]), found[2])]))


def _manylinux(newest: int, architecture: str) -> list[str]:
    """The tags from glibc 2.`newest` down to the oldest that pip has, with their older names."""
    oldest = 5 if architecture in ("x86_64", "i686") else 17
    tags = [f"manylinux_2_{minor}_{architecture}" for minor in range(newest, oldest - 1, -1)]
    older = [name for name, minor in OLDER.items() if oldest <= minor <= newest]
    return [*tags, *(f"{name}_{architecture}" for name in older)]


def _glibc() -> int:
    """The minor version of this system's C library."""
    import platform

    parts = platform.libc_ver()[1].split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 17


def _download(words: list[str]) -> None:
    ended = _core.run_program(words, TIMEOUT_S)
    if ended.status is None:
        raise BadInput(f"pip did not download the wheels within {TIMEOUT_S:g} s")
    if ended.status:
        errors = [line for line in ended.err.splitlines() if line.startswith("ERROR")]
        reason = errors[0].removeprefix("ERROR: ") if errors else last_line(ended.err)
        raise BadInput(f"pip cannot download the wheels: {reason}")


def _add(archive: tarfile.TarFile, name: str, text: str, mode: int) -> None:
    data = text.encode()
    about = tarfile.TarInfo(name)
    about.size, about.mode = len(data), mode
    archive.addfile(about, io.BytesIO(data))
