/** Names of signals by their numbers. */
import { constants } from 'node:os';

/** Some numbers have two names, and the usual one comes first: 6 is SIGABRT before it is SIGIOT. */
const names = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
);

export function signalName(number: number): string {
  return names.get(number) ?? `SIG${number}`;
}
