/** The newest SDKs of E2B: every call of docs/reference/e2b.md, with its result, in each way to connect. */
import { clientTest, javascriptClient, pythonClients } from '../harness/e2b-clients.ts';

clientTest('E2B-CLIENTS E2B-COMMANDS E2B-FILES every call has its result', [
  ...pythonClients('2.63'),
  javascriptClient,
]);
