/** Settings come from flags and variables; a bad value stops the start with one line that names it. */
import { expect, test } from 'bun:test';
import { readConfig, settingsHelp, settingWarnings } from './config.ts';

function config(
  args: readonly string[],
  environment: Record<string, string> = {},
  secrets: Record<string, string> = {},
) {
  return readConfig({ arguments: args, environment, secrets: new Map(Object.entries(secrets)) });
}

test('a flag wins over its variable, and an empty variable counts as unset', () => {
  expect(config([]).port).toBe(18091);
  expect(config([], { SVC_PORT: '1' }).port).toBe(1);
  expect(config(['--port', '2'], { SVC_PORT: '1' }).port).toBe(2);
  expect(config(['--port=3']).port).toBe(3);
  expect(config([], { SVC_PORT: '' }).port).toBe(18091);
});

test('the key comes from its flag, its variable or the alias that images use', () => {
  expect(config([], {}, { SANDBOX_API_KEY: 'c' }).apiKey).toBe('c');
  expect(config([], {}, { SVC_API_KEY: 'b', SANDBOX_API_KEY: 'c' }).apiKey).toBe('b');
  expect(config([], {}, { '--api-key': 'a', SVC_API_KEY: 'b' }).apiKey).toBe('a');
  expect(config([]).apiKey).toBeNull();
});

test('a key loses one trailing newline, and a key that no header can carry is refused without being shown', () => {
  for (const end of ['\n', '\r\n']) expect(config([], {}, { SVC_API_KEY: `b c${end}` }).apiKey).toBe('b c');
  for (const bad of ['canary\n\n', ' canary', 'canary ', 'canary\t', 'can\nary', 'can\tary', 'canarié', '\n', ' ']) {
    const read = () => config([], {}, { SVC_API_KEY: bad });
    const message = 'SVC_API_KEY: the given value is not valid: a key is printable ASCII without blanks at its ends';
    expect(read).toThrow(new Error(message));
  }
});

test('the address of a Jupyter server is treated as a secret: removed from the environment and absent from every message', () => {
  const endpoint = 'http://127.0.0.1:8888/?token=secret';
  expect(config([], {}, { SVC_JUPYTER_ENDPOINT: endpoint }).jupyterEndpoint).toBe(endpoint);
  expect(config([], {}, { '--jupyter-endpoint': endpoint, SVC_JUPYTER_ENDPOINT: 'x' }).jupyterEndpoint).toBe(endpoint);
  expect(() => config([], {}, { SVC_JUPYTER_ENDPOINT: 'ftp://secret' })).toThrow('the given value is not valid');
});

test('an invalid value and an unknown flag are named', () => {
  expect(() => config(['--port', 'many'])).toThrow(
    '--port: "many" is not valid: must be a whole number from 0 to 65535',
  );
  expect(() => config([], { SVC_PORT: '70000' })).toThrow(
    'SVC_PORT: "70000" is not valid: must be a whole number from 0 to 65535',
  );
  expect(() => config([], { SVC_LOG_LEVEL: 'loud' })).toThrow('SVC_LOG_LEVEL');
  expect(() => config(['--colour', 'blue'])).toThrow('unknown argument --colour');
  expect(() => config(['--port'])).toThrow('--port needs a value');
});

test('only an origin in the form that browsers send can be listed', () => {
  const listed = 'https://app.example,http://10.0.0.1:3000';
  expect(config([], { SVC_CORS_ORIGINS: listed }).corsOrigins).toEqual(listed.split(','));
  for (const entry of ['null', '*', 'app.example', 'https://app.example/', 'https://app.example:443', 'file://'])
    expect(() => config([], { SVC_CORS_ORIGINS: entry })).toThrow('must be origins as https://app.example');
});

test('help names every flag with its variable', () => {
  expect(settingsHelp()).toContain('--runtime-dir / SVC_RUNTIME_DIR');
});

test('a variable without effect is named once, unless the variable is empty', () => {
  const gone = {
    SANDBOX_SHUTDOWN_HOOKS: 'x',
    DISABLE_NODEJS_REPL: 'true',
    NODEJS_REPL_PORT: '1',
    NODEJS_REPL_PORT_22: '2',
    MCP_FILTER_SERVERS: 'a',
    TICKET_TTL_SECONDS: '30',
    SVC_PORT: '1',
  };

  expect(settingWarnings(gone, false).map(({ variable }) => variable)).toEqual(
    Object.keys(gone)
      .filter((name) => name !== 'SVC_PORT')
      .toSorted(),
  );
  expect(settingWarnings({ TICKET_TTL_SECONDS: '', JWT_PUBLIC_KEY: '' }, false)).toEqual([]);
  expect(settingWarnings({ JWT_PUBLIC_KEY: 'k' }, true)).toEqual([]);
  expect(settingWarnings({ JWT_PUBLIC_KEY: 'k' }, false)[0]?.message).toContain('no request needs a key');
});
