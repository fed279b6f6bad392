"""What a watch of files reports besides the events of the daemon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Lost:
    """Changes may have been missed, because they came too fast or the daemon was replaced.

    What was known of the tree is void: list it again. Later events are whole.
    """

    type: Literal["lost"] = "lost"
