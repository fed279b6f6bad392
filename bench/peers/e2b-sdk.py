"""Makes the calls of the bench with the published SDK of E2B."""
from sdk_calls import serve

from e2b import CommandExitException, Sandbox

sandbox = Sandbox.create(debug=True)


def run(script):
    try:
        yield sandbox.commands.run(script).exit_code
    except CommandExitException as error:
        yield error.exit_code


def follow(script):
    for text, _, _ in sandbox.commands.run(script, background=True):
        yield len(text)


def upload(target, source):
    with open(source, "rb") as file:
        sandbox.files.write(target, file)
    yield 0


def download(path):
    yield sum(map(len, sandbox.files.read(path, format="stream")))


serve(run=run, follow=follow, upload=upload, download=download)
