/** A small web site on loopback for tests of the browser plane. */
import type { Server } from 'bun';

export interface Site {
  /** The URL of a path, under 127.0.0.1. */
  url(path: string): string;
  /** The same under localhost, which is another site to a browser. */
  otherUrl(path: string): string;
  stop(): void;
}

type Handler = (url: URL, request: Request) => Response | Promise<Response>;

function page(title: string, body: string): Response {
  return new Response(`<!doctype html><title>${title}</title>${body}`, {
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
}

const handlers: Readonly<Record<string, Handler>> = {
  '/plain': () => page('Plain', '<h1>Plain</h1>'),
  '/tall': ({ searchParams }) =>
    page(
      'Tall',
      `<body style="margin:0"><div style="height:${Number(searchParams.get('height'))}px;background:linear-gradient(red,blue)"></div>`,
    ),
};

/** `more` are handlers of one test file, by path. */
export function startSite(more: Readonly<Record<string, Handler>> = {}): Site {
  const all = { ...handlers, ...more };
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const url = new URL(request.url);
      return all[url.pathname]?.(url, request) ?? new Response('nothing here', { status: 404 });
    },
  });
  return {
    url: (path) => `http://127.0.0.1:${server.port}${path}`,
    otherUrl: (path) => `http://localhost:${server.port}${path}`,
    stop: () => void server.stop(true),
  };
}
