/** Sends a request with the progress of its body, which `fetch` does not report. */
import type { Fetch } from '../../../clients/typescript/src/index.ts';

export function fetchWithProgress(onSent: (bytes: number) => void): Fetch {
  return async (url, { method = 'GET', headers, body, signal }) =>
    await new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, url);
      request.responseType = 'arraybuffer';
      new Headers(headers).forEach((value, name) => request.setRequestHeader(name, value));
      request.upload.addEventListener('progress', ({ loaded }) => onSent(loaded));
      request.addEventListener('load', () => resolve(answerOf(request)));
      request.addEventListener('error', () => reject(new TypeError('the connection broke')));
      request.addEventListener('abort', () => reject(signal?.reason as Error));
      if (signal?.aborted) return reject(signal.reason as Error);
      signal?.addEventListener('abort', () => request.abort(), { once: true });
      request.send(body as XMLHttpRequestBodyInit);
    });
}

function answerOf(request: XMLHttpRequest): Response {
  const lines = request.getAllResponseHeaders().split('\r\n').filter(Boolean);
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ');
    return [name, value.join(': ')];
  });
  return new Response(request.response as ArrayBuffer, { status: request.status, headers });
}
