/** Reads accessible objects: whole applications from their cache with one call, and single objects where it has gaps. */
import type { DbusObject } from '../../../platform/dbus/connection.ts';
import type { Calls } from './calls.ts';
import {
  cacheItems,
  cachePath,
  getChildAt,
  getChildren,
  getInterfaces,
  getProperties,
  getRole,
  getStates,
  interfaces,
  nullPath,
  type CacheItem,
  type Properties,
  type Reference,
} from './methods.ts';
import { goneNode, objectOf } from './node-id.ts';
import type { RoleNames } from './role-names.ts';
import { hasState, type States } from './states.ts';

/** An accessible object as the protocol describes it. */
export interface AccessibleObject extends DbusObject {
  readonly role: string;
  readonly name: string;
  readonly description: string;
  readonly states: States;
  readonly interfaces: readonly string[];
  /** -1 when the application has not counted them. */
  readonly childCount: number;
}

export interface Children {
  readonly objects: readonly AccessibleObject[];
  /** True when there are more children than were asked for. */
  readonly isCut: boolean;
}

/** What `GetItems` of one application has returned. */
interface Cache {
  readonly byPath: ReadonlyMap<string, AccessibleObject>;
  readonly children: ReadonlyMap<string, readonly AccessibleObject[]>;
}

const emptyCache: Cache = { byPath: new Map(), children: new Map() };

export class ObjectReader {
  readonly #caches = new Map<string, Promise<Cache>>();

  constructor(
    readonly calls: Calls,
    private readonly roles: RoleNames,
  ) {}

  /** Null when the object has gone. */
  async read(object: DbusObject): Promise<AccessibleObject | null> {
    const cache = await this.#cacheOf(object.bus);
    return cache.byPath.get(object.path) ?? (await this.readAlone(object));
  }

  /** Throws `ref_stale`. */
  async node(id: string): Promise<AccessibleObject> {
    const object = await this.readAlone(objectOf(id, this.calls.guid));
    if (object === null || hasState(object.states, 'defunct')) throw goneNode(id);
    return object;
  }

  /** Reads one object without its application's cache. Null when the object has gone. */
  async readAlone({ bus, path }: DbusObject): Promise<AccessibleObject | null> {
    const { calls } = this;
    const object = { bus, path };
    const [properties, role, states, found] = await Promise.all([
      calls.ask(object, getProperties, interfaces.accessible),
      calls.ask(object, getRole),
      calls.ask(object, getStates),
      calls.ask(object, getInterfaces),
    ]);
    if (!properties || !role || !states) return null;
    const text = (name: string) => {
      const value = propertyOf(properties[0], name);
      return typeof value === 'string' ? value : '';
    };
    return {
      ...object,
      ...{ role: this.roles.nameOf(role[0]), name: text('Name'), description: text('Description'), states: states[0] },
      ...{ interfaces: found?.[0] ?? [], childCount: Number(propertyOf(properties[0], 'ChildCount') ?? -1) },
    };
  }

  /** At most `max` children, in their order. */
  async children(parent: AccessibleObject, max: number): Promise<Children> {
    const cache = await this.#cacheOf(parent.bus);
    const known = cache.children.get(parent.path) ?? [];
    if (known.length === parent.childCount) return { objects: known.slice(0, max), isCut: known.length > max };
    return await this.childrenInRange(parent, { from: 0, max });
  }

  /** Children from an index on, asked for one by one if there are more than `max`. */
  async childrenInRange(
    parent: AccessibleObject,
    { from, max }: { readonly from: number; readonly max: number },
  ): Promise<Children> {
    const count = parent.childCount >= 0 ? parent.childCount : ((await this.readAlone(parent))?.childCount ?? 0);
    const references = count <= max ? await this.#allOf(parent) : await this.#range(parent, from, max);
    const found = await Promise.all(references.map(([bus, path]) => this.read({ bus, path })));
    return { objects: found.filter((object) => object !== null).slice(0, max), isCut: count > max };
  }

  async #allOf(parent: AccessibleObject): Promise<readonly Reference[]> {
    const [references] = (await this.calls.ask(parent, getChildren)) ?? [[]];
    return references.filter(isReference);
  }

  /** A list with a million rows creates an object for each child that is asked for. */
  async #range(parent: AccessibleObject, from: number, max: number): Promise<readonly Reference[]> {
    const indices = Array.from({ length: max }, (_, index) => from + index);
    const answers = await Promise.all(indices.map((index) => this.calls.ask(parent, getChildAt, index)));
    return answers.flatMap((answer) => answer ?? []).filter(isReference);
  }

  #cacheOf(bus: string): Promise<Cache> {
    return this.#caches.getOrInsertComputed(bus, () => this.#readCache(bus));
  }

  /** Empty for an application without a cache, or with one of an older form. */
  async #readCache(bus: string): Promise<Cache> {
    const answer = await this.calls.ask({ bus, path: cachePath }, cacheItems);
    return answer ? cacheOf(bus, answer[0], this.roles) : emptyCache;
  }
}

function cacheOf(bus: string, items: readonly CacheItem[], roles: RoleNames): Cache {
  const byPath = new Map<string, AccessibleObject>();
  const families = new Map<string, { readonly index: number; readonly object: AccessibleObject }[]>();
  for (const [
    [owner, path],
    ,
    [parentOwner, parent],
    index,
    childCount,
    found,
    name,
    role,
    description,
    states,
  ] of items) {
    if (owner !== bus || byPath.has(path)) continue;
    const object = { bus, path, role: roles.nameOf(role), name, description, states, interfaces: found, childCount };
    byPath.set(path, object);
    // The object of an application names itself as its parent.
    if (parentOwner !== bus || parent === path) continue;
    families.getOrInsert(parent, []).push({ index, object });
  }
  const children = [...families].map(([parent, family]) => [parent, inOrder(family)] as const);
  return { byPath, children: new Map(children) };
}

/** The scroll bars of GTK 3 have the index -1; they stand at the end. */
function inOrder(family: { readonly index: number; readonly object: AccessibleObject }[]): readonly AccessibleObject[] {
  const place = ({ index }: { readonly index: number }) => (index < 0 ? Infinity : index);
  return family.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b))).map(({ object }) => object);
}

function propertyOf(properties: Properties, name: string): unknown {
  return properties.find(([key]) => key === name)?.[1];
}

function isReference([bus, path]: Reference): boolean {
  return bus.startsWith(':') && path !== nullPath;
}
