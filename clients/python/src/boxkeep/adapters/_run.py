"""Runs commands that end with their caller, for adapters whose framework cancels what it waits for."""

from __future__ import annotations

import secrets
from base64 import b64encode
from typing import TYPE_CHECKING

import anyio

from .._errors import BoxError
from .._wire import CommandNotFound, StdinClosed

if TYPE_CHECKING:
    from .. import types
    from .._async._sandbox import AsyncSandbox

# Longer input does not fit into the request, so it follows in pieces.
INPUT_BYTES = 8 * 1024 * 1024

# The request that starts a command may arrive after the first of the requests that kill it.
KILL_TRIES = 5
KILL_PAUSE_S = 0.1


async def run(
    box: AsyncSandbox, command: str, options: types.CommandsRunMore, input: bytes | None = None
) -> types.CommandResult:
    """Like `commands.run`, but a cancelled call kills the command and its children."""
    id = f"cmd_{secrets.token_hex(12)}"
    options = {**options, "command_id": id}
    try:
        if input is None:
            options["stdin"] = "null"
        elif len(input) <= INPUT_BYTES:
            options["stdin"] = {"data_base64": b64encode(input).decode()}
        else:
            options["stdin"] = "pipe"
            await _send(box, command, options, input)
        return await box.commands.run(command, **options)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await _kill(box, id)
        raise


async def _send(box: AsyncSandbox, command: str, options: types.CommandsRunMore, input: bytes) -> None:
    handle = await box.commands.start(command, **options)
    try:
        for at in range(0, len(input), INPUT_BYTES):
            await handle.write(input[at : at + INPUT_BYTES])
        await handle.close_stdin()
    except StdinClosed:
        # The command has ended, or reads no more; its result says the rest.
        return


async def _kill(box: AsyncSandbox, id: str) -> None:
    for _ in range(KILL_TRIES):
        try:
            # Twice does the same as once, so it is sent again where the answer is lost with the daemon.
            await box._transport.call("commands.kill", command_id=id, is_repeatable=True)
            return
        except CommandNotFound:
            await anyio.sleep(KILL_PAUSE_S)
        except BoxError:
            # The caller gets the reason why it was cancelled, and not this one.
            return
