/** A plane whose methods are operations: each takes the fields of its request in one object, wherever they travel. */
import { Plane, resultOf, type Result } from './result.ts';
import type { Answer, CallOptions, JsonOperation, Transport } from './transport.ts';
import { routes, type Operations } from './wire.ts';

type Part<Name extends keyof Operations, Where extends string> = Where extends keyof Operations[Name]
  ? NonNullable<Operations[Name][Where]>
  : unknown;
export type Fields<Name extends keyof Operations> = Part<Name, 'path'> & Part<Name, 'query'> & Part<Name, 'body'>;

/** A picture as the daemon sent it. */
export interface Picture {
  /** None when it is as the caller knows it, by `if_changed_from`. */
  readonly bytes: Uint8Array;
  /** Such as `image/png`. */
  readonly type: string;
  /** Of the picture, in pixels. */
  readonly width: number;
  readonly height: number;
  /** Of the display, in pixels. */
  readonly screenWidth: number;
  readonly screenHeight: number;
  readonly etag: string | null;
}

/** Operations without JSON answer pictures. */
type Body<Name extends keyof Operations> = Name extends JsonOperation ? Answer<Name> : { readonly data: Picture };
type Method<Name extends keyof Operations> =
  object extends Fields<Name>
    ? (fields?: Fields<Name>, options?: CallOptions) => Promise<Result<Body<Name>>>
    : (fields: Fields<Name>, options?: CallOptions) => Promise<Result<Body<Name>>>;
type Camel<Text extends string> = Text extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Text;

/** The methods of a plane, such as `openTab` for `browser.open_tab`. */
export type OperationsOf<PlaneName extends string> = Plane & {
  readonly [Name in keyof Operations as Name extends `${PlaneName}.${infer Own}` ? Camel<Own> : never]: Method<Name>;
};

export function operationsOf<PlaneName extends string>(
  transport: Transport,
  plane: PlaneName,
): OperationsOf<PlaneName> {
  const methods = Object.keys(routes)
    .filter((name) => name.startsWith(`${plane}.`))
    .map((name) => [camel(name.slice(plane.length + 1)), methodOf(transport, name as keyof Operations)]);
  return Object.assign(new OperationPlane(), Object.fromEntries(methods)) as OperationsOf<PlaneName>;
}

class OperationPlane extends Plane {}

function methodOf(transport: Transport, name: keyof Operations) {
  const partsOf = partsOfRoute(routes[name]);
  return async (
    fields: Readonly<Record<string, unknown>> = {},
    options: CallOptions = {},
  ): Promise<Result<unknown>> => {
    const input = partsOf(fields);
    if (!pictures.includes(name)) return await transport.call(name as JsonOperation, input, options);
    const opened = await transport.open(name, input, options);
    return opened.ok ? await pictureOf(transport, opened.body, options.signal) : opened;
  };
}

const pictures: readonly string[] = ['browser.screenshot', 'desktop.screenshot'];

/** What a route names in its path and its query goes there, and the rest into the body, or the query without one. */
function partsOfRoute(route: string): (fields: Readonly<Record<string, unknown>>) => object {
  const named = (pattern: RegExp) => (pattern.exec(route)?.[1] ?? '').split(',');
  const [path, query] = [named(/\{(\w+)\}/), named(/\{\?(.*)\}/)];
  const hasBody = route.startsWith('P'); // POST, PUT and PATCH
  return (fields) => {
    const only = (isIn: (name: string) => boolean) =>
      Object.fromEntries(Object.entries(fields).filter(([name]) => isIn(name)));
    const rest = only((name) => !path.includes(name) && !query.includes(name));
    return hasBody
      ? { path: fields, query: only((name) => query.includes(name)), body: rest }
      : { path: fields, query: rest };
  };
}

async function pictureOf(
  transport: Transport,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<Result<{ readonly data: Picture }>> {
  const { headers } = response;
  const size = (name: string) => Number(headers.get(name));
  return await resultOf(async () => ({
    data: {
      bytes: await transport.bytes(response, signal),
      type: headers.get('content-type') ?? '',
      width: size('x-image-width'),
      height: size('x-image-height'),
      screenWidth: size('x-screen-width'),
      screenHeight: size('x-screen-height'),
      etag: headers.get('etag'),
    },
  }));
}

function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
