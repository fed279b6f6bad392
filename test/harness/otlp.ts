/** A minimal collector: accepts OTLP over HTTP with protobuf bodies, and keeps the spans. */
import type { Server } from 'bun';

export interface Span {
  readonly traceId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** 2 means server. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly milliseconds: number;
}

export class Collector implements Disposable {
  readonly spans: Span[] = [];
  readonly resource: Record<string, string | number> = {};
  readonly requests: { readonly path: string; readonly headers: Headers; readonly body: Uint8Array }[] = [];
  readonly #server: Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const body = await request.bytes();
        this.requests.push({ path: new URL(request.url).pathname, headers: request.headers, body });
        this.#take(body);
        return new Response(null, { headers: { 'content-type': 'application/x-protobuf' } });
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  /** ExportTraceServiceRequest, ResourceSpans, ScopeSpans, Span. The field numbers are those of the .proto files. */
  #take(body: Uint8Array): void {
    for (const resourceSpans of messages(body, 1)) {
      for (const resource of messages(resourceSpans, 1)) Object.assign(this.resource, attributes(resource, 1));
      for (const scopeSpans of messages(resourceSpans, 2)) {
        this.spans.push(...messages(scopeSpans, 2).map(readSpan));
      }
    }
  }
}

function readSpan(bytes: Uint8Array): Span {
  const found = fields(bytes);
  const hex = (number: number) =>
    Buffer.from(found.find((field) => field.number === number)?.bytes ?? []).toString('hex');
  const value = (number: number) => found.find((field) => field.number === number)?.value ?? 0n;
  return {
    traceId: hex(1),
    parentSpanId: hex(4),
    name: Buffer.from(found.find((field) => field.number === 5)?.bytes ?? []).toString(),
    kind: Number(value(6)),
    attributes: attributes(bytes, 9),
    milliseconds: Number(value(8) - value(7)) / 1e6,
  };
}

function attributes(bytes: Uint8Array, number: number): Record<string, string | number> {
  return Object.fromEntries(
    messages(bytes, number).map((pair) => {
      const name = Buffer.from(messages(pair, 1)[0] ?? []).toString();
      const [value] = fields(messages(pair, 2)[0] ?? new Uint8Array());
      return [name, value?.bytes ? Buffer.from(value.bytes).toString() : Number(value?.value ?? 0)];
    }),
  );
}

interface Field {
  readonly number: number;
  readonly value: bigint;
  readonly bytes: Uint8Array | null;
}

function messages(bytes: Uint8Array, number: number): Uint8Array[] {
  return fields(bytes).flatMap((field) => (field.number === number && field.bytes ? [field.bytes] : []));
}

/** The fields of one message: varints, 64-bit and 32-bit numbers, and length-prefixed bytes. */
function fields(bytes: Uint8Array): Field[] {
  const view = Buffer.from(bytes);
  const found: Field[] = [];
  for (let at = 0; at < view.length;) {
    const tag = varint(view, at);
    const number = Number(tag.value >> 3n);
    const wire = Number(tag.value & 7n);
    const start = tag.next;
    if (wire === 0) {
      const { value, next } = varint(view, start);
      found.push({ number, value, bytes: null });
      at = next;
    } else if (wire === 2) {
      const length = varint(view, start);
      at = length.next + Number(length.value);
      found.push({ number, value: 0n, bytes: view.subarray(length.next, at) });
    } else {
      const width = wire === 1 ? 8 : 4;
      found.push({ number, value: width === 8 ? view.readBigUInt64LE(start) : 0n, bytes: null });
      at = start + width;
    }
  }
  return found;
}

function varint(view: Buffer, from: number): { value: bigint; next: number } {
  let value = 0n;
  for (let at = from, shift = 0n; ; at++, shift += 7n) {
    const byte = BigInt(view[at] ?? 0);
    value |= (byte & 0x7fn) << shift;
    if (byte < 0x80n) return { value, next: at + 1 };
  }
}
