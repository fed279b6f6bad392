/** Works with files of this machine, whose failures are one line for people. */
import { errnoOf } from '../../kit/errno.ts';
import { ClientFailure } from './failure.ts';

export async function onThisMachine<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ClientFailure(`${path}: ${errnoOf(error) ?? String(error)}`);
  }
}
