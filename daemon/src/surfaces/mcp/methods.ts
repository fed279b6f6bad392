/** Answers the methods of the protocol, with a handshake or without. */
import type { McpDeps } from './app.ts';
import { callTool, type CallEnvironment } from './call-tool.ts';
import { describeTools } from './describe.ts';
import { shortName } from '../../core/mcp/tool-definition.ts';
import { codes, handshakeVersions, metaKeys, modernVersions, RpcError, type Message } from './protocol.ts';
import { once } from '../../kit/once.ts';

const instructions =
  'Tools of one sandbox. sandbox_execute_bash keeps its directory and variables between calls. ' +
  'Call sandbox_get_context for what is installed, and sandbox_load_skill for instructions that the image offers.';
const capabilities = { tools: { listChanged: false } };
/** How long a client may reuse a list: other servers come and go. */
const listTtlMs = 5000;

type Answer = (environment: CallEnvironment, message: Message) => object | Promise<object>;

const builtIn = once(describeTools);
/** A client refuses an answer without structured content where the tool has an output schema. */
const builtInWithoutOutput = once(() => builtIn().map(({ outputSchema: _schema, ...tool }) => tool));

const methods: Readonly<Record<string, Answer>> = {
  initialize: ({ deps }, { params }) => ({
    protocolVersion: negotiated(params['protocolVersion']),
    capabilities,
    serverInfo: serverInfo(deps),
    instructions,
  }),
  'server/discover': () => ({
    supportedVersions: [...modernVersions],
    capabilities,
    instructions,
    ttlMs: listTtlMs,
    cacheScope: 'private',
  }),
  ping: () => ({}),
  'tools/list': async ({ deps, cancelled }, { isModern }) => ({
    tools: [
      ...(deps.isStructured ? builtIn() : builtInWithoutOutput()),
      ...((await deps.upstreams?.tools(cancelled)) ?? []),
    ],
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
  return isModern ? withEnvelope(result, environment.deps) : result;
}

function serverInfo({ version }: McpDeps) {
  return { name: 'boxkeep', title: 'boxkeep', version };
}

/** What revision 2026-07-28 puts into each result. */
function withEnvelope(result: object, deps: McpDeps): object {
  const own = '_meta' in result && typeof result._meta === 'object' ? result._meta : {};
  return { resultType: 'complete', ...result, _meta: { ...own, [metaKeys.server]: serverInfo(deps) } };
}

/** A client that wants an unknown revision gets the newest one, and decides. */
function negotiated(wanted: unknown): string {
  const known = handshakeVersions.find((version) => version === wanted);
  return known ?? handshakeVersions[0] ?? '';
}
