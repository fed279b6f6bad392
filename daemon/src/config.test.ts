/** Settings come from flags and variables; a bad one stops the start with one line that names it. */
import { expect, test } from 'bun:test';
import { readConfig, settingsHelp, settingWarnings } from './config.ts';

function config(
  args: readonly string[],
  environment: Record<string, string> = {},
  secrets: Record<string, string> = {},
) {
  return readConfig({ arguments: args, environment, secrets: new Map(Object.entries(secrets)) });
}

test('the flag wins over the variable, and an empty variable is unset', () => {
  expect(config([]).port).toBe(18091);
  expect(config([], { SVC_PORT: '1' }).port).toBe(1);
  expect(config(['--port', '2'], { SVC_PORT: '1' }).port).toBe(2);
  expect(config(['--port=3']).port).toBe(3);
  expect(config([], { SVC_PORT: '' }).port).toBe(18091);
});

test('the key comes from its flag, its variable or the alias of the images', () => {
  expect(config([], {}, { SANDBOX_API_KEY: 'c' }).apiKey).toBe('c');
  expect(config([], {}, { SVC_API_KEY: 'b', SANDBOX_API_KEY: 'c' }).apiKey).toBe('b');
  expect(config([], {}, { '--api-key': 'a', SVC_API_KEY: 'b' }).apiKey).toBe('a');
  expect(config([]).apiKey).toBeNull();
});

test('the address of a Jupyter server is kept as a key is: taken out of sight, and told in no message', () => {
  const endpoint = 'http://127.0.0.1:8888/?token=secret';
  expect(config([], {}, { SVC_JUPYTER_ENDPOINT: endpoint }).jupyterEndpoint).toBe(endpoint);
  expect(config([], {}, { '--jupyter-endpoint': endpoint, SVC_JUPYTER_ENDPOINT: 'x' }).jupyterEndpoint).toBe(endpoint);
  expect(() => config([], {}, { SVC_JUPYTER_ENDPOINT: 'ftp://secret' })).toThrow('the given value is not valid');
});

test('a bad value and an unknown flag are named', () => {
  expect(() => config(['--port', 'many'])).toThrow('--port: "many" is not valid: must be a whole number');
  expect(() => config([], { SVC_PORT: '70000' })).toThrow('SVC_PORT: "70000" is not valid');
  expect(() => config([], { SVC_LOG_LEVEL: 'loud' })).toThrow('SVC_LOG_LEVEL');
  expect(() => config(['--colour', 'blue'])).toThrow('unknown argument --colour');
  expect(() => config(['--port'])).toThrow('--port needs a value');
});

test('help names every flag with its variable', () => {
  expect(settingsHelp()).toContain('--runtime-dir / SVC_RUNTIME_DIR');
});

test('variables without effect are named once each, an empty one is unset', () => {
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
  expect(settingWarnings({ JWT_PUBLIC_KEY: 'k' }, false)[0]?.message).toContain('open to everyone');
});
