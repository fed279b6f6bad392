"""An environment for Harbor: `harbor run -e boxkeep.adapters.harbor:BoxkeepEnvironment --ek address=URL -n 1`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._output import Ending, Output
from ._framework import framework, implements_all
from ._remote import Remote, described, exit_code_of, os_errors

with framework("harbor", "harbor"):
    # Harbor has no types.
    from harbor.environments.base import BaseEnvironment, ExecResult  # type: ignore[import-untyped]

# Harbor's own directories, which a trial before may have filled.
TRIAL_DIRECTORIES = ("/logs/agent", "/logs/verifier", "/logs/artifacts", "/tests", "/solution")


class BoxkeepEnvironment(BaseEnvironment):  # type: ignore[misc]
    """A sandbox that runs already, for one trial at a time: it is neither built from the task nor ended with it.

    BOXKEEP_ADDRESS and BOXKEEP_KEY of the environment stand for `address` and `key`, so that the key need not be in
    the configuration of a job, which Harbor keeps.
    """

    def __init__(self, *args: Any, address: str | None = None, key: str | None = None, **kwargs: Any) -> None:
        place = address or os.environ.get("BOXKEEP_ADDRESS")
        if place is None:
            raise ValueError("give the address of the daemon: --ek address=URL, or BOXKEEP_ADDRESS")
        self._remote = Remote(place, key or os.environ.get("BOXKEEP_KEY"))
        self._is_root = False
        super().__init__(*args, **kwargs)

    @staticmethod
    def type() -> str:
        return "boxkeep"

    def _validate_definition(self) -> None:
        """The sandbox has its image already, so a task needs no Dockerfile."""

    async def start(self, force_build: bool) -> None:
        """Empties what trials before have left in Harbor's directories, and sends the files of the task."""
        self._is_root = (await self._remote.box.info()).uid == 0
        if self.task_env_config.workdir:
            # The account that runs commands owns it, and what is sent below.
            await self._remote.repeat("files.mkdir", path=self.task_env_config.workdir, parents=True)
        emptied = await self.empty_dirs(TRIAL_DIRECTORIES)
        if emptied is not None and emptied.return_code != 0:
            raise RuntimeError(f"cannot make Harbor's directories: {emptied.stderr}")
        await self._upload_environment_dir_after_start()

    async def stop(self, delete: bool) -> None:
        """Closes the connections. The sandbox stays as it is."""
        await self._remote.close()

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """A time limit ends the whole process tree, and raises a RuntimeError as Docker does."""
        emit = self._output_callback()
        texts = {"stdout": "", "stderr": ""}
        options: dict[str, Any] = {
            **self._as(self._resolve_user(user)),
            "cwd": cwd or self.task_env_config.workdir,
            "env": self._merge_env(env),
        }
        async for event in self._remote.stream(command, timeout_s=timeout_sec, **options):
            if isinstance(event, Ending):
                if event.status == "timed_out":
                    raise RuntimeError(f"Command timed out after {timeout_sec} seconds")
                return ExecResult(return_code=exit_code_of(event), **texts)
            stream, text = (event.type, event.text) if isinstance(event, Output) else (event.stream, described(event))
            texts[stream] += text
            if emit is not None:
                await emit(text, stream)
        raise AssertionError("output ends with an exit")

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        with os_errors(target_path):
            await self._remote.box.files.upload(Path(source_path), target_path)

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        with os_errors(target_dir):
            await self._remote.box.files.upload_directory(Path(source_dir), target_dir)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        with os_errors(source_path):
            download = await self._remote.box.files.download(source_path)
            Path(target_path).parent.mkdir(parents=True, exist_ok=True)
            await download.save_to(target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        with os_errors(source_dir):
            await self._remote.box.files.download_directory(source_dir, Path(target_dir))

    def _as(self, user: str | int | None) -> Mapping[str, Any]:
        """Harbor prepares a sandbox as root. A daemon that is not root does everything as itself."""
        if user is None or (str(user) in ("root", "0") and not self._is_root):
            return {}
        return {"user": str(user)}


implements_all(BoxkeepEnvironment, "harbor", "harbor")
