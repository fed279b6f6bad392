/** Translates the actions on an element into commands of the agent-browser CLI, as far as the CLI has them. */
import { CoreError } from '../../../../kit/errors.ts';
import type { ClickSpec } from '../../actions/click.ts';
import type { FillSpec } from '../../actions/fill.ts';
import type { SnapshotSpec } from '../../snapshot/snapshot.ts';

/** A command of the CLI with its values; the ref of the element comes between. */
export type Command = readonly [verb: string, ...values: string[]];

/** What a snapshot can be asked for, and the CLI lacks. */
const unsupported = {
  find: 'find nodes',
  waitFor: 'wait for nodes',
  diffFrom: 'compare snapshots',
  rootRef: 'take a part of a page',
  maxBytes: 'limit the size of a snapshot',
} as const;

/** The options of the CLI for a snapshot. */
export function snapshotOptions(spec: SnapshotSpec): string {
  for (const [name, what] of Object.entries(unsupported)) {
    if (spec[name as keyof typeof unsupported] === null) continue;
    throw new CoreError('bad_argument', `agent-browser does not ${what}`, {
      hint: 'Leave that out, or unset SVC_AGENT_BROWSER_BIN.',
    });
  }
  const { interactiveOnly, depth } = spec;
  return [...(interactiveOnly ? ['-i'] : []), ...(depth === null ? [] : ['-d', String(depth)])].join(' ');
}

export function clickCommand({ button, count, modifiers, position, isHover, dragTo, press }: ClickSpec): Command {
  assertNoKeys(press);
  if (button !== 'left' || count > 2 || modifiers.length > 0 || position !== null) {
    throw new CoreError('bad_argument', 'agent-browser clicks with the left button, once or twice, without modifiers', {
      hint: 'Leave out button, modifiers and position, or pass a selector instead of the ref.',
    });
  }
  if (dragTo !== null) {
    const { element } = dragTo;
    if ('ref' in element) return ['drag', `@${element.ref}`];
    throw new CoreError('bad_argument', 'agent-browser drags to a ref', { hint: 'Pass the ref of the destination.' });
  }
  if (isHover) return ['hover'];
  return [count === 2 ? 'dblclick' : 'click'];
}

export function fillCommand({ value, press }: FillSpec): Command {
  assertNoKeys(press);
  if (typeof value === 'boolean') return [value ? 'check' : 'uncheck'];
  if (typeof value === 'object' && value !== null) return ['select', ...value];
  return ['fill', String(value ?? '')];
}

function assertNoKeys(press: readonly string[]): void {
  if (press.length === 0) return;
  throw new CoreError('bad_argument', 'agent-browser presses no keys', {
    hint: 'Leave out press, or pass a selector instead of the ref.',
  });
}
