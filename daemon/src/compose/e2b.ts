/** Constructs what serves the protocol of E2B, on ports of its own. */
import { loadE2b } from '../api.ts';
import type { AppDeps, FurtherPort } from '../http/app.ts';
import type { Planes } from '../operations/planes.ts';
import { isNetworkMount } from '../platform/files/mounts.ts';
import { machineMeter } from '../platform/host/machine-use.ts';
import { attributesOf, replaceAttributes } from '../platform/host/system-calls.ts';
import { isExecutableFile } from '../platform/process/programs.ts';
import { RecordStore } from '../platform/stores/record-store.ts';
import { settings } from '../config.ts';
import type { Shared } from './shared.ts';

type StoredDefaults = Parameters<Awaited<ReturnType<typeof loadE2b>>['envdPlanes']>[0]['defaults']['values'];

export async function composeE2b(shared: Shared, planes: Planes, app: AppDeps): Promise<FurtherPort[]> {
  const { accounts, config, onFault, ownership, runtimeDirectory } = shared;
  if (config.e2b === 'off') return [];
  const { BorrowedVariables, Defaults, control, controlPlanes, envd, envdPlanes, interpreter, interpreterPlanes } =
    await loadE2b();
  const store = new RecordStore<StoredDefaults>({
    path: `${runtimeDirectory}/e2b.json`,
    what: 'the defaults of E2B',
    ...{ onFault, ownership },
  });
  const deps = {
    ...planes,
    accounts,
    apiKey: app.apiKey,
    attributes: { of: attributesOf, replace: replaceAttributes },
    borrowed: new BorrowedVariables(shared.commandEnvironment),
    defaults: new Defaults(store),
    isProgram: isExecutableFile,
    isNetworkMount,
    machineUse: machineMeter(),
    onFault: (error: unknown) => onFault('a bug', error),
  };
  const none = { ...app, routes: [] };
  return [
    {
      port: config.e2bPort,
      variable: settings.e2bPort.variable,
      app: { ...none, ...envd, planes: envdPlanes(deps) },
    },
    {
      port: config.e2bCodePort,
      variable: settings.e2bCodePort.variable,
      app: { ...none, ...interpreter, planes: interpreterPlanes(deps) },
    },
    ...(config.e2bApiPort === null
      ? []
      : [
          {
            port: config.e2bApiPort,
            variable: settings.e2bApiPort.variable,
            app: { ...none, ...control, planes: controlPlanes(deps) },
          },
        ]),
  ];
}
