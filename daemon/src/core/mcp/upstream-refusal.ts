/** What an MCP server answers instead of a result, and how the failures of a server read to a caller. */
import { CoreError } from '../../kit/errors.ts';
import { McpBroken, McpUnreachable } from '../../protocols/mcp-errors.ts';
import type { UpstreamServer } from './servers.ts';

/** An error of the protocol, with the code, message and data of the server. */
export class UpstreamRefusal extends Error {
  override readonly name = 'UpstreamRefusal';

  constructor(
    /** A code of JSON-RPC; null when the server answered with a status of HTTP alone. */
    readonly code: number | null,
    message: string,
    readonly data: unknown,
    readonly status: number,
  ) {
    super(message);
  }

  /** True when the server did not accept the form of the request, and so did not run the tool. */
  get isOfForm(): boolean {
    return this.status >= 400 && this.status < 500;
  }
}

/** The server opens a session with each client, which the hub does not support. */
export class NeedsSession extends Error {
  override readonly name = 'NeedsSession';
}

/** Describes the failure of a call to a caller. Returns protocol errors of the server and other errors unchanged. */
export function callFailure(error: unknown, { name, url }: UpstreamServer, tool: string): unknown {
  const server = `the MCP server ${name} at ${url}`;
  if (error instanceof McpUnreachable) {
    return unavailable(`${server} cannot be reached: ${error.message}`, 'Start the server, and call the tool again.');
  }
  if (error instanceof McpBroken) {
    const hint = 'The tool may have run. Look at its effect before calling it again.';
    return unavailable(`${server} did not complete ${tool}: ${error.message}`, hint);
  }
  if (error instanceof UpstreamRefusal && error.code === null) {
    return unavailable(`${server} did not run ${tool}: ${error.message}`, 'Look at the log of that server.');
  }
  if (error instanceof NeedsSession) {
    return unavailable(`${server} needs a session, which the hub does not support`, 'Run the server stateless.');
  }
  return error;
}

function unavailable(message: string, hint: string): CoreError {
  return new CoreError('unavailable', message, { hint });
}
