/** Makes the generated modules of the Python client: of the description, and of the asynchronous modules. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../repository.mjs';
import { shapeOfDocument } from '../operation-shapes.ts';
import { callsOf } from './calls.ts';
import { synchronous } from './sync.ts';
import { typesOf } from './types.ts';
import { wireOf } from './wire.ts';

const folder = 'clients/python/src/boxkeep';
const callsFile = '_calls.py';

/** The path and the content of each file. */
export function pythonClient(description: object): Map<string, string> {
  const document = shapeOfDocument(description);
  const { version } = (description as { readonly info: { readonly version: string } }).info;
  const modules = new Map([[callsFile, callsOf(document)]]);
  for (const name of readdirSync(join(repositoryRoot, folder, '_async')).filter((one) => one.endsWith('.py')))
    if (name !== callsFile) modules.set(name, readFileSync(join(repositoryRoot, folder, '_async', name), 'utf8'));
  return new Map([
    [`${folder}/types.py`, typesOf(document)],
    [`${folder}/_wire.py`, wireOf(document, version)],
    [`${folder}/_async/${callsFile}`, modules.get(callsFile) ?? ''],
    ...[...modules].map(([name, text]): [string, string] => [`${folder}/_sync/${name}`, synchronous(text)]),
  ]);
}
