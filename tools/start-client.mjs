/** A client of a daemon for the examples of `npm start`. Runs on Node 18. */
import { SetupError } from './setup.mjs';

export function connect(url, key) {
  const headers = { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }) };
  const data = async (path, options = {}) => {
    const response = await fetch(url + path, { headers, ...options });
    const body = await response.json();
    if (!body.success) throw new SetupError(`${options.method ?? 'GET'} ${path}: ${response.status} ${body.message}`);
    return body.data;
  };
  return {
    url,
    hasKey: key !== null,
    isHealthy: () =>
      fetch(`${url}/health`).then(
        (response) => response.ok,
        () => false, // the daemon does not listen yet
      ),
    get: (path) => data(path),
    post: (path, body) => data(path, { method: 'POST', body: JSON.stringify(body) }),
    /** The lines of a stream, each parsed as an event. */
    async *events(path) {
      const response = await fetch(url + path, { headers });
      if (!response.ok) throw new SetupError(`GET ${path}: ${response.status}`);
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of response.body) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line !== '') yield JSON.parse(line);
      }
    },
  };
}
