"""The virtual environment of a project under test.

Before each command Pulumi lists all packages with pip. That takes longer than the rest of its start
and a fifth of the time of all engine tests, so the list is prepared where Python is warm. The
newcomer's test and the benches use a real environment.
"""

import json
import shlex
import sysconfig
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from sandbox.paths import CHECKOUT
from tests import warm_python


def lay_environment(folder: Path, *, commands: bool = False) -> None:
    """Lay out a virtual environment like the checkout's.

    Programs, dynamic providers and the plugin's stand-in start as tests/warm_python says, and then
    `pip list` has a ready answer. With `commands` it also has the checkout's commands, and is as
    ready as that for `make`.
    """
    environment = CHECKOUT / ".venv"
    (folder / "bin").mkdir(parents=True)
    names = ["lib", "pyvenv.cfg"]
    if commands:
        found = (each for each in (environment / "bin").iterdir() if each.is_file())
        names += [f"bin/{each.name}" for each in found if not each.name.startswith("python")]
        names += [each.name for each in environment.glob(".ready*")]
    for name in names:
        (folder / name).symlink_to(environment / name)
    listed = folder / "packages.json"
    listed.write_text(_packages())
    real = shlex.quote(str(environment / "bin" / "python"))
    python = folder / "bin" / "python"
    python.write_text(
        f'#!/bin/sh\n{_quick(real, listed) if warm_python.available() else ""}exec {real} "$@"\n'
    )
    python.chmod(0o755)
    (folder / "bin" / "python3").symlink_to("python")


def _quick(real: str, listed: Path) -> str:
    client, address = shlex.quote(str(warm_python.CLIENT)), shlex.quote(warm_python.address())
    warm = ("*/pulumi-language-python-exec*", "*pulumi.dynamic*", "*sandbox.kubernetes_plugin*")
    fork = f'exec {real} -I -S {client} {address} "$@"'
    packages = f'if [ "$1 $2 $3" = "-m pip list" ]; then exec cat {shlex.quote(str(listed))}; fi'
    return f'{packages}\ncase "$1 $2 $3" in {"|".join(warm)}) {fork} ;; esac\n'


@cache
def _packages() -> str:
    listed = [
        {
            "name": each.name,
            "version": each.version,
            "location": str(each.locate_file("")),
            "installer": "pip",
        }
        for each in distributions(path=[sysconfig.get_path("purelib")])
    ]
    return json.dumps(listed)
