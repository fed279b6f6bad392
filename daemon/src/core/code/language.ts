/** The languages that cells are written in, and what runs them. */

export const languages = ['python', 'javascript'] as const;
export type Language = (typeof languages)[number];

/** What a caller may write for each. */
export const languageWords = {
  python: 'python',
  python3: 'python',
  javascript: 'javascript',
  js: 'javascript',
  node: 'javascript',
  nodejs: 'javascript',
} as const satisfies Readonly<Record<string, Language>>;

/** What a kernel has to be asked for with, by the language of its kernelspec. Python stands for all that has no word. */
export function kernelLanguage(language: string): Language {
  return ['javascript', 'typescript'].includes(language) ? 'javascript' : 'python';
}

export const languageWordList = Object.keys(languageWords) as [keyof typeof languageWords];

/** native: a Python of the image. kernel: an ipykernel that the daemon starts. jupyter: a kernel of a Jupyter server. */
export const codeBackends = ['native', 'node', 'kernel', 'jupyter'] as const;
export type CodeBackendName = (typeof codeBackends)[number];

/** Kernels are large and have limits of their own. */
export const poolKinds = ['repl', 'kernel'] as const;
export type PoolKind = (typeof poolKinds)[number];

export function poolKindOf(backend: CodeBackendName): PoolKind {
  return backend === 'kernel' || backend === 'jupyter' ? 'kernel' : 'repl';
}
