/** The calls of one reading: one deadline for all of them, and a bound on the calls that wait for one application. */
import { Deadline } from '../../../kit/deadline.ts';
import { nullOn } from '../../../kit/errno.ts';
import type { DbusConnection, DbusMethod, DbusObject } from '../../../platform/dbus/connection.ts';
import type { DbusValue } from '../../../platform/dbus/marshal.ts';
import { DbusRefusal } from '../../../protocols/dbus-errors.ts';

/** More calls in flight do not make an application faster. A hung application occupies only its own places. */
const maxInFlight = 64;

interface Lane {
  inFlight: number;
  readonly waiting: (() => void)[];
}

export class Calls {
  constructor(
    private readonly connection: DbusConnection,
    readonly signal: AbortSignal,
    private readonly lanes = new Map<string, Lane>(),
  ) {}

  get guid(): string {
    return this.connection.guid;
  }

  /** Runs a part of the reading with a shorter deadline, so that time remains for the parts after it. */
  async part<T>(withinMs: number, work: (calls: Calls) => Promise<T>): Promise<T> {
    using deadline = new Deadline(withinMs, this.signal);
    return await work(new Calls(this.connection, deadline.signal, this.lanes));
  }

  /** See `DbusConnection.call`. */
  async call<Answer extends readonly DbusValue[]>(
    object: DbusObject,
    method: DbusMethod<Answer>,
    ...args: readonly DbusValue[]
  ): Promise<Answer> {
    const lane = this.lanes.getOrInsertComputed(object.bus, () => ({ inFlight: 0, waiting: [] }));
    if (lane.inFlight >= maxInFlight) await new Promise<void>((resolve) => lane.waiting.push(resolve));
    lane.inFlight += 1;
    try {
      return await this.connection.call(object, method, args, this.signal);
    } finally {
      lane.inFlight -= 1;
      lane.waiting.shift()?.();
    }
  }

  /** Null when the object answers with an error. */
  async ask<Answer extends readonly DbusValue[]>(
    object: DbusObject,
    method: DbusMethod<Answer>,
    ...args: readonly DbusValue[]
  ): Promise<Answer | null> {
    // The object has gone, or does not have the method.
    return await nullOn(DbusRefusal, this.call(object, method, ...args));
  }

  /** The answer, or `otherwise` when the time is over before it. */
  async inTime<T, O>(answer: Promise<T>, otherwise: O): Promise<T | O> {
    try {
      return await answer;
    } catch (error) {
      if (!this.signal.aborted) throw error;
      return otherwise; // The caller reports that the reading is not complete.
    }
  }
}
