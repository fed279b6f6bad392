/** The messages of the Model Context Protocol: their revisions, envelopes and errors. */
import type { ErrorCode } from '../../kit/errors.ts';
import { isFields, type Fields } from '../../kit/types/fields.ts';

/** Revisions whose requests carry the protocol version and the client in their `_meta`, without a handshake. */
export const modernVersions: readonly string[] = ['2026-07-28'];
/** Revisions that a client may negotiate with `initialize`, newest first. */
export const handshakeVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** JSON-RPC 2.0 and the codes of revision 2026-07-28. */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

export const metaKeys = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
} as const;

export type RequestId = string | number;

export interface Message {
  /** null for a notification. */
  readonly id: RequestId | null;
  readonly method: string;
  readonly params: Fields;
  readonly meta: Fields;
  readonly isModern: boolean;
}

/** The codes of ours for those of the protocol, which are numbers. */
const reasons: Readonly<Record<number, ErrorCode>> = {
  [codes.parseError]: 'malformed_request',
  [codes.invalidRequest]: 'malformed_request',
  [codes.methodNotFound]: 'route_not_found',
  [codes.invalidParams]: 'invalid_input',
  [codes.internalError]: 'internal_error',
  [codes.headerMismatch]: 'malformed_request',
  [codes.unsupportedVersion]: 'not_implemented',
};

/** An error of the protocol itself. A tool that ran and failed is a result instead. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  /** 400 for a request that the transport refuses; 200 for an error of the method. */
  readonly status: number | undefined;
  readonly data: unknown;

  /** `data` replaces the code of ours: the error of another server stays as it is. */
  constructor(
    readonly code: number,
    message: string,
    details: {
      readonly reason?: ErrorCode;
      readonly facts?: Fields;
      readonly status?: number;
      readonly data?: unknown;
    } = {},
  ) {
    super(message);
    this.status = details.status;
    this.data = 'data' in details ? details.data : { code: details.reason ?? reasons[code], ...details.facts };
  }
}

export function resultMessage(id: RequestId, result: object): object {
  return { jsonrpc: '2.0', id, result };
}

export function errorMessage(id: RequestId | null, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

/** Returns null for the answer of a client to a request of the server, which this server never sends. */
export function readMessage(body: Fields, headers: Headers): Message | null {
  const { jsonrpc, id, method, params = {} } = body;
  if (jsonrpc === '2.0' && method === undefined && ('result' in body || 'error' in body)) return null;
  if (jsonrpc !== '2.0' || typeof method !== 'string') {
    throw invalidRequest('a message has jsonrpc "2.0" and a method');
  }
  if (id !== undefined && !isRequestId(id)) throw invalidRequest('an id is a string or a number');
  if (!isFields(params)) throw invalidRequest('params is an object');
  const meta = isFields(params['_meta']) ? params['_meta'] : {};
  const message = { id: id ?? null, method, params, meta };
  return { ...message, isModern: assertVersion(message, headers) };
}

/** The id of a message that may be invalid otherwise, for the error that answers it. */
export function idOf(body: Fields): RequestId | null {
  return isRequestId(body['id']) ? body['id'] : null;
}

/** The call that a notification cancels; null when the message is something else. */
export function cancelledId({ method, params }: Message): RequestId | null {
  const id = params['requestId'];
  return method === 'notifications/cancelled' && isRequestId(id) ? id : null;
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number';
}

/** Checks the version headers, and returns whether the message belongs to a revision without a handshake. */
function assertVersion(message: Omit<Message, 'isModern'>, headers: Headers): boolean {
  const { method, meta } = message;
  const header = headers.get('mcp-protocol-version');
  const claimed = meta[metaKeys.version];
  if (claimed !== undefined) {
    if (typeof claimed !== 'string') throw refusedParams(`_meta["${metaKeys.version}"] is a string`);
    if (header !== null && header !== claimed) throw mismatch('MCP-Protocol-Version', header, claimed);
  }
  const version = claimed ?? header;
  if (version === null) return false;
  if (modernVersions.includes(version)) {
    assertEnvelope(message, headers);
    return true;
  }
  // A client that negotiates says in the body which version it wants; the header repeats what was agreed before.
  if (handshakeVersions.includes(version) || method === 'initialize') return false;
  throw new RpcError(codes.unsupportedVersion, `protocol version ${version} is not supported`, {
    status: 400,
    // A client that claims its version with each request cannot use the revisions that need a handshake.
    facts: { supported: [...modernVersions, ...(claimed === undefined ? handshakeVersions : [])], requested: version },
  });
}

/** The methods whose target is repeated in the header Mcp-Name, and the parameter that names it. */
const named: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** What revision 2026-07-28 requires of each request: proxies route by headers, so these must repeat the body. */
function assertEnvelope({ id, method, params, meta }: Omit<Message, 'isModern'>, headers: Headers): void {
  if (id === null) return;
  for (const key of [metaKeys.version, metaKeys.capabilities]) {
    if (meta[key] === undefined) throw refusedParams(`params._meta["${key}"] is required`);
  }
  if (!headers.has('mcp-protocol-version')) throw missing('MCP-Protocol-Version');
  const methodHeader = headers.get('mcp-method');
  if (methodHeader === null) throw missing('Mcp-Method');
  if (methodHeader !== method) throw mismatch('Mcp-Method', methodHeader, method);
  const field = named[method];
  const target = field === undefined ? undefined : params[field];
  if (typeof target !== 'string') return;
  const nameHeader = headers.get('mcp-name');
  if (nameHeader === null) throw missing('Mcp-Name');
  if (decodeHeader(nameHeader) !== target) throw mismatch('Mcp-Name', nameHeader, target);
}

/** A value that a header cannot carry as it is comes as `=?base64?…?=`. */
function decodeHeader(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
}

function invalidRequest(message: string): RpcError {
  return new RpcError(codes.invalidRequest, `invalid request: ${message}`, { status: 400 });
}

function refusedParams(message: string): RpcError {
  return new RpcError(codes.invalidParams, message, { status: 400 });
}

function missing(header: string): RpcError {
  return new RpcError(codes.headerMismatch, `the header ${header} is required in this revision`, { status: 400 });
}

function mismatch(header: string, value: string, body: string): RpcError {
  const message = `the header ${header} is ${JSON.stringify(value)}, and the body says ${JSON.stringify(body)}`;
  return new RpcError(codes.headerMismatch, message, { status: 400 });
}
