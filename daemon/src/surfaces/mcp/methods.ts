/** Answers the methods of the protocol, with a handshake or without. */
import type { McpDeps, ToolSet } from './app.ts';
import { callTool, type CallEnvironment } from './call-tool.ts';
import { describeTools, type ToolDescription } from './describe.ts';
import { shortName } from '../../core/mcp/tool-definition.ts';
import { codes, handshakeVersions, metaKeys, modernVersions, RpcError, type Message } from './protocol.ts';

const capabilities = { tools: { listChanged: false } };
/** How long a client may reuse a list: other servers come and go. */
const listTtlMs = 5000;

type Answer = (environment: CallEnvironment, message: Message) => object | Promise<object>;

const methods: Readonly<Record<string, Answer>> = {
  initialize: ({ deps, set }, { params }) => ({
    protocolVersion: negotiated(params['protocolVersion']),
    capabilities,
    serverInfo: serverInfo(deps, set),
    instructions: set.instructions,
  }),
  'server/discover': ({ set }) => ({
    supportedVersions: [...modernVersions],
    capabilities,
    instructions: set.instructions,
    ttlMs: listTtlMs,
    cacheScope: 'private',
  }),
  ping: () => ({}),
  'tools/list': async ({ deps, set, cancelled }, { isModern }) => ({
    tools: [...listed(set, deps.isStructured), ...((await deps.upstreams?.tools(cancelled)) ?? [])],
    ...(isModern && { ttlMs: listTtlMs, cacheScope: 'private' }),
  }),
  'tools/call': callTool,
};

/** Methods that revision 2026-07-28 has removed. */
const handshakeMethods: ReadonlySet<string> = new Set(['initialize', 'ping']);

/** Throws `RpcError` for an unknown method. */
export async function answerMethod(environment: CallEnvironment, message: Message): Promise<object> {
  const { method, isModern } = message;
  const isServed = Object.hasOwn(methods, method) && !(isModern && handshakeMethods.has(method));
  const answer = isServed ? methods[method] : undefined;
  if (!answer) throw new RpcError(codes.methodNotFound, `method not found: ${shortName(method)}`);
  const result = await answer(environment, message);
  return isModern ? withEnvelope(result, environment) : result;
}

const descriptions = new WeakMap<ToolSet, readonly ToolDescription[]>();

/** A client refuses an answer without structured content where the tool has an output schema. */
function listed(set: ToolSet, isStructured: boolean): readonly object[] {
  const all = descriptions.getOrInsertComputed(set, describeTools);
  return isStructured ? all : all.map(({ outputSchema: _schema, ...tool }) => tool);
}

function serverInfo({ version }: McpDeps, { name }: ToolSet) {
  return { name, title: name, version };
}

/** What revision 2026-07-28 puts into each result. */
function withEnvelope(result: object, { deps, set }: CallEnvironment): object {
  const own = '_meta' in result && typeof result._meta === 'object' ? result._meta : {};
  return { resultType: 'complete', ...result, _meta: { ...own, [metaKeys.server]: serverInfo(deps, set) } };
}

/** A client that wants an unknown revision gets the newest one, and decides. */
function negotiated(wanted: unknown): string {
  const known = handshakeVersions.find((version) => version === wanted);
  return known ?? handshakeVersions[0] ?? '';
}
