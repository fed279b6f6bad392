/** Pages in the browser of the image: none of them can use a program of the container without the key. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chromium, type Browser, type Page } from 'playwright-core';
import { Container } from '../harness/container.ts';
import { until } from '../harness/until.ts';

setDefaultTimeout(600_000);
const slowMs = 120_000;

/** Answers with a page to every request, also one that is meant for a proxy, and lets every page read the answer. */
const server = (port: number) =>
  `python3 -c '
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        for name in ("origin", "headers", "methods"): self.send_header("access-control-allow-" + name, "*")
        self.send_header("content-type", "text/html"); self.end_headers()
        self.wfile.write(b"<title>page</title>")
    do_POST = do_OPTIONS = do_GET
http.server.ThreadingHTTPServer(("127.0.0.1", ${port}), Answer).serve_forever()'`;
const [pagePort, openPort, proxyPort] = [3200, 3201, 3128];

let direct: Container;
let proxied: Container;

beforeAll(async () => {
  const env = { DISABLE_CODE_SERVER: 'false', DISABLE_JUPYTER: 'false', BROWSER_START_MODE: 'auto' };
  // What the name server of an attacker does.
  direct = await Container.start({ env: { ...env, PROXY_MAP: 'rebound.example=127.0.0.1' } });
  proxied = await Container.start({ env: { ...env, PROXY_SERVER: `http://127.0.0.1:${proxyPort}` } });
  for (const container of [direct, proxied]) {
    for (const port of [pagePort, openPort, proxyPort]) {
      await container.ok('POST /v2/commands', { command: server(port), mode: 'async' });
      await container.untilServed(`/proxy/${port}/`);
    }
    const isComplete = async () =>
      (await container.tools()).includes('browser_navigate') &&
      (await container.status('/jupyter/api')) === 200 &&
      (await container.status('/vnc/websockify')) !== 503 &&
      [200, 302].includes(await container.status('/code-server/'));
    await until('every service runs', isComplete, slowMs);
  }
});
afterAll(async () => {
  await direct[Symbol.asyncDispose]();
  await proxied[Symbol.asyncDispose]();
});

/** The TCP ports that anything in the container listens on. */
function listening(container: Container): number[] {
  const lines = container.exec('cat', '/proc/net/tcp', '/proc/net/tcp6').split('\n');
  const ports = lines.flatMap((line) => {
    const [, , local, , state] = /^( *)(\d+): \S+:([0-9A-F]{4}) (\S+) ([0-9A-F]{2}) /.exec(line)?.slice(1) ?? [];
    return local !== undefined && state === '0A' ? [Number.parseInt(local, 16)] : [];
  });
  return [...new Set(ports)].filter((port) => ![pagePort, proxyPort].includes(port));
}

async function withPage<T>(container: Container, work: (page: Page) => Promise<T>): Promise<T> {
  const remote: Browser = await chromium.connectOverCDP(`${container.url}/cdp`);
  try {
    const page = await (remote.contexts()[0] ?? (await remote.newContext())).newPage();
    try {
      return await work(page);
    } finally {
      await page.close();
    }
  } finally {
    await remote.close();
  }
}

const requests = [
  ['GET', '/'],
  ['GET', '/v2/sandbox'],
  ['GET', '/json/list'],
  ['GET', '/jupyter/api/terminals'],
  ['POST', '/v2/commands', { command: 'id >/tmp/pwned' }],
  ['POST', '/jupyter/api/terminals', {}],
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
] as const;
const socketPaths = ['/', '/websockify', '/jupyter/terminals/websocket/1', '/code-server/', '/stable?type=Management'];

/** What a page gets an answer to, as METHOD port path. */
async function reached(page: Page, ports: readonly number[], base: (port: number) => string): Promise<string[]> {
  const asked = ports.map((port) => ({ port, base: base(port) }));
  return await page.evaluate(
    async ([targets, allRequests, allPaths]) => {
      const isOpen = (url: string, protocols: string[]) =>
        new Promise<boolean>((resolve) => {
          const socket = new WebSocket(url, protocols);
          const end = (result: boolean) => {
            socket.close();
            resolve(result);
          };
          socket.addEventListener('open', () => end(true));
          socket.addEventListener('error', () => end(false));
          setTimeout(() => end(false), 5000);
        });
      const isAnswered = async (url: string, method: string, body?: object) => {
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        const init = {
          method,
          headers,
          signal: AbortSignal.timeout(5000),
          ...(body ? { body: JSON.stringify(body) } : {}),
        };
        return await fetch(url, init).then(
          (response) => response.ok,
          () => false,
        );
      };
      const found = targets.map(async ({ port, base: origin }) => {
        const answers = allRequests.map(async ([method, path, body]) =>
          (await isAnswered(`${origin}${path}`, method, body)) ? [`${method} ${port} ${path}`] : [],
        );
        const sockets = allPaths.map(async (path) =>
          (await isOpen(`${origin.replace('http', 'ws')}${path}`, ['binary'])) ? [`WS ${port} ${path}`] : [],
        );
        return (await Promise.all([...answers, ...sockets])).flat();
      });
      return (await Promise.all(found)).flat();
    },
    [asked, requests, socketPaths] as const,
  );
}

test.each([
  ['on another port', () => direct, `http://127.0.0.1:${pagePort}/`],
  ['of a public name behind PROXY_SERVER', () => proxied, 'http://some.example/'],
])('IMG-GATEWAY a page %s gets no answer from any port of the container', async (_, containerOf, url) => {
  const container = containerOf();
  const ports = listening(container);
  expect(ports).toEqual(expect.arrayContaining([8080, 8100, 9222, openPort]));
  await withPage(container, async (page) => {
    await page.goto(url);
    const found = await reached(page, ports, (port) => `http://127.0.0.1:${port}`);
    // A server that lets every page read its answers shows that the page can send.
    expect(found.filter((line) => !line.includes(` ${openPort} `))).toEqual([]);
    expect(found).toContain(`POST ${openPort} /mcp`);
  });
  expect(await container.output('cat /tmp/pwned 2>&1')).toContain('No such file');
});

test('IMG-GATEWAY a name that is rebound to the container gets no answer from any of its ports', async () => {
  const found: string[] = [];
  for (const port of listening(direct)) {
    const origin = `http://rebound.example:${port}`;
    await withPage(direct, async (page) => {
      const isHttp = await page.goto(`${origin}/`).then(
        () => true,
        () => false, // It speaks another protocol.
      );
      if (isHttp) found.push(...(await reached(page, [port], () => origin)));
    });
  }
  expect(found.filter((line) => !line.includes(` ${openPort} `))).toEqual([]);
  expect(found).toContain(`POST ${openPort} /mcp`);
  expect(await direct.output('cat /tmp/pwned 2>&1')).toContain('No such file');
});
