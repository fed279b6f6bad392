/** Works with files of this machine, whose failures are one line for people. */
import { BoxError } from '../../../../clients/typescript/src/index.ts';
import { errnoOf, wordsOfErrno } from '../../kit/errno.ts';
import { ClientFailure } from './failure.ts';

export async function onThisMachine<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BoxError) throw error; // The daemon failed while its bytes were written here.
    const name = errnoOf(error);
    throw new ClientFailure(`${path}: ${name === null ? String(error) : wordsOfErrno(name)}`);
  }
}
