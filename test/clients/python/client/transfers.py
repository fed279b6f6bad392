"""Uploads, downloads, directories and watches of the client. The test kills the daemon at each line `kill`."""

import asyncio
import hashlib
import io
import os
import sys
import tarfile

import httpx2
from boxkeep import AsyncSandbox, BoxError, Lost
from waiting import show

address, key, directory = sys.argv[1:4]
content = os.urandom(60_000_000)


async def main():
    async with await AsyncSandbox.connect(address, key) as box:
        await uploads(box.files)
        await altered()
        await late()
        await downloads(box.files)
        await directories(box.files)
        refusals()
        await watches(box)


async def uploads(files):
    make(at("local"), content, 0o700)
    up = await files.upload(at("local"), at("remote"), on_progress=kill_at(20_000_000))
    show("upload", [up.file_size, is_same(at("remote"), content), mode(at("remote"))])
    of_file = await files.upload(io.BytesIO(content), at("of-file"), on_progress=kill_at(20_000_000))
    with open(at("local"), "rb") as opened:
        of_stream = await files.upload(opened, at("of-stream"))
    show(
        "sources",
        [
            of_file.sha256 == sha256(content),
            (await files.upload(bytes([1, 2]), at("of-bytes"))).file_size,
            (await files.upload(b"", at("empty"))).file_size,
            of_stream.sha256 == sha256(content),
            (await files.upload(numbers(3), at("of-iterator"))).file_size,
        ],
    )
    assert (await files.upload([b"a", b"", b"b"], at("of-list"))).file_size == 2
    once = await failure(lambda: files.upload(numbers(8_000_000), at("of-once"), on_progress=kill_at(2_000_000)))
    show("once", [once.code, once.message, "of-once" in os.listdir(directory)])
    absent = await failure(lambda: files.upload(at("absent"), at("x")))
    show("absent", [absent.code, "No such file" in absent.message, "x" in os.listdir(directory)])


async def altered():
    async def alter(request):
        if request.method == "POST":
            request.stream = httpx2.ByteStream(b"other")

    async with httpx2.AsyncClient(event_hooks={"request": [alter]}) as http:
        # The daemon may still be away.
        altered = AsyncSandbox(address, key, http=http, retry_s=30)
        other = await failure(lambda: altered.files.upload(at("local"), at("y")))
        show("altered", other.code)


async def late():
    """A repeated upload has the digest of its last attempt."""
    attempts = []

    async def break_once(request):
        attempts.append(request)
        if len(attempts) == 1:
            raise httpx2.ConnectError("broken on purpose")

    async with httpx2.AsyncClient(event_hooks={"request": [break_once]}) as http:
        breaking = AsyncSandbox(address, key, http=http, retry_s=30)
        show("late", (await breaking.files.upload(b"late", at("late"))).file_size)


async def downloads(files):
    progress = []
    down = await files.download(at("remote"), on_progress=progress.append)
    show("download", [down.size, sha256(await down.bytes()) == sha256(content), progress[-1]])
    broken = await files.download(at("remote"), on_progress=kill_at(20_000_000))
    show("broken", sha256(await broken.bytes()) == sha256(content))
    try:
        await (await files.download(at("remote"), on_progress=stop_at(20_000_000))).save_to(at("saved"))
    except Error as error:
        show("stopped", [f"Error: {error}", "saved" in os.listdir(directory)])
    resumed = []
    await (await files.download(at("remote"), on_progress=resumed.append)).save_to(at("saved"))
    show("resumed", [resumed[0] > 20_000_000, is_same(at("saved"), content), mode(at("saved"))])
    show("parts", [name for name in os.listdir(directory) if name.endswith("part")])
    empty, kernel = await files.download(at("empty")), await files.download("/proc/filesystems")
    gone = await failure(lambda: files.download(at("absent")))
    show("small", [len(await empty.bytes()), len(await kernel.bytes()) > 0, gone.code])
    changed = await files.download(at("of-bytes"))
    await files.write(at("of-bytes"), "others")
    show("changed", (await failure(lambda: changed.bytes())).code)


async def directories(files):
    # Whole blocks of an archive.
    blocks = content[: 2**25]
    os.makedirs(at("tree/deep"))
    make(at("tree/deep/big"), blocks, 0o644)
    make(at("tree/ünï"), b"x", 0o755)
    os.symlink("deep/big", at("tree/link"))
    packed = await files.upload_directory(at("tree"), at("there"), on_progress=kill_at(20_000_000))
    show("directory up", [packed.entries, is_same(at("there/link"), blocks), mode(at("there/ünï"))])
    # The link leads to what is left out, which stays in the directory.
    await files.download_directory(at("there"), at("back"), exclude="deep")
    show("directory down", [sorted(os.listdir(at("back"))), mode(at("back/ünï"))])
    await files.download_directory(at("there"), at("whole"))
    assert is_same(at("whole/deep/big"), blocks)
    archive = io.BytesIO()
    await files.download_directory(at("there"), archive, exclude="deep")
    assert (await files.upload_directory(archive.getvalue(), at("again"))).entries == 2
    os.symlink("/etc", at("there/outside"))
    assert "outside" in (await failure(lambda: files.download_directory(at("there"), at("refused")))).message
    os.unlink(at("there/outside"))
    unread = await failure(lambda: files.upload_directory(at("absent"), at("z")))
    show("directory absent", [unread.code, "absent: No such file" in unread.message])
    gone = await failure(lambda: files.download_directory(at("absent"), at("back")))
    show("directory gone", gone.code)


def refusals():
    """What a Python without filters for archives refuses."""
    from boxkeep._archive import refuse_outside

    def is_refused(name, type, linkname=""):
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = type, linkname
        try:
            refuse_outside(entry, os.path.realpath(directory))
        except tarfile.ReadError:
            return True
        return False

    assert is_refused("../a", tarfile.REGTYPE) and is_refused("/a", tarfile.REGTYPE)
    assert is_refused("a", tarfile.SYMTYPE, "../b") and is_refused("a/b", tarfile.LNKTYPE, "../b")
    assert is_refused("a", tarfile.FIFOTYPE)
    assert not is_refused("a/b", tarfile.SYMTYPE, "../b") and not is_refused("a", tarfile.DIRTYPE)


async def watches(box):
    changes = []
    async with await box.files.watch(at("there"), debounce=50) as watch:
        make(at("there/new"), b"x", 0o644)
        async for change in watch:
            path = None if isinstance(change, Lost) else change.relative_path
            changes.append([change.type, path])
            if path == "new":
                show("kill", None)
            if isinstance(change, Lost):
                make(at("there/newer"), b"x", 0o644)
            if path == "newer":
                break
    show("changes", changes)
    show("watchers", len(await box.call("watch.list")))


class Error(Exception):
    pass


def stop_at(limit):
    def on_progress(done):
        if done > limit:
            raise Error("enough")

    return on_progress


def kill_at(limit):
    """Kills the daemon once, in the middle of a transfer."""
    kills = []

    def on_progress(done):
        if done >= limit and not kills:
            kills.append(done)
            show("kill", None)

    return on_progress


async def numbers(count):
    for start in range(0, count, 1_000_000):
        yield bytes(min(count - start, 1_000_000))


async def failure(work):
    try:
        await work()
    except BoxError as error:
        return error
    raise AssertionError("the call succeeds")


def at(name):
    return os.path.join(directory, name)


def make(path, whole, bits):
    with open(path, "wb") as file:
        file.write(whole)
    os.chmod(path, bits)


def mode(path):
    return os.stat(path).st_mode & 0o777


def is_same(path, whole):
    with open(path, "rb") as file:
        return sha256(file.read()) == sha256(whole)


def sha256(whole):
    return hashlib.sha256(whole).hexdigest()


asyncio.run(main())
