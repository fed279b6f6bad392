"""The rights of the account of the commands, where the files of the daemon have those of the daemon.

Routes of files act with the privileges of the daemon, which may be root. A framework expects that files refuse what
commands are refused, so adapters ask the account first.
"""

from __future__ import annotations

import errno
import os
import posixpath
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, unquote_to_bytes

if TYPE_CHECKING:
    from .._errors import BoxError

Right = Literal["r", "w"]

# What does not exist needs the rights for the nearest directory above it. A link that leads nowhere may lead into a
# directory that is closed to the account, so its target counts. A third argument has the path with its bytes escaped;
# the dots keep newlines at an end. In /proc/self the command finds itself and the daemon would find itself, so that the
# rights of the command say nothing there.
_MAY = """want=$1 path=$2 links=0
[ $# = 2 ] || { path=$(printf '%b.' "$3") path=${path%.}; }
if [ -e "$path" ]; then
  [ "-$want" "$path" ] || exit
else
  while [ ! -e "$path" ]; do
    if [ -L "$path" ] && [ $links -lt 40 ]; then
      links=$((links + 1)) target=$(readlink -- "$path" && echo .) || exit
      target=${target%??}
      case $target in /*) path= ;; esac
    else
      target=
    fi
    case $path in */*) path=${path%/*} ;; ?*) path=. ;; esac
    path=${path:-/}${target:+/$target}
  done
  [ ! -d "$path" ] || { [ -x "$path" ] && { [ "$want" = r ] || [ -w "$path" ]; }; } || exit
fi
[ ! -L "$path" ] || [ "$(readlink -f -- "$path")" = "$(readlink -f -- "$path")" ] || exit
[ -d "$path" ] || case $path in */*) path=${path%/*}/ ;; *) path=. ;; esac
! CDPATH= cd -P -- "$path" 2>/dev/null || case $PWD/ in /proc/$$/*) exit 1 ;; esac"""


def may(want: Right, path: str) -> dict[str, Any]:
    """The arguments of `commands.run` for a command that fails if the account may not read or write the path."""
    args = ["-c", _MAY, "sh", want, path]
    named = _bytes_in_url(path)
    if named is not None:
        args.append("".join(f"\\0{byte:03o}" for byte in named))
    return {"command": "sh", "shell": "none", "args": args, "stdin": "null"}


def above(path: str) -> str:
    """The directory in which the entry of the path stands, and which changes when the entry is deleted."""
    named = _bytes_in_url(path)
    if named is not None:
        return f"file://{quote(posixpath.dirname(named.rstrip(b'/')) or b'/')}"
    return posixpath.dirname(path.rstrip("/")) or ("/" if path.startswith("/") else ".")


def _bytes_in_url(path: str) -> bytes | None:
    """The path that the daemon finds in a file URL, which is how it names a file that is not UTF-8; else None."""
    return unquote_to_bytes(path[len("file://") :]) if path.startswith("file:///") else None


def denied(path: str) -> OSError:
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def os_error(error: BoxError, path: str) -> OSError | None:
    """The error that Python itself raises, such as FileNotFoundError; None if the failure is not one of a file."""
    number = getattr(errno, error.data.get("errno_name") or "", None)
    return None if number is None else OSError(number, os.strerror(number), path)
