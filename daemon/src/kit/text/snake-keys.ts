/** Turns the keys of a plain record into snake_case, for views that send the record itself. */

type Snake<S extends string> = S extends `${infer Head}${infer Rest}`
  ? Head extends Lowercase<Head>
    ? `${Head}${Snake<Rest>}`
    : `_${Lowercase<Head>}${Snake<Rest>}`
  : S;

export type SnakeKeys<T> = T extends readonly (infer Item)[]
  ? SnakeKeys<Item>[]
  : T extends object
    ? { [K in keyof T as K extends string ? Snake<K> : never]: SnakeKeys<T[K]> }
    : T;

/** Also converts the keys of nested records and lists. */
export function snakeKeys<T>(value: T): SnakeKeys<T> {
  return turn(value) as SnakeKeys<T>;
}

function turn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snake(key), turn(inner)]));
}

export function snake(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
