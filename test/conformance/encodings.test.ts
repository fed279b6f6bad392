/** The encodings that client libraries use for an omitted field, a boolean and a field with two names. */
import { expect, test, type Json, type Sandbox } from '../harness/sandbox.ts';

/** Each optional body field of v2, and the field that names the kind of body: `['POST /v2/commands', 'cwd', {}]`. */
async function optionalFields(sandbox: Sandbox): Promise<[string, string, object][]> {
  const { paths, components } = (await (await sandbox.fetch('GET /v2/openapi.json')).json()) as Json;
  const shapes = (schema: Json): Json[] => {
    if (schema.$ref) return shapes(components.schemas[schema.$ref.split('/').at(-1)]);
    const parts = schema.allOf ?? schema.anyOf ?? schema.oneOf;
    return parts ? parts.flatMap(shapes) : [schema];
  };
  return Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, { requestBody }]): [string, string, object][] =>
      shapes(requestBody?.content['application/json']?.schema ?? {}).flatMap(({ properties = {}, required = [] }) => {
        const kind = Object.entries<Json>(properties).filter(([, { const: value }]) => value !== undefined);
        const named = Object.fromEntries(kind.map(([name, { const: value }]) => [name, value]));
        const names = Object.keys(properties).filter((name) => !required.includes(name));
        return names.map((name): [string, string, object] => [`${method.toUpperCase()} ${path}`, name, named]);
      }),
    ),
  );
}

test('HTTP-NULL null equals an absent field for every optional field', async ({ sandbox }) => {
  const fields = await optionalFields(sandbox);
  expect(fields.length).toBeGreaterThan(60);

  for (const [route, name, kind] of fields) {
    const refusedFor = async (fields: object) => {
      const { body } = await sandbox.request(route.replaceAll(/\{\w+\}/g, 'absent'), fields);
      return (body.errors ?? []).filter(({ location }) => location === `body.${name}`);
    };
    expect([route, name, await refusedFor({ ...kind, [name]: null })]).toEqual([route, name, await refusedFor(kind)]);
  }

  const nothing = {
    ...{ shell: null, args: null, cwd: null, user: null, session: null, session_id: null, mode: null, timeout: null },
    ...{ max_output_length: null, merge: null, limits: { memory_bytes: null }, stdin: null, hard_timeout: null },
  };
  const result = await sandbox.run({ command: 'echo $KEPT $UNSET', env: { KEPT: 'kept', UNSET: null }, ...nothing });
  expect(result).toMatchObject({ status: 'completed', stdout: 'kept\n' });
  expect((await sandbox.request('POST /v2/commands', { command: null })).body.errors).toEqual([
    { location: 'body.command', message: 'must be a string', type: 'string_type' },
  ]);
});

test('HTTP-NULL each description of a body says that null is an absent field, where that is so', async ({
  sandbox,
}) => {
  const bodies = async (path: string) => {
    const { paths } = (await (await sandbox.fetch(`GET ${path}`)).json()) as Json;
    return Object.entries<Json>(paths).flatMap(([route, methods]) =>
      Object.values<Json>(methods).flatMap(({ requestBody }): [string, boolean][] =>
        requestBody?.content['application/json'] ? [[route, requestBody.description !== undefined]] : [],
      ),
    );
  };
  for (const [route, isDescribed] of await bodies('/v2/openapi.json')) {
    expect([route, isDescribed]).toEqual([route, route !== '/mcp']);
  }
  const described = (await bodies('/v1/openapi.json')).filter(([, isDescribed]) => isDescribed).map(([route]) => route);
  expect([...new Set(described.map((route) => route.split('/')[2]))]).toEqual(['browser']);
  const batch = { actions: [{ action_type: 'CLICK', button: null, num_clicks: null }], include_screenshot: null };
  expect((await sandbox.request('POST /v2/computer/actions/batch', batch)).status).toBe(503);
});

test('HTTP-NULL null keeps its meaning where a field lists it among its values', async ({ sandbox }) => {
  const { session_id: id } = await sandbox.ok('POST /v2/pty/sessions', { no_change_timeout: 0.3, cols: null });
  const exec = async (body: object) =>
    (await sandbox.ok(`POST /v2/pty/sessions/${id}/exec`, { command: 'sleep 1', ...body }))['status'];

  expect(await exec({})).toBe('no_change_timeout');
  expect(await exec({ no_change_timeout: null })).toBe('completed');
  await sandbox.ok(`PATCH /v2/pty/sessions/${id}`, { no_change_timeout: null });
  expect(await exec({})).toBe('completed');

  await sandbox.ok('POST /v2/commands/sessions', { id: 'work', env: { HOME: null } });
  expect(await sandbox.run({ command: 'echo "<$HOME>"', session: 'work', cwd: '/' })).toMatchObject({ stdout: '<>\n' });
});

test('HTTP-BOOL booleans in a query are read in upper and lower case', async ({ sandbox }) => {
  const id = await sandbox.start({ command: 'true' });
  await sandbox.ended(id);

  for (const yes of ['true', 'True', 'TRUE', '1']) {
    const answer = await sandbox.fetch(`GET /v2/commands/${id}?stream=${yes}`);
    expect([yes, answer.headers.get('content-type'), (await answer.text()) !== '']).toEqual([
      yes,
      'application/x-ndjson',
      true,
    ]);
  }
  for (const no of ['false', 'False', 'FALSE', '0'])
    expect([no, (await sandbox.request(`GET /v2/commands/${id}?stream=${no}`)).status]).toEqual([no, 200]);
  for (const neither of ['', 'yes', 'truefalse', '2'])
    expect([neither, (await sandbox.request(`GET /v2/commands/${id}?stream=${neither}`)).status]).toEqual([
      neither,
      422,
    ]);
});

test('HTTP-ALIAS two names of one field may agree, and are refused when they differ', async ({ sandbox }) => {
  await sandbox.ok('POST /v2/commands/sessions', { id: 'one' });
  const command = await sandbox.start({ command: 'cat' });
  const file = `${sandbox.directory}/file`;
  await sandbox.ok('POST /v2/fs/write', { path: file, content: '' });
  const language = 'python';
  const cases: [string, object, string, unknown, string, unknown, unknown][] = [
    ['POST /v2/commands', { command: 'true' }, 'session', 'one', 'session_id', 'one', 'two'],
    ['POST /v2/commands/sessions', {}, 'id', 'a', 'session_id', 'a', 'b'],
    ['POST /v2/pty/sessions', {}, 'id', 'a', 'session_id', 'a', 'b'],
    ['POST /v2/code/sessions', { language }, 'id', 'a', 'session_id', 'a', 'b'],
    [`POST /v2/commands/${command}/stdin`, {}, 'input', 'héllo', 'input_base64', 'aMOpbGxv', 'aGVsbG8='],
    ['POST /v2/fs/copy', { destination: `${file}-copy` }, 'path', file, 'source', file, `${file}x`],
    ['POST /v2/fs/move', { destination: `${file}-moved` }, 'path', file, 'source', file, `${file}x`],
  ];

  for (const [route, rest, first, value, second, same, other] of cases) {
    const refused = await sandbox.request(route, { ...rest, [first]: value, [second]: other });
    expect([route, refused.status, refused.body.errors]).toEqual([
      route,
      422,
      [{ location: `body.${second}`, message: `differs from ${first}; give one of the two`, type: 'value_error' }],
    ]);
    const served = await sandbox.request(route, { ...rest, [first]: value, [second]: same });
    expect([route, served.status]).toEqual([route, 200]);
  }
});
