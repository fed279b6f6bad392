/** The v2 route that lists the languages and kernels that can run code. */
import { z } from 'zod';
import type { LanguageRecord } from '../../core/code/info.ts';
import { codeBackends, languageWords, type Language, type PoolKind } from '../../core/code/language.ts';
import type { SessionLimits } from '../../core/code/sessions/requests.ts';
import { route } from './app.ts';
import { namedObject } from '../../operations/inputs.ts';

const Runtime = namedObject('CodeRuntime', {
  available: z.boolean(),
  aliases: z.array(z.string()).describe('Other names of the language.'),
  backend: z.enum(codeBackends).nullable().describe('The backend in use; null when none is usable.'),
  backends: z
    .array(
      z.object({
        name: z.enum(codeBackends),
        available: z.boolean(),
        missing: z.string().nullable().describe('What the backend lacks; null when it is usable.'),
        kernels: z.array(z.string()).describe('The default one first.'),
      }),
    )
    .describe('Best backend first.'),
  version: z.string().nullable().describe('Version of the interpreter on PATH; null while unknown.'),
  path: z.string().nullable(),
});

const Limits = z.object({
  max_sessions: z.int(),
  idle_timeout: z.number().describe('Seconds.'),
});

export const codeInfo = route({
  operation: 'code.info',
  method: 'GET',
  path: '/v2/code/info',
  summary: 'List the languages, their backends and their limits',
  data: z.object({
    languages: z.object({ python: Runtime, javascript: Runtime }),
    limits: z.object({
      default_timeout: z.number().describe('Seconds.'),
      max_timeout: z.number().describe('Seconds.'),
      max_output_length: z.int().describe('Characters of one cell.'),
      interpreters: Limits,
      kernels: Limits,
    }),
  }),
  async handle({ codeInfo: info }) {
    const { languages, limits } = await info.look();
    return {
      languages: {
        python: runtime('python', languages.python),
        javascript: runtime('javascript', languages.javascript),
      },
      limits: {
        default_timeout: 30,
        max_timeout: 900,
        max_output_length: limits.maxCharacters,
        interpreters: sessionLimits(limits.sessions, 'repl'),
        kernels: sessionLimits(limits.sessions, 'kernel'),
      },
    };
  },
});

function runtime(language: Language, { backend, backends, path, version }: LanguageRecord): z.input<typeof Runtime> {
  const aliases = Object.entries(languageWords).filter(([word, of]) => of === language && word !== language);
  return {
    available: backend !== null,
    aliases: aliases.map(([word]) => word),
    backend,
    backends: backends.map(({ name, missing, kernels }) => ({
      ...{ name, missing, available: missing === null },
      kernels: [...kernels],
    })),
    version,
    path,
  };
}

function sessionLimits(limits: Readonly<Record<PoolKind, SessionLimits>>, kind: PoolKind): z.input<typeof Limits> {
  return { max_sessions: limits[kind].max, idle_timeout: limits[kind].idleMs / 1000 };
}
