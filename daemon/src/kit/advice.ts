/** Advice to a caller that names arguments of an operation, which each surface calls by its own names. */

/** Arguments of operations, each with the plane that names it in advice. */
export type ArgumentName =
  | 'cwd'
  // commands
  | 'commandId'
  // files
  | 'cursor'
  | 'endLine'
  | 'ifMatch'
  | 'maxFileSize'
  | 'nextCursor'
  | 'startLine'
  // terminals, code
  | 'sessionId'
  | 'waitFor'
  // browser
  | 'fullPage'
  | 'maxBytes'
  | 'rootRef'
  | 'targetId'
  | 'waitUntil'
  // desktop
  | 'nodeId'
  | 'scaleTo'
  | 'timeoutMs'
  | 'useClipboard';

/** The name of each argument on one surface; null where the surface does not have the argument. */
export type ArgumentNames = Readonly<Record<ArgumentName, string | null>>;

/** One or more sentences: the texts, with an argument between each two of them. */
export interface Advice {
  readonly texts: readonly string[];
  readonly names: readonly ArgumentName[];
}

/** A template: ``advise`Pass another ${'sessionId'}.` ``. */
export function advise(texts: TemplateStringsArray, ...names: readonly ArgumentName[]): Advice {
  return { texts, names };
}

/** The advice with the names of a surface; null where the surface lacks an argument of it. */
export function wordedAdvice({ texts, names }: Advice, argumentNames: ArgumentNames): string | null {
  const own = names.map((name) => argumentNames[name]);
  return own.includes(null) ? null : String.raw({ raw: texts }, ...own);
}
