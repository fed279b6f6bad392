/** Lists the languages of cells and the backends that run them. */

export const languages = ['python', 'javascript'] as const;
export type Language = (typeof languages)[number];

export const languageWords = {
  python: 'python',
  python3: 'python',
  javascript: 'javascript',
  js: 'javascript',
  node: 'javascript',
  nodejs: 'javascript',
} as const satisfies Readonly<Record<string, Language>>;

/** Maps the language of a kernelspec to the language in a request. Languages without their own word use Python. */
export function kernelLanguage(language: string): Language {
  return ['javascript', 'typescript'].includes(language) ? 'javascript' : 'python';
}

export const languageWordList = Object.keys(languageWords) as [keyof typeof languageWords];

/** native and node: programs of the image. kernel: an ipykernel of the daemon. jupyter: a Jupyter server's kernel. */
export const codeBackends = ['native', 'node', 'kernel', 'jupyter'] as const;
export type CodeBackendName = (typeof codeBackends)[number];

/** Kernels use much memory and have their own limits. */
export const poolKinds = ['repl', 'kernel'] as const;
export type PoolKind = (typeof poolKinds)[number];

export function poolKindOf(backend: CodeBackendName): PoolKind {
  return backend === 'kernel' || backend === 'jupyter' ? 'kernel' : 'repl';
}
