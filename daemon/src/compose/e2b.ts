/** Constructs what serves the protocol of E2B, on ports of its own. */
import { loadE2b, type E2bDeps } from '../api.ts';
import type { AppDeps, FurtherPort } from '../http/app.ts';
import type { Planes } from '../operations/planes.ts';
import { isNetworkMount } from '../platform/files/mounts.ts';
import { machineMeter, machineSize } from '../platform/host/machine-use.ts';
import { attributesOf, replaceAttributes } from '../platform/host/system-calls.ts';
import { isExecutableFile } from '../platform/process/programs.ts';
import { RecordStore } from '../platform/stores/record-store.ts';
import { settings } from '../config.ts';
import type { Shared } from './shared.ts';

export async function composeE2b(shared: Shared, planes: Planes, app: AppDeps): Promise<FurtherPort[]> {
  const { accounts, config, onFault, ownership, runtimeDirectory } = shared;
  if (config.e2b === 'off') return [];
  const { Defaults, control, controlPlanes, envd, envdPlanes, interpreter, interpreterPlanes } = await loadE2b();
  // Imported here, because most daemons do not serve E2B.
  const { formatsProgram } = await import('../assets/e2b.ts');
  const store = new RecordStore<E2bDeps['defaults']['values']>({
    path: `${runtimeDirectory}/e2b.json`,
    what: 'the defaults of E2B',
    ...{ onFault, ownership },
  });
  const deps = {
    ...planes,
    accounts,
    apiKey: app.apiKey,
    attributes: { of: attributesOf, replace: replaceAttributes },
    defaults: new Defaults(store),
    formats: formatsProgram,
    isProgram: isExecutableFile,
    isNetworkMount,
    machineSize,
    machineUse: machineMeter(),
    onFault: (error: unknown) => onFault('a bug', error),
  };
  const at = (port: number, { variable }: { readonly variable: string }, served: Partial<AppDeps>): FurtherPort => ({
    port,
    variable,
    app: { ...app, routes: [], ...served },
  });
  const { e2bPort, e2bCodePort, e2bApiPort } = config;
  return [
    at(e2bPort, settings.e2bPort, { ...envd, planes: envdPlanes(deps) }),
    at(e2bCodePort, settings.e2bCodePort, { ...interpreter, planes: interpreterPlanes(deps) }),
    at(e2bApiPort, settings.e2bApiPort, { ...control, planes: controlPlanes(deps) }),
  ].filter(({ port }) => port !== 0);
}
