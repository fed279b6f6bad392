/** Names what a test makes, so that the end of a test run can tell it from what others made meanwhile. */
import { randomUUID } from 'node:crypto';

/** `npm test` sets it to eight hexadecimal digits for all files of a run. */
export const testRunVariable = 'BOXKEEP_TEST_RUN';

/** The id of the run; a file that runs alone has an id of its own. */
export const testRun = process.env[testRunVariable] ?? randomUUID().slice(0, 8);

/** A UUID that begins with the id of the run. */
export const testId = () => testRun + randomUUID().slice(8);
