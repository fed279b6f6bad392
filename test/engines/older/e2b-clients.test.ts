/** Older SDKs of E2B for Python: the same calls, with the differences that test/clients/e2b/results.json explains. */
import { clientTest, pythonClients } from '../../harness/e2b-clients.ts';

clientTest(
  'E2B-CLIENTS every call of an older client has its result',
  ['2.21', '2.25', '2.29', '2.51'].flatMap((version) =>
    pythonClients(version, `clients/e2b/${version}`, { codeOnlyInDebugMode: ['2.21', '2.25'].includes(version) }),
  ),
);
