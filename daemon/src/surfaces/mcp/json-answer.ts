/** Answers a message of the protocol as JSON. */

export function jsonAnswer(message: object, status = 200): Response {
  const bytes = Buffer.from(JSON.stringify(message));
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  return new Response(bytes, { status, headers });
}
