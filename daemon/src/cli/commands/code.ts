/** `boxkeep code`: runs Python or JavaScript in a sandbox, alone or in a session that keeps its variables. */
import type { CodeExecuteRequest, CodeResult } from '../../../../clients/typescript/src/wire.ts';
import type { Arguments } from '../arguments.ts';
import { CellOutput } from '../client/cell-output.ts';
import { Client, type WaitOptions } from '../client/client.ts';
import { exitCode } from '../exit-codes.ts';
import { ClientFailure } from '../client/failure.ts';
import { inputPieces, print, say } from '../client/standard-streams.ts';
import { untilSignalled } from '../client/until-signalled.ts';
import { connectionHelp } from '../page.ts';
import type { Verb } from '../verb.ts';

export const code: Verb = {
  usage: 'code [url] <language> [code]',
  summary: 'run Python or JavaScript, and print its results',
  flags: {
    '--session ID': 'the session that keeps variables; it is made when it is not there',
    '--timeout SECONDS': 'interrupt the code after this time',
    '--pictures DIR': 'save pictures there as figure-1.png and so on',
    '--json': 'print the whole result as JSON',
  },
  details: `The language is python or javascript. Without code, or with -, the code comes from standard input.
${connectionHelp}`,
  exits: '0 when the code has run, 1 after an error of the code, 124 after --timeout',
  words: ['the language'],
  optionalWords: 1,
  choices: ['python', 'javascript'],

  async run(given, environment) {
    const client = new Client(given, environment);
    const [language = '', text = '-'] = given.words;
    const source = text === '-' ? await readAll() : text;
    const result = await untilSignalled((signal) => runCode(client, given, language as Language, source, { signal }));
    if (given.has('json')) await print(JSON.stringify(result, null, 2));
    else await new CellOutput(given.value('pictures')).write(result);
    if (result.status === 'timeout') await say('code: the time of --timeout is over');
    return { ok: exitCode.ok, error: exitCode.no, timeout: exitCode.timedOut }[result.status];
  },
};

type Language = CodeExecuteRequest['language'];

async function runCode(
  client: Client,
  given: Arguments,
  language: Language,
  source: string,
  options: WaitOptions,
): Promise<CodeResult> {
  const [id, timeout] = [given.value('session'), given.number('timeout', 0.001)];
  const more = timeout === null ? {} : { timeout };
  const { code } = client.sandbox;
  const wait = { ...options, withinMs: null };
  if (id === null) return (await client.answer((each) => code.run(language, source, more, each), wait)).data;
  const session = await client.answer((each) => code.session({ id, language }, each), options);
  if (isPython(session.language) !== isPython(language))
    throw new ClientFailure(`the session ${id} runs ${session.language}`);
  return (await client.answer((each) => session.run(source, more, each), wait)).data;
}

function isPython(language: Language): boolean {
  return language.startsWith('python');
}

async function readAll(): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of inputPieces()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
