/** Advice to a caller that names arguments of an operation, which each surface calls by its own names. */

/** Arguments of operations, each with the plane that names it in advice. */
export const argumentNames = [
  'cwd',
  // commands
  'commandId',
  // files
  'cursor',
  'endLine',
  'ifMatch',
  'maxFileSize',
  'nextCursor',
  'startLine',
  // terminals, code
  'sessionId',
  'waitFor',
  // browser
  'fullPage',
  'maxBytes',
  'rootRef',
  'targetId',
  'timeout',
  'waitUntil',
  // desktop
  'nodeId',
  'scaleTo',
  'timeoutMs',
  'useClipboard',
] as const;

export type ArgumentName = (typeof argumentNames)[number];

/** The name of each argument on one surface; null where the surface does not have the argument. */
export type ArgumentNames = Readonly<Record<ArgumentName, string | null>>;

/** What stands between two texts of advice: an argument, or a number as it is. */
type Slot = ArgumentName | number;

/** One or more sentences: the texts, with a slot between each two of them. */
export interface Advice {
  readonly texts: readonly string[];
  readonly slots: readonly Slot[];
}

/** A template: ``advise`Pass another ${'sessionId'} of at most ${90} bytes.` ``. */
export function advise(texts: TemplateStringsArray, ...slots: readonly Slot[]): Advice {
  return { texts, slots };
}

/** The advice with the names of a surface; null where the surface lacks an argument of it. */
export function wordedAdvice({ texts, slots }: Advice, names: ArgumentNames): string | null {
  const own = slots.map((slot) => (typeof slot === 'number' ? slot : names[slot]));
  return own.includes(null) ? null : String.raw({ raw: texts }, ...own);
}
