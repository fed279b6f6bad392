/** The tools that show and operate the display, through a worker on a real X server. */
import { afterAll, beforeAll } from 'bun:test';
import { ComputerWorker } from '../harness/computer-worker.ts';
import { TestDisplay } from '../harness/display.ts';
import { callTool } from '../harness/mcp-client.ts';
import { expect, test } from '../harness/sandbox.ts';

let display: TestDisplay;
let worker: ComputerWorker;

beforeAll(async () => {
  display = await TestDisplay.start();
  worker = await ComputerWorker.start({ env: display.environment });
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await display[Symbol.asyncDispose]();
});

test(
  'MCP-TOOLS the display is shown as a picture, and an action moves its pointer',
  async ({ sandbox }) => {
    const picture = await callTool(sandbox, 'browser_gui_screenshot');
    expect(picture).toMatchObject({ isError: false, data: { mime_type: 'image/png', bytes: expect.any(Number) } });
    const moved = await callTool(sandbox, 'browser_gui_execute_action', { action_type: 'MOVE_TO', x: 120, y: 80 });
    expect(moved.data).toEqual({ action_performed: 'MOVE_TO' });
    expect(await sandbox.ok('GET /v2/computer/cursor')).toEqual({ x: 120, y: 80 });
    const unknown = await callTool(sandbox, 'browser_gui_execute_action', { action_type: 'PRESS', key: 'NoSuchKey' });
    expect([unknown.isError, unknown.text]).toEqual([true, expect.stringContaining('NoSuchKey')]);
  },
  { env: () => ({ SVC_COMPUTER_USE_URL: worker.url }) },
);
