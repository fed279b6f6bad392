/** Walks every described operation with requests that are wrong in every way a client can be: each message is one line. */
import { strangeNamesOf, strangeNamesOfTool } from '../harness/advice-words.ts';
import { expect, programTest, test, type EnvelopeBody, type Json } from '../harness/sandbox.ts';

const hostile = 'two\nlines\r\u2028\u0000';
const values: readonly Json[] = [hostile, -1, true, null, [hostile], { [hostile]: hostile }];

/** Bodies for one operation: absent, invalid JSON, and each value in each described field. */
function bodiesOf(operation: Json): (string | undefined)[] {
  const properties = operation.requestBody?.content['application/json']?.schema?.properties;
  if (!properties) return [undefined];
  const filled = values.map((value) =>
    JSON.stringify(Object.fromEntries(Object.keys(properties).map((name) => [name, value]))),
  );
  return ['{"a":\n"b" x', '[\n]', '{}', ...filled];
}

test('HTTP-MESSAGE every message is one line, whatever the request', async ({ sandbox }) => {
  const { paths } = (await (await sandbox.fetch('GET /openapi.json')).json()) as Json;
  const odd = encodeURIComponent(hostile);
  let checked = 0;
  for (const [path, operations] of Object.entries<Json>(paths)) {
    for (const [method, operation] of Object.entries<Json>(operations)) {
      const query = (operation.parameters ?? []).filter((parameter: Json) => parameter.in === 'query');
      const search = query.map(({ name }: Json) => `${name}=${odd}`).join('&');
      for (const target of [`${path.replaceAll(/\{\w+\}/g, odd)}?${search}`, `${path}/${odd}`]) {
        for (const body of method === 'get' ? [undefined] : bodiesOf(operation)) {
          const answer = await sandbox.fetch(`${method.toUpperCase()} ${target}`, body, {
            signal: AbortSignal.timeout(9000),
          });
          if (!answer.headers.get('content-type')?.startsWith('application/json')) {
            await answer.body?.cancel();
            continue;
          }
          const { message } = (await answer.json()) as EnvelopeBody;
          if (message === undefined) continue;
          checked += 1;
          expect([method, path, message]).toEqual([method, path, expect.stringMatching(/^[^\n\r\u2028\u2029]*$/)]);
        }
      }
    }
  }
  expect(checked).toBeGreaterThan(300);
});

/** The harness checks the hint of each refusal in this way. */
programTest(
  'HTTP-MESSAGE a name in a hint is one of the route or of the tool that refuses, or of one that it mentions',
  () => {
    const hint = 'Pass scale_to, or start it with async_mode.';
    expect(strangeNamesOf('POST /v2/computer/actions', hint, '{}')).toEqual(['async_mode']);
    expect(strangeNamesOf('POST /v1/browser/actions', hint, '{}')).toEqual(['scale_to', 'async_mode']);
    expect(strangeNamesOf('POST /v1/bash/write', 'POST /v1/bash/exec with async_mode starts it.', '{}')).toEqual([]);
    expect(strangeNamesOf('POST /v2/pty/sessions/x/exec', 'See my_file.', '{"command":"cat my_file"}')).toEqual([]);
    expect(strangeNamesOfTool('browser_gui_execute_action', hint, '{}')).toEqual(['scale_to', 'async_mode']);
    expect(strangeNamesOfTool('browser_get_info', 'sandbox_execute_bash with new_session', '{}')).toEqual([]);
  },
);
