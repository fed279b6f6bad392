/** Ways in which another MCP server fails to answer, as the transport and core tell them apart. */

/** No connection could be opened. The message is a clause such as `nothing listens there`. */
export class McpUnreachable extends Error {
  override readonly name = 'McpUnreachable';
}

/** The server was reached, but its answer is missing, cut or not in the protocol. The message is a clause. */
export class McpBroken extends Error {
  override readonly name = 'McpBroken';
}
