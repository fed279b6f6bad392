"""Says in one sentence that a version of a framework has another interface than an adapter expects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from .._wire import version as own_version


class FrameworkDiffers(ImportError):
    """The framework is not there, or has another interface."""


def differs(distribution: str, extra: str, what: object) -> FrameworkDiffers:
    try:
        found = version(distribution)
    except PackageNotFoundError:
        return FrameworkDiffers(f"boxkeep {own_version} needs {distribution}: install boxkeep[{extra}]")
    advice = f"install the version that boxkeep[{extra}] names"
    return FrameworkDiffers(f"boxkeep {own_version} does not fit {distribution} {found}: {what}; {advice}")


@contextmanager
def framework(distribution: str, extra: str) -> Iterator[None]:
    """Wraps the imports from a framework, and the definition of the classes that stand on it."""
    try:
        yield
    except (ImportError, AttributeError, TypeError) as error:
        raise differs(distribution, extra, error) from error


def implements_all(cls: type, distribution: str, extra: str) -> None:
    """A new version of the framework may ask for more methods."""
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise differs(distribution, extra, f"{cls.__name__} lacks {', '.join(missing)}")
