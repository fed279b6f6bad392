"""What agents do in a sandbox, task by task: python tasks.py <address> <page with a login>."""

import os
import sys
from base64 import b64decode
from pathlib import Path

from boxkeep import FileNotFound, Sandbox

address, page = sys.argv[1:]
with Sandbox.connect(address, os.environ.get("SVC_API_KEY")) as box:
    print(box.commands.run("uname").stdout)  # Then live output, which goes on over lost connections
    sys.stdout.writelines(event.text for event in box.commands.start("seq 3") if event.type == "stdout")
    cat = box.commands.start("cat", stdin="pipe")
    cat.write("hello")
    cat.kill()
    # A directory there and back; read, edit and search its files
    box.files.upload_directory("project", "project")
    box.files.edit("project/greet.py", {"old_str": "Hello", "new_str": "Bonjour"})
    print(box.files.read("project/greet.py").content)
    print(box.files.grep("project", "Bonjour").matches[0].line_number)
    box.files.download_directory("project", "edited")
    with box.files.watch("project") as changes:
        box.files.write("project/notes", "new")
        print(next(iter(changes)).type)
    # A terminal, whose output goes on at its byte and whose input comes once; a cell with a plot, and one that fails
    terminal = box.terminals.open(id="work")
    terminal.write("echo $((6 * 7)); exit\n")
    sys.stdout.writelines(event.text for event in terminal if event.type == "output")
    plot = box.code.run("python", "import matplotlib.pyplot as plt; plt.plot([1, 3, 2]); plt.show()")
    shown = [output.data["image/png"] for output in plot.outputs if output.output_type == "display_data"]
    Path("plot.png").write_bytes(b64decode(shown[0]))
    print(*[output.ename for output in box.code.run("python", "1 / 0").outputs if output.output_type == "error"])
    # A login in a browser, pictures of the page and of the desktop, a click there; MCP, and an error
    box.browser.navigate(url=page)
    box.browser.fill(label="User", value="ada")
    box.browser.fill(label="Password", value="secret", press="Enter")
    Path("page.png").write_bytes(box.browser.screenshot().bytes)
    Path("desktop.png").write_bytes(box.desktop.screenshot().bytes)
    box.desktop.act(action_type="CLICK", x=400, y=300)
    print(box.mcp.call("sandbox_execute_bash", {"cmd": "echo tool"}).content[0].text)
    try:
        box.files.read("/missing")
    except FileNotFound as error:
        print(error.code, error.hint)
