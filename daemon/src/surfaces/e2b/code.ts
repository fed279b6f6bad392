/** The code interpreter of E2B: contexts that keep their state, and cells as JSON lines. Port 49999, and 49983 too. */
import { z } from 'zod';
import type { Cell } from '../../core/code/cells/cell.ts';
import { kernelLanguage, languageWords, type Language } from '../../core/code/language.ts';
import type { NewSession } from '../../core/code/sessions/requests.ts';
import type { CodeSession } from '../../core/code/sessions/session.ts';
import { routesFor } from '../../http/route/route.ts';
import { NdjsonStream } from '../../http/stream/ndjson.ts';
import { CoreError } from '../../kit/errors.ts';
import { mintId } from '../../kit/ids.ts';
import { environment, systemText } from '../../operations/inputs.ts';
import type { E2bDeps } from './app.ts';
import { codeLines, type CodeLine } from './code-lines.ts';
import { plainFailure } from './failure.ts';
import { contextPrefix } from './names.ts';

const route = routesFor<E2bDeps>({ refuse: plainFailure });

/** A client decides itself how long it waits for a cell. */
const longestMs = 7 * 24 * 3600 * 1000;
/** Contexts end only when they are deleted. */
const neverIdleMs = Number.MAX_SAFE_INTEGER;

const languageNames: ReadonlyMap<string, string> = new Map(Object.entries({ ...languageWords, ts: 'typescript' }));

function languageNamed(given: string | null | undefined): string {
  const name = (given || 'python').toLowerCase();
  return languageNames.get(name) ?? name;
}

/** Other languages need a kernel of their name. */
function interpreterOf(name: string): { readonly language: Language; readonly kernel: string | null } {
  return name === 'python' || name === 'javascript'
    ? { language: name, kernel: null }
    : { language: kernelLanguage(name), kernel: name };
}

/** The contexts that exist without being made: each starts with its first cell. */
const usual = ['python', 'javascript'].map((language) => ({ id: `${contextPrefix}${language}`, language }));

function spec({ defaults }: E2bDeps, id: string, language: string, cwd: string | null): NewSession {
  const { env, user, directory } = defaults.values;
  return { id, ...interpreterOf(language), cwd: cwd ?? directory, env, user, idleMs: neverIdleMs };
}

const usualLanguage = (id: string) => usual.find((one) => one.id === id)?.language;

/** Null for a context that exists without being made, before its first cell. Throws `session_not_found`. */
async function madeContext(deps: E2bDeps, id: string): Promise<CodeSession | null> {
  const found = id.startsWith(contextPrefix) ? await deps.code.find(id) : null;
  if (found || usualLanguage(id)) return found;
  throw new CoreError('session_not_found', `Context ${id} not found`);
}

/** Throws `session_not_found`. */
async function contextOf(deps: E2bDeps, id: string): Promise<CodeSession> {
  const made = await madeContext(deps, id);
  return made ?? (await deps.code.obtain(spec(deps, id, usualLanguage(id) ?? '', null))).session;
}

const viewOf = ({ id, record }: CodeSession) => ({
  id,
  language: record.kernel ?? record.language,
  cwd: record.cwd,
});

const json = { contentType: 'application/json', description: 'A context has id, language and cwd.' } as const;
const startErrors = ['bad_argument', 'kernel_unknown', 'capacity_reached', 'unavailable', 'no_space_left'] as const;
const ContextPath = z.object({ id: z.string() });

export const execute = route({
  operation: 'e2b.execute',
  method: 'POST',
  path: '/execute',
  summary: 'Run code in a context, and stream what it shows',
  body: z.object({
    code: z.string(),
    context_id: z.string().nullish(),
    language: z.string().nullish(),
    env_vars: environment.nullish().describe('For this cell only.'),
  }),
  lines: z.custom<CodeLine>().describe('Each line has a type; the last one is end_of_execution.'),
  errors: ['session_not_found', 'session_busy', ...startErrors],
  async handle(deps, { body, context: { signal } }) {
    const { code, context_id: id, language, env_vars: vars } = body;
    if (id && language) throw new CoreError('bad_argument', 'Only one of context_id or language can be provided');
    const name = languageNamed(language);
    const session = id
      ? await contextOf(deps, id)
      : (await deps.code.obtain(spec(deps, `${contextPrefix}${name}`, name, null))).session;
    const { cell } = await deps.code.execute(
      {
        ...session.record,
        ...{ code, sessionId: session.id, timeoutMs: longestMs, cwd: null },
        env: newDefaults(deps, session),
        cellEnv: vars ?? {},
        formats: deps.formats,
      },
      deps.closing,
    );
    cancelWith(deps, session, cell, signal);
    return new NdjsonStream((gone) => codeLines(cell, gone, deps.closing));
  },
});

/**
 * The variables of `POST /init` that the context does not have yet. Code may have changed those that it has. Other
 * kernels than those of Python keep the variables that they have started with.
 */
function newDefaults({ defaults }: E2bDeps, { record }: CodeSession): Record<string, string> {
  if (record.kernel !== null) return {};
  return Object.fromEntries(Object.entries(defaults.values.env).filter(([name, value]) => record.env[name] !== value));
}

/** A cell whose client has gone ends too, so that the next one does not wait behind it. */
function cancelWith(deps: E2bDeps, session: CodeSession, cell: Cell, signal: AbortSignal): void {
  const cancel = () => {
    if (!cell.isOver && !deps.closing.aborted) session.cancel(cell).catch(deps.onFault);
  };
  signal.addEventListener('abort', cancel, { once: true });
  // The client may go while the interpreter starts.
  if (signal.aborted) cancel();
}

export const createContext = route({
  operation: 'e2b.create_context',
  method: 'POST',
  path: '/contexts',
  summary: 'Make a context',
  body: z.object({ language: z.string().nullish(), cwd: systemText.nullish() }),
  raw: json,
  errors: startErrors,
  async handle(deps, { body }) {
    const asked = spec(deps, mintId(`${contextPrefix}context`), languageNamed(body.language), body.cwd || null);
    return Response.json(viewOf((await deps.code.obtain(asked)).session));
  },
});

export const listContexts = route({
  operation: 'e2b.list_contexts',
  method: 'GET',
  path: '/contexts',
  summary: 'List the contexts, the oldest first',
  raw: json,
  handle(deps) {
    const made = deps.code.list().filter(({ id }) => id.startsWith(contextPrefix));
    const { user, directory } = deps.defaults.values;
    const cwd = directory ?? deps.files.paths.resolve('.', user);
    const notMade = usual.filter(({ id }) => !made.some((session) => session.id === id));
    return Response.json([...notMade.map((one) => ({ ...one, cwd })), ...made.map(viewOf)]);
  },
});

export const restartContext = route({
  operation: 'e2b.restart_context',
  method: 'POST',
  path: '/contexts/{id}/restart',
  summary: 'Give a context a new interpreter, without the state',
  params: ContextPath,
  raw: json,
  errors: ['session_not_found', ...startErrors],
  async handle(deps, { params }) {
    await (await madeContext(deps, params.id))?.restart();
    return Response.json(null);
  },
});

export const deleteContext = route({
  operation: 'e2b.delete_context',
  method: 'DELETE',
  path: '/contexts/{id}',
  summary: 'Delete a context',
  params: ContextPath,
  raw: json,
  errors: ['session_not_found', 'unavailable'],
  async handle(deps, { params }) {
    const made = await madeContext(deps, params.id);
    if (made) await deps.code.close(made.id);
    return Response.json(null);
  },
});
