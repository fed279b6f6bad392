/** Serves the pages of test/fixtures/pages from two origins, so that frames can belong to another site. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Server } from 'bun';

const pages = join(import.meta.dirname, '../fixtures/pages');
/** How long the answer of `slow-answer` takes, so that a client has to wait for its content. */
const slowAnswerMs = 600;

export class TestSite implements Disposable {
  readonly #servers: Server<undefined>[] = [];
  readonly #code = randomUUID();
  /** Two host names, because a browser gives each site its own process, and a port is not part of a site. */
  readonly origin: string;
  readonly otherOrigin: string;

  constructor() {
    this.origin = `http://localhost:${this.#serve()}`;
    this.otherOrigin = `http://127.0.0.1:${this.#serve()}`;
  }

  /** The address of a page by its name, such as `form`. */
  page(name: string): string {
    return `${this.origin}/${name}.html`;
  }

  #serve(): number {
    const server = Bun.serve({ port: 0, idleTimeout: 0, fetch: (request) => this.#answer(request) });
    this.#servers.push(server);
    return server.port ?? 0;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, origin } = new URL(request.url);
    // Without an icon, the browser writes an error to the console of each page.
    if (pathname === '/favicon.ico') return new Response(null, { status: 204 });
    if (pathname === '/never-ends') return neverEnds();
    if (pathname === '/receipt.txt') return receipt(this.#code);
    if (pathname === '/receipt-code')
      return new Response(null, { status: request.headers.get('code') === this.#code ? 204 : 404 });
    if (pathname === '/slow-answer') {
      await Bun.sleep(slowAnswerMs);
      return new Response('Three orders');
    }
    const file = Bun.file(join(pages, pathname));
    if (!(await file.exists())) return new Response('no such page', { status: 404 });
    if (!pathname.endsWith('.html')) return new Response(file);
    const other = origin === this.origin ? this.otherOrigin : this.origin;
    const text = (await file.text()).replaceAll('{{other}}', other);
    return new Response(text, { headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } });
  }

  [Symbol.dispose](): void {
    for (const server of this.#servers) void server.stop(true);
  }
}

/** A document whose beginning is readable and whose end never comes, as a long-polling frame has it. */
function neverEnds(): Response {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('<!doctype html><p>Live feed: connected')),
  });
  return new Response(body, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

function receipt(code: string): Response {
  return new Response(`code: ${code}\n`, {
    headers: { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="receipt.txt"' },
  });
}
