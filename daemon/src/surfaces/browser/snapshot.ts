/** The routes that return what a page shows, as a tree whose nodes have refs. */
import { z } from 'zod';
import type { CallEffects } from '../../core/browser/browser.ts';
import type { Query } from '../../core/browser/snapshot/find.ts';
import { defaultMaxBytes, type SnapshotAnswer } from '../../core/browser/snapshot/snapshot.ts';
import { Answer } from '../../kit/answer.ts';
import type { RequestContext } from '../../http/route/context.ts';
import { browserRoute, type BrowserDeps } from './app.ts';
import { needingOneOf, pageCall, pageOptions } from './inputs.ts';
import { effects, effectsView } from './views.ts';
import { namedObject } from '../../operations/inputs.ts';

const SnapshotNode = z
  .object({
    role: z.string(),
    name: z.string(),
    ref: z.string().nullable(),
    value: z.string().nullable(),
    states: z.array(z.string()),
    get children() {
      return z.array(SnapshotNode);
    },
    omitted: z.int().optional().describe('Nodes below this one that the answer leaves out.'),
  })
  .meta({ id: 'SnapshotNode' });

const node = SnapshotNode.pick({ role: true, name: true, ref: true, value: true, states: true }).shape;
const parent = z.string().nullable().describe('The ref of the nearest node above.');

const SnapshotDiff = namedObject('SnapshotDiff', {
  added: z.array(SnapshotNode.extend({ parent })),
  removed: z.array(z.object({ role: z.string(), name: z.string(), ref: z.string().nullable(), parent })),
  changed: z.array(
    z.object({
      ...node,
      before: z.object(node).omit({ ref: true }),
    }),
  ),
});

const SnapshotMatches = namedObject('SnapshotMatches', {
  matches: z.array(z.object({ ...node, path: z.array(z.string()).describe('The named nodes above.') })),
  total: z.int().describe('All nodes that match; at most 200 are listed.'),
});

const selection = {
  interactive_only: z.boolean().default(false).describe('Only what can be acted on.'),
  max_bytes: z
    .int()
    .min(1)
    .optional()
    .describe(`The most bytes of data as JSON, ${defaultMaxBytes} by default; what is left out is counted.`),
  depth: z.int().min(1).optional().describe('Levels below the root.'),
  root_ref: z.string().optional().describe('Only this node and what is below it.'),
  format: z.enum(['tree', 'text']).default('tree'),
  diff_from: z.string().optional().describe('The snapshot_id to compare with; the answer has only the changes.'),
  ...pageCall,
};

const query = {
  role: z.string().min(1).optional(),
  name: z.string().min(1).optional().describe('A part of the name, upper and lower case alike.'),
  text: z.string().min(1).optional().describe('A part of a name, a text or a value.'),
};

const maxWaitSeconds = 600;
const defaultWaitSeconds = 10;

const Condition = needingOneOf(
  {
    ...query,
    ref: z.string().optional(),
    gone: z.boolean().default(false).describe('Wait until nothing matches any more.'),
    timeout: z.number().gt(0).max(maxWaitSeconds).default(defaultWaitSeconds).describe('Seconds.'),
  },
  ['text', 'role', 'name', 'ref'],
);

const Selection = z.object(selection);
const FullSelection = z.object({
  ...selection,
  find: needingOneOf(query, ['role', 'name', 'text'])
    .optional()
    .describe('Answers the nodes that match every field, without the tree.'),
  wait_for: Condition.optional().describe('Waits for a node before the snapshot is taken.'),
});

type Fields = z.output<typeof FullSelection>;

const shared = {
  summary: 'Read what a page shows, with refs to its elements',
  path: '/browser/snapshot',
  data: z.union([SnapshotNode, SnapshotDiff, SnapshotMatches, z.string()]),
  top: z.object({
    snapshot_id: z.string().optional().describe('For diff_from.'),
    diff_from: z
      .string()
      .nullable()
      .optional()
      .describe('The snapshot that data was compared with; null for a whole tree.'),
    truncated: z
      .object({ nodes: z.int(), bytes: z.int() })
      .nullable()
      .optional()
      .describe('What max_bytes left out. Nodes with omitted show it by root_ref.'),
    incomplete: z
      .array(z.object({ reason: z.string(), elements: z.int(), characters: z.int() }))
      .optional()
      .describe('What was left out of very large documents.'),
    ...effects,
  }),
  errors: ['unavailable', 'bad_argument', 'tab_not_found', 'ref_stale', 'ref_malformed', 'page_timeout'],
} as const;

export const getSnapshot = browserRoute({
  ...shared,
  operation: 'browser.snapshot',
  method: 'GET',
  query: Selection,
  handle: (deps, { query: fields, context }) => take(deps, fields, context),
});

export const postSnapshot = browserRoute({
  ...shared,
  operation: 'browser.snapshot_by_body',
  method: 'POST',
  body: FullSelection,
  handle: (deps, { body, context }) => take(deps, body, context),
});

async function take({ browserBackend }: BrowserDeps, fields: Fields, context: RequestContext) {
  const wait = fields.wait_for?.timeout ?? 0;
  // A wait has its own limit, which the limit of the call does not shorten unless the caller says so.
  const timeout = fields.timeout ?? Math.min(maxWaitSeconds, defaultCallSeconds + wait);
  const spec = { ...pageOptions(fields, context), timeout, ...requestOf(fields) };
  const { value, effects: caused } = await browserBackend.snapshot(spec);
  return answerOf(value, fields.diff_from ?? null, caused);
}

const defaultCallSeconds = 30;

function requestOf(fields: Fields) {
  const { find, wait_for: wait } = fields;
  return {
    interactiveOnly: fields.interactive_only,
    depth: fields.depth ?? null,
    rootRef: fields.root_ref ?? null,
    format: fields.format,
    maxBytes: fields.max_bytes ?? null,
    diffFrom: fields.diff_from ?? null,
    find: find === undefined ? null : queryOf(find),
    waitFor:
      wait === undefined
        ? null
        : { ...queryOf(wait), ref: wait.ref ?? null, isGone: wait.gone, timeoutMs: wait.timeout * 1000 },
  };
}

function queryOf({ role, name, text }: Partial<Record<'role' | 'name' | 'text', string | undefined>>): Query {
  return { role: role ?? null, name: name ?? null, text: text ?? null };
}

function answerOf(
  answer: SnapshotAnswer,
  wanted: string | null,
  caused: CallEffects,
): Answer<z.input<typeof shared.data>> {
  const { content, id, diffFrom, truncated, cuts } = answer;
  const isUnknown = wanted !== null && diffFrom === null;
  return new Answer(content as z.input<typeof shared.data>, {
    ...(truncated && { message: `${truncated.nodes} nodes are left out; pass max_bytes, or the root_ref of a part` }),
    ...(isUnknown && { message: `snapshot ${wanted} is not kept any more; this is the whole page` }),
    top: {
      ...(wanted !== null && { diff_from: diffFrom }),
      ...(id !== null && { snapshot_id: id, truncated }),
      ...(cuts.length > 0 && { incomplete: cuts }),
      ...effectsView(caused),
    },
  });
}
