/** All that run code in the same row: the three interpreters of sandboxd, the gateway, and the interpreters alone. */
import type { Field } from '../rows/row.ts';
import type { CodeServer } from './code.ts';
import { kernelPrograms, openKernelGateway } from './kernel-gateway.ts';
import { plainInterpreters } from './plain-code.ts';
import { codeOf } from './sandboxd-code.ts';

export interface CodeServers extends AsyncDisposable {
  /** sandboxd with kernels first. */
  readonly all: readonly CodeServer[];
}

export interface CodeServersOptions {
  /** Interpreters that sandboxd keeps spare, of each kind. */
  readonly spare: number;
  /** Kernels that the gateway starts with itself. */
  readonly gatewaySpare: number;
  /** How the interpreters alone run code: a program for each cell, or one that is fed with cells. */
  readonly plain: 'once' | 'fed';
}

/** The kernels of sandboxd are those of the gateway, and its Python is the same one. */
export async function openCodeServers(
  { openSandboxdIn, limitFor }: Field,
  { spare, gatewaySpare, plain }: CodeServersOptions,
): Promise<CodeServers> {
  const path = `${kernelPrograms()}:${process.env['PATH']}`;
  await using opening = new AsyncDisposableStack();
  const open = async (backend: string, ...flags: string[]) =>
    opening.use(await openSandboxdIn({ PATH: path }, '--code-backend', backend, ...flags));
  const withKernels = await open('kernel', '--kernel-prewarm', String(spare));
  const native = await open('native', '--code-prewarm', String(spare));
  const gateway = opening.use(await openKernelGateway(limitFor('gateway'), { spare: gatewaySpare }));
  const opened = opening.move();
  return {
    all: [
      codeOf(withKernels, 'sandboxd', 'python'),
      codeOf(native, 'native Python', 'python'),
      codeOf(native, 'Node', 'javascript'),
      gateway,
      ...plainInterpreters(limitFor('plain'), path, plain),
    ],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
