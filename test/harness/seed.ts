/** One seed for everything that tests generate: BOXKEEP_SEED, or a fixed number, so that a failure can be repeated. */
import fc from 'fast-check';

export const seed = Number(process.env['BOXKEEP_SEED'] ?? 20_261_121);

fc.configureGlobal({ seed });
console.log(`BOXKEEP_SEED=${seed}`); // The test run prints the output of a file that fails.

export { fc };
