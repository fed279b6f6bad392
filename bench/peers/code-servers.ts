/** The servers of a code row: three interpreter backends of boxkeep, the gateway, and plain interpreters. */
import type { Field } from '../rows/row.ts';
import type { CodeServer } from './code.ts';
import { kernelPrograms, openKernelGateway } from './kernel-gateway.ts';
import { plainInterpreters } from './plain-code.ts';
import { codeOf } from './boxkeep-code.ts';

export interface CodeServers extends AsyncDisposable {
  /** boxkeep with kernels comes first. */
  readonly all: readonly CodeServer[];
}

export interface CodeServersOptions {
  /** How many spare interpreters of each kind boxkeep keeps. */
  readonly spare: number;
  /** How many kernels the gateway starts in advance. */
  readonly gatewaySpare: number;
  /** How the plain interpreters run code: a program for each cell, or one program that is fed with cells. */
  readonly plain: 'once' | 'fed';
}

/** boxkeep and the gateway use the same kernels and the same Python. */
export async function openCodeServers(
  { openBoxkeepIn, limitFor }: Field,
  { spare, gatewaySpare, plain }: CodeServersOptions,
): Promise<CodeServers> {
  const path = `${kernelPrograms()}:${process.env['PATH']}`;
  await using opening = new AsyncDisposableStack();
  const open = async (backend: string, ...flags: string[]) =>
    opening.use(await openBoxkeepIn({ PATH: path }, '--code-backend', backend, ...flags));
  const withKernels = await open('kernel', '--kernel-prewarm', String(spare));
  const native = await open('native', '--code-prewarm', String(spare));
  const gateway = opening.use(await openKernelGateway(limitFor('gateway'), { spare: gatewaySpare }));
  const opened = opening.move();
  return {
    all: [
      codeOf(withKernels, 'boxkeep', 'python'),
      codeOf(native, 'native Python', 'python'),
      codeOf(native, 'Node', 'javascript'),
      gateway,
      ...plainInterpreters(limitFor('plain'), path, plain),
    ],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
