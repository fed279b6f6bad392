/** Every refusal of v1 names the next step with routes and fields of v1. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type EnvelopeBody, type Sandbox } from '../harness/sandbox.ts';
import { sseMessages } from '../harness/sse.ts';
import { withPlainShell } from '../harness/v1-shell.ts';

const { paths } = JSON.parse(readFileSync(join(import.meta.dir, '..', '..', 'spec', 'v1.json'), 'utf8')) as {
  paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** Each route in a hint belongs to v1, and no message names a v2-only route. */
function expectOwnRoutes(where: string, { message, hint }: Pick<EnvelopeBody, 'message' | 'hint'>): void {
  const foreign = /\/v2\b|on_busy|if_match|\bstdin "pipe"/;
  expect([where, message, hint]).toEqual([
    where,
    expect.not.stringMatching(foreign),
    expect.not.stringMatching(foreign),
  ]);
  const named = [...(hint ?? '').matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.]*[\w}])/g)];
  const unserved = named.filter(([, method = '', path = '']) => paths[path]?.[method.toLowerCase()] === undefined);
  expect([where, unserved.map(([route]) => route)]).toEqual([where, []]);
}

type Refusal = readonly [route: string, body: object | undefined, hint: string];

async function expectRefusals(sandbox: Sandbox, refusals: readonly Refusal[]): Promise<void> {
  for (const [route, body, hint] of refusals) {
    const { body: answer } = await sandbox.request(route, body);
    expect([route, body, answer.success, answer.hint]).toEqual([route, body, false, expect.stringContaining(hint)]);
    expectOwnRoutes(route, answer);
  }
}

test(
  'VER-3 a refusal over v1 names routes and fields of v1',
  async ({ sandbox }) => {
    const { directory } = sandbox;
    const folder = join(directory, 'folder');
    const text = join(directory, 'text');
    await sandbox.ok('POST /v1/file/mkdir', { path: folder });
    await sandbox.ok('POST /v1/file/write', { file: text, content: 'one\n' });
    await sandbox.ok('POST /v1/file/write', {
      file: join(directory, 'bytes'),
      content: '\u00ff\u00fd',
      encoding: 'raw',
    });
    await sandbox.ok('POST /v1/bash/exec', { session_id: 'it', command: 'true' });
    const editor = { command: 'str_replace', path: text, old_str: 'two', new_str: 'three' };
    await expectRefusals(sandbox, [
      ['GET /v1/nothing', undefined, 'GET /v1/openapi.json lists every route.'],
      ['POST /v1/file/read', { file: join(directory, 'none') }, 'POST /v1/file/list'],
      ['POST /v1/file/read', { file: folder }, 'POST /v1/file/stat'],
      ['POST /v1/file/read', { file: join(text, 'below') }, 'POST /v1/file/stat'],
      ['POST /v1/file/read', { file: join(directory, 'bytes') }, 'GET /v1/file/download'],
      ['POST /v1/file/write', { file: '/dev/null', content: '' }, 'POST /v1/bash/exec'],
      ['POST /v1/file/str_replace_editor', editor, 'POST /v1/file/read'],
      ['POST /v1/file/delete', { path: folder + '/none' }, 'POST /v1/file/list'],
      ['GET /v1/file/download?path=/nowhere', undefined, 'POST /v1/file/list'],
      ['POST /v1/file/watch', { path: '/nowhere' }, 'POST /v1/file/list'],
      ['POST /v1/file/watch/none/poll', {}, 'POST /v1/file/watch'],
      ['GET /v1/file/watch/none/events', undefined, 'POST /v1/file/watch'],
      ['DELETE /v1/file/watch/none', undefined, 'POST /v1/file/watch'],
      ['POST /v1/bash/exec', { command: 'true', exec_dir: '/nowhere' }, 'Create it first'],
      ['POST /v1/bash/output', { session_id: 'none' }, 'POST /v1/bash/sessions/create'],
      ['POST /v1/bash/output', { session_id: 'it', command_id: 'none' }, 'POST /v1/bash/exec'],
      ['POST /v1/bash/write', { session_id: 'none', input: '' }, 'POST /v1/bash/exec'],
      ['POST /v1/bash/sessions/none/close', undefined, 'POST /v1/bash/exec'],
      ['POST /v1/shell/exec', { command: 'true', exec_dir: '/nowhere', strict: true }, 'Create it first'],
      ['POST /v1/shell/view', { id: 'none' }, 'POST /v1/shell/sessions/create'],
      ['POST /v1/nodejs/execute', { code: '1', cwd: '/nowhere' }, 'Create it first'],
      ['GET /v1/nodejs/sessions/none', undefined, 'POST /v1/nodejs/sessions'],
      ['GET /v1/browser/info', undefined, 'GET /v1/capabilities'],
      ['DELETE /v1/browser/tabs/1', undefined, 'GET /v1/browser/tabs'],
    ]);
  },
  withPlainShell(),
);

test(
  'VER-3 ERR-429 a capacity error over v1 names routes of v1',
  async ({ sandbox }) => {
    await sandbox.ok('POST /v1/bash/exec', { session_id: 'it', command: 'sleep 1000', async_mode: true });
    await sandbox.ok('POST /v1/shell/exec', { id: 'my session', command: 'sleep 1000', async_mode: true });
    await sandbox.ok('POST /v1/nodejs/sessions', { session_id: 'it' });
    const opened = await Promise.all(
      Array.from({ length: 128 }, (_, n) =>
        sandbox.ok('POST /v1/file/watch', { path: '/', recursive: false, exclude: [`${n}`] }),
      ),
    );
    expect(opened).toHaveLength(128);
    await expectRefusals(sandbox, [
      ['POST /v1/bash/exec', { session_id: 'it', command: 'true' }, 'SVC_MAX_COMMANDS'],
      ['POST /v1/bash/sessions/create', {}, 'Close one'],
      ['POST /v1/shell/exec', { command: 'true' }, 'DELETE /v1/shell/sessions/{session_id}'],
      ['POST /v1/shell/exec', { id: 'my session', command: 'true', timeout: 0.1 }, 'POST /v1/shell/kill ends it'],
      ['POST /v1/nodejs/sessions', {}, 'DELETE /v1/nodejs/sessions/{session_id}'],
      ['POST /v1/file/watch', { path: '/', recursive: false }, 'DELETE /v1/file/watch/{watcher_id}'],
    ]);
    const busy = { id: 'my session', command: 'true', timeout: 0.1 };
    const [, refused] = await Array.fromAsync(sseMessages(sandbox, '/v1/shell/exec', { post: busy }));
    expect(refused?.data).toMatchObject({
      message: expect.stringMatching(/^session my session runs "sleep 1000"/),
      hint:
        'Wait longer, or use another session. POST /v1/shell/wait waits for the running command, ' +
        'POST /v1/shell/write types into it, and POST /v1/shell/kill ends it.',
    });
  },
  withPlainShell({
    env: {
      SVC_MAX_COMMANDS: '1',
      SVC_MAX_COMMAND_SESSIONS: '1',
      SVC_SHELL_MAX_SESSIONS: '1',
      SVC_CODE_MAX_SESSIONS: '1',
      SVC_CODE_PREWARM: '0',
    },
  }),
);
