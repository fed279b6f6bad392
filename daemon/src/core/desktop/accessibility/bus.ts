/** The worker's access to the accessibility bus: connects at the first call, and disconnects when idle. */
import { Deadline } from '../../../kit/deadline.ts';
import { nullOn } from '../../../kit/errno.ts';
import { DbusRefusal, DbusUnreachable } from '../../../protocols/dbus-errors.ts';
import { SharedConnection } from '../../../kit/shared-connection.ts';
import type { ConnectDbus, DbusConnection } from '../../../platform/dbus/connection.ts';
import type { Variant } from '../../../platform/dbus/marshal.ts';
import { busUnreachable, noAccessibility, noSessionBus } from './failures.ts';
import {
  accessibilityAddress,
  accessibilityLauncher,
  getProperty,
  interfaces,
  registerEvent,
  registry,
  setProperty,
} from './methods.ts';

export interface AccessibilityBusDeps {
  readonly connect: ConnectDbus;
  /** Makes a value that carries its signature. */
  readonly variant: (signature: string, value: boolean | number) => Variant;
  /** The address of the session bus; null without one. */
  readonly sessionAddress: string | null;
  /** The address of the accessibility bus, where the environment names it. */
  readonly accessibilityAddress: string | null;
  /** Milliseconds without a call after which the worker disconnects. */
  readonly idleMs: number;
}

/**
 * An event that programs rarely send. Programs that use ATK fill the cache of `GetItems` only while a client
 * listens for an event (at-spi2-core 2.46, `atk-adaptor/bridge.c`).
 */
const rareEvent = 'object:announcement';

/** Time to find the bus and to introduce the worker to it. */
const connectMs = 5000;

export class AccessibilityBus implements Disposable {
  readonly #shared: SharedConnection<DbusConnection>;

  constructor(readonly deps: AccessibilityBusDeps) {
    this.#shared = new SharedConnection({ open: () => this.#open(), idleMs: deps.idleMs });
  }

  /** Throws `unavailable`, saying which part is missing. */
  async use<T>(work: (connection: DbusConnection) => Promise<T>): Promise<T> {
    using _call = this.#shared.begin();
    return await work(await this.#shared.connect());
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
  }

  async #open(): Promise<DbusConnection> {
    using deadline = new Deadline(connectMs);
    const { signal } = deadline;
    const address = this.deps.accessibilityAddress ?? (await this.#askSessionBus(signal));
    const connection = await this.#reach('accessibility', address, signal);
    // An older registry takes other arguments. Without the event, nodes are read one by one.
    await nullOn(DbusRefusal, connection.call(registry, registerEvent, [rareEvent, [], ''], signal));
    return connection;
  }

  /** Asks for the address of the accessibility bus, and tells programs that start from now on to register there. */
  async #askSessionBus(signal: AbortSignal): Promise<string> {
    if (this.deps.sessionAddress === null) throw noSessionBus();
    using session = await this.#reach('session', this.deps.sessionAddress, signal);
    try {
      const [address] = await session.call(accessibilityLauncher, accessibilityAddress, [], signal);
      await this.#enable(session, signal);
      return address;
    } catch (error) {
      throw error instanceof DbusRefusal ? noAccessibility(error) : error;
    }
  }

  /** Chromium and Qt ask for this property when they start, and register only if it is true. */
  async #enable(session: DbusConnection, signal: AbortSignal): Promise<void> {
    const property = [interfaces.status, 'IsEnabled'];
    const [isEnabled] = await session.call(accessibilityLauncher, getProperty, property, signal);
    if (isEnabled === true) return;
    await session.call(accessibilityLauncher, setProperty, [...property, this.deps.variant('b', true)], signal);
  }

  async #reach(bus: 'session' | 'accessibility', address: string, signal: AbortSignal): Promise<DbusConnection> {
    try {
      return await this.deps.connect(address, signal);
    } catch (error) {
      throw error instanceof DbusUnreachable ? busUnreachable(bus, error) : error;
    }
  }
}
