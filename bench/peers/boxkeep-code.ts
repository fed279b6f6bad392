/** The code plane of boxkeep: the first cell begins a session, and each cell is one request. */
import { javascript, python, type CodeServer, type CodeSession } from './code.ts';
import type { Boxkeep } from './boxkeep.ts';

interface Answer {
  readonly message: string;
  readonly data?: { readonly status: string; readonly stdout: string };
}

const words = { python: { word: 'python', ...python }, javascript: { word: 'javascript', ...javascript } };

export function codeOf({ url, pids }: Boxkeep, name: string, language: keyof typeof words): CodeServer {
  return {
    name,
    language: words[language],
    pids,
    openSession: () => Promise.resolve(session(`${url}/v2/code`, language)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function session(api: string, language: string): CodeSession {
  const id = crypto.randomUUID();
  return {
    async run(code) {
      const body = JSON.stringify({ language, code, session_id: id });
      const response = await fetch(`${api}/execute`, { method: 'POST', body });
      const { data, message } = (await response.json()) as Answer;
      if (data?.status !== 'ok') throw new Error(`${api}: ${response.status} ${message}`);
      return data.stdout;
    },
    async [Symbol.asyncDispose]() {
      await fetch(`${api}/sessions/${id}`, { method: 'DELETE' }).then((response) => response.arrayBuffer());
    },
  };
}
