"""The browser, the desktop and the MCP tools of a sandbox through the client."""

import asyncio
import sys

from boxkeep import AsyncSandbox, RefMalformed, ToolNotFound
from waiting import show

address, key, _, page = sys.argv[1:]


async def main():
    async with await AsyncSandbox.connect(address, key) as box:
        await browser(box.browser)
        await desktop(box.desktop)
        await mcp(box.mcp)


async def browser(browser):
    await browser.navigate(url=page)
    show("snapshot", 'textbox "Name"' in (await browser.snapshot(format="text")).data)
    await browser.fill(label="Name", value="Ada")
    await browser.click(role="button", name="Send")
    show("clicked", (await browser.evaluate(expression="document.title")).value)
    opened = await browser.open_tab(url=page)
    await browser.activate_tab(target_id=opened.target_id)
    await browser.close_tab(target_id=opened.target_id)
    show("closed", opened.target_id not in [tab.target_id for tab in await browser.tabs()])
    picture = await browser.screenshot(format="jpeg")
    show("picture", [picture.type, picture.width > 100, list(picture.bytes[:2])])
    same = await browser.screenshot(format="jpeg", if_changed_from=picture.etag)
    show("unchanged", [len(same.bytes), same.etag == picture.etag])
    try:
        await browser.click(ref="e1_99999")
    except RefMalformed as error:
        show("stale", [False, error.code])


async def desktop(desktop):
    screen = await desktop.screenshot()
    show("screen", [screen.type, screen.width, screen.screen_height, list(screen.bytes[1:4])])
    acted = await desktop.act(action_type="MOVE_TO", x=20, y=30, include_screenshot=False)
    show("acted", [acted.success, (await desktop.cursor()).x])
    moves = [{"action_type": "MOVE_TO", "x": 40, "y": 50}, {"action_type": "WAIT", "duration": 0.01}]
    show("batch", (await desktop.batch(actions=moves)).performed)


async def mcp(mcp):
    show("tools", "sandbox_execute_bash" in [tool.name for tool in await mcp.tools()])
    answer = await mcp.call("sandbox_execute_bash", {"cmd": "echo $((6 * 7))"})
    show("tool", answer.content[0].text.startswith("42") and not answer.isError)
    try:
        await mcp.call("no_such_tool")
    except ToolNotFound as error:
        show("no tool", [False, error.code, None])


asyncio.run(main())
