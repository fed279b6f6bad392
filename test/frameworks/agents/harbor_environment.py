"""Calls the methods of the environment for Harbor: `ADDRESS KEY DIRECTORY`."""

import asyncio
import json
import pathlib
import sys

from behaviour import failure
from harbor.models.task.config import EnvironmentConfig
from harbor.models.trial.paths import TrialPaths

from boxkeep.adapters.harbor import BoxkeepEnvironment


async def main(address, key, directory):
    local = pathlib.Path("local").absolute()
    environment = BoxkeepEnvironment(
        local / "environment",
        "test",
        "test__env",
        TrialPaths(local),
        EnvironmentConfig(workdir=directory),
        persistent_env={"WORD": "persistent"},
        address=address,
        key=key,
    )
    await environment.start(force_build=False)
    ended = await environment.exec("printf out; printf err >&2; exit 3")
    found = {"streams": [ended.return_code, ended.stdout, ended.stderr]}
    found["users"] = [(await environment.exec("id -un", user=user)).stdout for user in (None, "root", 0)]
    found["env"] = (await environment.exec("echo $WORD $MORE", env={"MORE": "more"})).stdout
    chunks = []

    async def emit(text, stream):
        chunks.append([stream, text])

    with environment.scoped_output_callback(emit):
        await environment.exec("echo live")
    found["live"] = chunks
    try:
        await environment.exec("sleep 1000 & echo $! > child; wait", timeout_sec=4)
    except RuntimeError as error:
        found["timeout"] = [
            str(error),
            (await environment.exec("while kill -0 $(cat child) 2>&-; do sleep 0.05; done; echo gone")).stdout,
        ]

    (local / "tree/inner").mkdir(parents=True)
    (local / "tree/inner/file").write_bytes(b"\xff\0")
    await environment.upload_dir(local / "tree", f"{directory}/up")
    await environment.upload_file(local / "tree/inner/file", f"{directory}/up/new/copy")
    await environment.download_file(f"{directory}/up/new/copy", local / "down/copy")
    await environment.download_dir(f"{directory}/up", local / "back")
    found["bytes"] = [(local / "down/copy").read_bytes().hex(), (local / "back/inner/file").read_bytes().hex()]
    found["kinds"] = [await environment.is_dir(f"{directory}/up"), await environment.is_file(f"{directory}/up")]
    found["absent"] = await failure(environment.download_file(f"{directory}/absent", local / "x"))
    found["directory"] = await failure(environment.upload_file(local / "tree/inner/file", directory))
    await environment.stop(delete=True)
    return found


print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
