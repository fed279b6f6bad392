/** The v1 routes that run code of any language. */
import { z } from 'zod';
import type { CodeRuntimes } from '../../core/code/info.ts';
import { languages, poolKindOf, type Language } from '../../core/code/language.ts';
import { Answer } from '../../kit/answer.ts';
import { route, type V1Deps } from './app.ts';
import { cellSpec, describeRun, runCell, runErrors, timeLimits } from './code-run.ts';
import { exitCodeOf, outputsOf, statusOf, tracebackOf } from './code-views.ts';
import { placeCodes } from './file-failures.ts';
import { sessionId, sessionKey } from './code-session-ids.ts';
import { namedObject } from '../../operations/inputs.ts';

const CodeLanguage = z.enum(languages).meta({ id: 'Language' });

const CodeExecuteRequest = namedObject('CodeExecuteRequest', {
  language: CodeLanguage,
  code: z.string(),
  timeout: z.int().min(1).max(timeLimits.max).nullish().describe('Seconds; 30 without it.'),
  cwd: z.string().nullish(),
  stateful: z.boolean().default(false).describe('Variables stay for the next call with the same session_id.'),
  session_id: z.string().nullish().describe('As stateful; an unknown one is created.'),
});

const CodeExecuteResponse = namedObject('CodeExecuteResponse', {
  language: CodeLanguage,
  status: z.string().describe('ok, error or timeout.'),
  outputs: z.array(z.record(z.string(), z.unknown())),
  code: z.string(),
  stdout: z.string().nullable(),
  stderr: z.string().nullable(),
  exit_code: z.int().nullable().describe('null in a kernel.'),
  traceback: z.array(z.string()).nullable(),
  session_id: z.string().nullable(),
});

export const executeCode = route({
  operation: 'code.execute_v1',
  method: 'POST',
  path: '/v1/code/execute',
  summary: 'Run Python or JavaScript, alone or in a session',
  body: CodeExecuteRequest,
  data: CodeExecuteResponse,
  errors: [...runErrors, ...placeCodes],
  async handle(deps, { body, context }) {
    const { language, stateful, session_id: id } = body;
    const key = id || stateful ? await sessionKey(deps.code, language, id) : null;
    const hasOwnDirectory = key === null && language === 'javascript';
    const spec = { ...cellSpec(body), language, kernel: null, sessionId: key, hasOwnDirectory };
    const ran = await runCell(deps, spec, context);
    const { cell, session } = ran;
    const isInKernel = poolKindOf(session.record.backend) === 'kernel';
    const data = {
      language,
      status: statusOf(cell),
      outputs: outputsOf(cell),
      code: body.code,
      stdout: cell.outputs.printed('stdout'),
      stderr: cell.outputs.printed('stderr'),
      exit_code: isInKernel ? null : exitCodeOf(cell),
      traceback: tracebackOf(cell),
      session_id: key === null ? null : sessionId(session),
    };
    return new Answer(data, describeRun(ran));
  },
});

const CodeLanguageInfo = namedObject('CodeLanguageInfo', {
  language: CodeLanguage,
  description: z.string(),
  runtime_version: z.string().nullable(),
  default_timeout: z.int().describe('Seconds.'),
  max_timeout: z.int().describe('Seconds.'),
  details: z.record(z.string(), z.unknown()),
});

const descriptions: Readonly<Record<Language, string>> = {
  python: 'Python, in a Jupyter kernel where there is one',
  javascript: 'JavaScript, in Node.js',
};

export const codeInfo = route({
  operation: 'code.info_v1',
  method: 'GET',
  path: '/v1/code/info',
  summary: 'List the languages that can be run',
  data: namedObject('CodeInfoResponse', { languages: z.array(CodeLanguageInfo) }),
  async handle(deps) {
    const { languages: known } = await deps.codeInfo.look();
    return { languages: await Promise.all(languages.map((language) => describeLanguage(deps, language, known))) };
  },
});

async function describeLanguage(
  { toolchains }: V1Deps,
  language: Language,
  known: CodeRuntimes['languages'],
): Promise<z.input<typeof CodeLanguageInfo>> {
  const { backend, backends, path } = known[language];
  return {
    language,
    description: descriptions[language],
    // The version is looked up by name, and the name resolves to this path because it is the first one on PATH.
    runtime_version: path === null ? null : await toolchains.versionOf(path.slice(path.lastIndexOf('/') + 1)),
    default_timeout: timeLimits.default,
    max_timeout: timeLimits.max,
    details: { available: backend !== null, backend, path, kernels: backends.flatMap(({ kernels }) => kernels) },
  };
}
