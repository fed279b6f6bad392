"""Waits between attempts: briefly at first, because a daemon that died is back within milliseconds, then longer."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ._errors import GaveUp

if TYPE_CHECKING:
    from ._errors import BoxError

    OnAway = Callable[[BoxError, float], object]

FIRST_S = 0.02
LONGEST_S = 1.0


class Backoff:
    """Counts the time since the first failure in a row, and gives up after its budget, which is asked for each time."""

    def __init__(self, budget_s: Callable[[], float], on_away: OnAway | None = None) -> None:
        self._budget_s = budget_s
        self._on_away = on_away
        self.reset()

    def answered(self) -> None:
        """The daemon has answered. The next wait is no shorter, because the daemon may be about to go."""
        self._since: float | None = None

    def reset(self) -> None:
        """An attempt has succeeded."""
        self._next_s = FIRST_S
        self.answered()

    def pause_s(self, error: BoxError, least_s: float = 0) -> float | None:
        """How long to wait now, or None when the budget is used up. The daemon asks for `least_s`."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        since_s = now - self._since
        # Randomized, so that a hundred clients do not come back at the same moment.
        pause_s = max(least_s * (1 + random.random() / 4), self._next_s * (0.75 + random.random() / 2))
        self._next_s = min(self._next_s * 2, LONGEST_S)
        if since_s + pause_s > self._budget_s():
            return None
        if self._on_away:
            self._on_away(error, since_s)
        return pause_s

    def gave_up(self, hint: str, lost: BoxError) -> GaveUp:
        """The error after the last wait. `hint` says how the caller goes on when the daemon is back."""
        return GaveUp(f"the daemon was away for {self._budget_s():g} s: {lost.message}", hint=hint)
