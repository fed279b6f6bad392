/** Reads the events of a watcher and maintains the set of paths that they describe. */
import { until } from './until.ts';
import type { JsonObject, Sandbox } from './sandbox.ts';

export interface WatchEvent extends JsonObject {
  readonly seq: number;
  readonly type: 'create' | 'write' | 'remove' | 'rename' | 'chmod';
  readonly path: string;
  readonly relative_path: string;
  readonly old_path: string | null;
  readonly is_dir: boolean;
}

/** The maximum wait of a test. */
const deadlineMs = 20_000;

/** A new watcher, and the position up to which its events have been read. */
export class Watching {
  readonly events: WatchEvent[] = [];
  hasOverflowed = false;
  status = 'active';
  cursor: number;

  constructor(
    readonly sandbox: Sandbox,
    readonly record: JsonObject,
  ) {
    this.cursor = record['initial_cursor'] as number;
  }

  static async start(sandbox: Sandbox, path: string, body: object = {}): Promise<Watching> {
    return new Watching(sandbox, await sandbox.ok('POST /v2/watch', { path, debounce: 50, ...body }));
  }

  get id(): string {
    return this.record['watcher_id'] as string;
  }

  /** The events in order, as `type name` or `rename old name`. */
  get eventNames(): string[] {
    return this.events.map((event) => {
      const old = event.old_path === null ? '' : `${event.old_path.slice(this.#prefix)} `;
      return `${event.type} ${old}${event.relative_path}`;
    });
  }

  get #prefix(): number {
    return (this.record['path'] as string).length + 1;
  }

  /** Polls once and returns the new events. */
  async poll(timeoutSeconds = 5): Promise<WatchEvent[]> {
    const page = await this.sandbox.ok(
      `GET /v2/watch/${this.id}/poll?cursor=${this.cursor}&limit=1000&timeout=${timeoutSeconds}`,
    );
    this.cursor = page['cursor'] as number;
    this.hasOverflowed ||= page['overflow'] as boolean;
    this.status = page['status'] as string;
    const events = page['events'] as WatchEvent[];
    this.events.push(...events);
    return events;
  }

  /** Polls until the events satisfy a condition. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    await until(
      what,
      async () => {
        if (!isSo()) await this.poll();
        return isSo();
      },
      deadlineMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; received: ${JSON.stringify(this.eventNames.slice(-50), null, 1)}`);
    });
  }

  /** Reads up to an event of this path, so that all earlier events have been read. */
  async upTo(relativePath: string): Promise<string[]> {
    await this.until(`an event of ${relativePath}`, () =>
      this.events.some((event) => event.relative_path === relativePath),
    );
    return this.eventNames.filter((line) => !line.endsWith(` ${relativePath}`));
  }

  stop(): Promise<JsonObject> {
    return this.sandbox.ok(`DELETE /v2/watch/${this.id}`);
  }
}

/** Applies the events to `paths` and returns the paths that a client then knows. */
export function apply(paths: Iterable<string>, events: readonly WatchEvent[], root: string): Set<string> {
  const known = new Set(paths);
  const below = (path: string) => [...known].filter((other) => other === path || other.startsWith(`${path}/`));
  for (const { type, relative_path: path, old_path: old } of events) {
    if (type === 'create') known.add(path);
    if (type === 'remove') for (const gone of below(path)) known.delete(gone);
    if (type !== 'rename' || old === null) continue;
    const oldPath = old.slice(root.length + 1);
    const moved = below(oldPath);
    for (const gone of [...below(path), ...moved]) known.delete(gone);
    for (const each of moved) known.add(path + each.slice(oldPath.length));
    known.add(path);
  }
  return known;
}
