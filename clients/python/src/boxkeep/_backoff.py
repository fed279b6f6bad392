"""Waits between attempts: briefly at first, because a daemon that died is back within milliseconds, then longer."""

from __future__ import annotations

import random
import time

FIRST_S = 0.02
LONGEST_S = 1.0


class Backoff:
    """Counts the time since the first failure in a row, and gives up after `budget_s`."""

    def __init__(self, budget_s: float) -> None:
        self._budget_s = budget_s
        self.reset()

    def reset(self) -> None:
        """An attempt has succeeded."""
        self._next_s = FIRST_S
        self._deadline: float | None = None

    def pause_s(self, least_s: float) -> float | None:
        """How long to wait now, or None when the budget is used up. The daemon asks for `least_s`."""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._budget_s
        # Randomized, so that a hundred clients do not come back at the same moment.
        pause_s = max(least_s * (1 + random.random() / 4), self._next_s * (0.75 + random.random() / 2))
        self._next_s = min(self._next_s * 2, LONGEST_S)
        return None if now + pause_s > self._deadline else pause_s


class Deadline:
    """The end of a wait of the caller."""

    def __init__(self, timeout_s: float | None) -> None:
        self._timeout_s = timeout_s
        self._at = None if timeout_s is None else time.monotonic() + timeout_s

    def left_s(self, longest_s: float | None = None) -> float | None:
        """The seconds that are left, at most `longest_s`; None without any limit. Raises TimeoutError after the end."""
        if self._at is None:
            return longest_s
        left_s = self._at - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"the wait has ended after {self._timeout_s} s; what it waited for goes on")
        return left_s if longest_s is None else min(left_s, longest_s)
