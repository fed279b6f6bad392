/** Finds the collected nodes that a query asks for. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { OpenWorker } from '../../../platform/host/workers.ts';
import type { CollectedNode } from './collect.ts';
import type { NamesAnswer, NamesQuestion } from './pattern-worker.ts';
import type { NodeQuery } from './query.ts';
import { normalRole } from './role-names.ts';
import { allStateNames, hasState, isStateName, normalState, type StateName } from './states.ts';

export type Criteria = Pick<NodeQuery, 'role' | 'name' | 'match' | 'states'>;

/** The criteria of a query after validation. */
export interface Filter {
  readonly role: string | null;
  readonly name: string | null;
  readonly match: NodeQuery['match'];
  readonly states: readonly StateName[];
}

/** Throws `bad_argument` for an unknown state, and for a pattern that does not compile. */
export function filterOf({ role, name, match, states }: Criteria): Filter {
  const known = states.map(normalState);
  const unknown = known.find((state) => !isStateName(state));
  if (unknown !== undefined) {
    throw new CoreError('bad_argument', `states contains ${JSON.stringify(unknown)}, which is not a state of AT-SPI`, {
      hint: `Use ${allStateNames.slice(1).join(', ')}.`,
    });
  }
  if (name !== null && match === 'regex') checkPattern(name);
  return { role: role === null ? null : normalRole(role), name, match, states: known.filter(isStateName) };
}

export function isEmpty({ role, name, states }: Filter): boolean {
  return role === null && name === null && states.length === 0;
}

/** The nodes that match, in the order of the tree. Throws `bad_argument` for a pattern that takes too long. */
export async function matching(
  nodes: readonly CollectedNode[],
  filter: Filter,
  { openWorker, signal }: { readonly openWorker: OpenWorker; readonly signal: AbortSignal },
): Promise<readonly CollectedNode[]> {
  const { role, name, match, states } = filter;
  const alike = nodes.filter(
    ({ object }) =>
      (role === null || normalRole(object.role) === role) && states.every((state) => hasState(object.states, state)),
  );
  if (name === null) return alike;
  if (match === 'exact') return alike.filter(({ object }) => object.name === name);
  if (match === 'regex') return await byPattern(alike, name, openWorker, signal);
  const wanted = name.toLowerCase();
  return alike.filter(({ object }) => object.name.toLowerCase().includes(wanted));
}

/** Every node below the roots, depth first. */
export function flat(roots: readonly CollectedNode[]): CollectedNode[] {
  return roots.flatMap((root) => [root, ...flat(root.children)]);
}

/** The tree of the wanted nodes and their ancestors. */
export function keepOnly(roots: readonly CollectedNode[], wanted: ReadonlySet<CollectedNode>): CollectedNode[] {
  return roots.flatMap((root) => {
    const children = keepOnly(root.children, wanted);
    return wanted.has(root) || children.length > 0 ? [{ object: root.object, children }] : [];
  });
}

async function byPattern(
  nodes: readonly CollectedNode[],
  pattern: string,
  openWorker: OpenWorker,
  signal: AbortSignal,
): Promise<readonly CollectedNode[]> {
  using worker = openWorker('core/desktop/accessibility/pattern-worker');
  const question: NamesQuestion = { pattern, names: nodes.map(({ object }) => object.name) };
  const answer = (await worker.ask(question, signal)) as NamesAnswer | null;
  if (answer === null) {
    throw new CoreError('bad_argument', `name takes too long to look for in ${nodes.length} nodes`, {
      advice: advise`Avoid nested repetitions such as (a+)+, or pass a larger ${'timeoutMs'}.`,
    });
  }
  return answer.flatMap((index) => nodes[index] ?? []);
}

function checkPattern(pattern: string): void {
  try {
    void new RegExp(pattern);
  } catch (error) {
    throw new CoreError('bad_argument', `name is not a regular expression: ${(error as Error).message}`, {
      hint: 'Use the syntax of JavaScript, or match=substring.',
    });
  }
}
