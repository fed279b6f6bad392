/** A program that makes calls of boxkeep with a client of this repository, and takes the time itself. */
import { join } from 'node:path';
import { virtualEnvironment } from '../install.ts';
import { LineProgram } from './line-program.ts';

export const callNames = ['run', 'rawRun', 'output', 'rawOutput'] as const;
type CallName = (typeof callNames)[number];

const root = join(import.meta.dirname, '../..');
const releases = ['httpx2==2.16.2', 'websockets==17.4'];

export class ClientProgram extends LineProgram {
  /** In Node. The client is bundled into the directory. */
  static async inNode(address: string, directory: string): Promise<ClientProgram> {
    const { outputs } = await Bun.build({
      entrypoints: [join(root, 'clients/typescript/src/index.ts')],
      target: 'browser',
    });
    const bundle = join(directory, 'boxkeep.mjs');
    await Bun.write(bundle, outputs[0]!);
    return new ClientProgram(['node', join(import.meta.dirname, 'client-calls.mjs'), bundle, address]);
  }

  static inPython(address: string): ClientProgram {
    const place = virtualEnvironment({ name: releases.join('+'), packages: releases, program: 'httpx2' });
    const command = [join(place, 'bin/python'), '-B', join(import.meta.dirname, 'client-calls.py'), address];
    return new ClientProgram(command, { PYTHONPATH: join(root, 'clients/python/src') });
  }

  /** Makes a call some times, and returns the milliseconds of each. Throws where a call does not return `expected`. */
  async times(
    name: CallName,
    count: number,
    isRight: (value: number) => boolean,
    ...words: string[]
  ): Promise<number[]> {
    const answers = (await this.ask([name, count, ...words])) as [number, number][];
    return answers.map(([ms, value]) => {
      if (!isRight(value)) throw new Error(`${name} returned ${value}`);
      return ms;
    });
  }
}
