"""The rights of the account of the commands, where the files of the daemon have those of the daemon.

Routes of files act with the privileges of the daemon, which may be root. A framework expects that files refuse what
commands are refused, so adapters ask the account first.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .._errors import BoxError

Right = Literal["r", "w"]

# What does not exist needs the rights for the nearest directory above it.
_MAY = """want=$1 path=$2
if [ -e "$path" ]; then [ "-$want" "$path" ]; exit; fi
while [ ! -e "$path" ]; do
  case $path in */*) path=${path%/*} ;; *) path=. ;; esac
  path=${path:-/}
done
[ ! -d "$path" ] || { [ -x "$path" ] && { [ "$want" = r ] || [ -w "$path" ]; }; }"""


def may(want: Right, path: str) -> dict[str, Any]:
    """The arguments of `commands.run` for a command that fails if the account may not read or write the path."""
    return {"command": "sh", "shell": "none", "args": ["-c", _MAY, "sh", want, path], "stdin": "null"}


def denied(path: str) -> OSError:
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def os_error(error: BoxError, path: str) -> OSError | None:
    """The error that Python itself raises, such as FileNotFoundError; None if the failure is not one of a file."""
    number = getattr(errno, error.data.get("errno_name") or "", None)
    return None if number is None else OSError(number, os.strerror(number), path)
