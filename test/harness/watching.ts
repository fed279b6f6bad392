/** Reads the events of a watcher, and keeps the set of paths that they tell of. */
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

/** What a test waits for at most. */
const deadlineMs = 20_000;

/** A watcher that was made, and how far its events have been read. */
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

  /** As `type name`, and `rename old name`: in the order in which they were told. */
  get told(): string[] {
    return this.events.map((event) => {
      const old = event.old_path === null ? '' : `${event.old_path.slice(this.#prefix)} `;
      return `${event.type} ${old}${event.relative_path}`;
    });
  }

  get #prefix(): number {
    return (this.record['path'] as string).length + 1;
  }

  /** One poll; answers what is new. */
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

  /** Polls until what has been told is as it should be. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    await until(
      what,
      async () => {
        if (!isSo()) await this.poll();
        return isSo();
      },
      deadlineMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}; told: ${JSON.stringify(this.told.slice(-50), null, 1)}`);
    });
  }

  /** Reads on up to an event of this path; so that everything before it has been told. */
  async upTo(relativePath: string): Promise<string[]> {
    await this.until(`an event of ${relativePath}`, () =>
      this.events.some((event) => event.relative_path === relativePath),
    );
    return this.told.filter((line) => !line.endsWith(` ${relativePath}`));
  }

  stop(): Promise<JsonObject> {
    return this.sandbox.ok(`DELETE /v2/watch/${this.id}`);
  }
}

/** What a client holds that knew `paths` and was told of these events. */
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
