/** Splits the body of a response into lines as they arrive. */

export async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.ok || response.body === null)
    throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of response.body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
  if (rest !== '') yield rest;
}
