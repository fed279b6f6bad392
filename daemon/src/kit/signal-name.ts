/** Maps signal numbers to names. */
import { constants } from 'node:os';

/** Some numbers have two names. The usual name comes first in the table: SIGABRT before SIGIOT for 6. */
const names = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
);

export function signalName(number: number): string {
  return names.get(number) ?? `SIG${number}`;
}
