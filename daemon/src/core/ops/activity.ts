/** What has happened in the sandbox: commands as they start and end, and calls as they are answered. */
import { EventRing, type EventPage, type Numbered } from '../../kit/events/event-ring.ts';
import { Notifier } from '../../kit/events/notifier.ts';
import type { EventSource } from '../../kit/events/follow-events.ts';

/** Entries that are kept; with texts of `maxTextLength` they take at most about a megabyte. */
const size = 1000;
const maxTextLength = 300;

export const activityKinds = ['started', 'ended', 'called'] as const;

export interface Activity {
  /** A command started or ended, or a call was answered. */
  readonly kind: (typeof activityKinds)[number];
  readonly atMs: number;
  /** The name of the call, such as `files.write`; of a command `commands.run`. */
  readonly operation: string;
  /** An id, a path, or the address of a page without its query; null where a call names nothing. */
  readonly subject: string | null;
  /** The text of a command. */
  readonly command?: string;
  /** The MCP tool that was called. */
  readonly tool?: string;
  readonly account?: string;
  /** Of a call that was answered. */
  readonly requestId?: string;
  /** How a command ended, or whether a call did what it was asked for. */
  readonly outcome?: string;
  readonly exitCode?: number | null;
  readonly ms?: number;
}

/** No entry has the content of a file, the output of a command, or what a call sent beside its subject. */
export class ActivityFeed implements EventSource<Activity, never> {
  readonly #ring: EventRing<Activity>;
  readonly #changed = new Notifier();
  readonly end = null;

  /** Numbers begin with the time in ms, so that they grow from one daemon to the next. */
  constructor(startedMs: number) {
    this.#ring = new EventRing(size, Math.round(startedMs));
  }

  add(activity: Activity): void {
    this.#ring.add({
      ...activity,
      subject: activity.subject === null ? null : shortened(activity.subject),
      ...(activity.command === undefined ? {} : { command: shortened(activity.command) }),
    });
    this.#changed.notify();
  }

  /** A cursor that is beyond the newest entry, because the clock went back, has a gap behind it. */
  after(cursor: number, limit: number): EventPage<Activity & Numbered> {
    return this.#ring.after(cursor > this.#ring.cursor ? 0 : cursor, limit);
  }

  /** The cursor before the newest entries. */
  before(count: number): number {
    return this.#ring.cursor - Math.min(count, this.#ring.eventCount);
  }

  nextEvent(signal: AbortSignal): Promise<void> {
    return this.#changed.wait(signal);
  }
}

/** Whole characters of a text, with a mark where it was cut. */
function shortened(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
