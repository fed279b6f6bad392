/** Finds the windows in the foreground: those of the application that has the active window. */
import type { DbusObject } from '../../../platform/dbus/connection.ts';
import type { DesktopWindow } from '../desktop.ts';
import { noApplications, noForeground } from './failures.ts';
import { applicationPath, busDriver, getChildren, nullPath, processIdOf, registryRoot } from './methods.ts';
import type { AccessibleObject, ObjectReader } from './reader.ts';
import { hasState } from './states.ts';

/** The window that the display reports as active. */
export type ActiveWindow = Pick<DesktopWindow, 'title' | 'processId'>;

/** Roles of windows that belong to another window of the application only while they are open. */
const temporaryRoles = new Set(['window', 'popup menu', 'menu', 'tool tip', 'combo box', 'list']);

/** The applications that have registered. Throws `unavailable` when there are none. */
export async function listApplications(reader: ObjectReader): Promise<readonly DbusObject[]> {
  const [references] = await reader.calls.call(registryRoot, getChildren);
  const applications = references.filter(([, path]) => path !== nullPath).map(([bus, path]) => ({ bus, path }));
  if (applications.length === 0) throw noApplications();
  return applications;
}

/** The windows of the foreground: the active one first, then those that are open above it. Throws `unavailable`. */
export async function foregroundWindows(
  reader: ObjectReader,
  active: ActiveWindow | null,
): Promise<readonly AccessibleObject[]> {
  const applications = await ofProcess(reader, await listApplications(reader), active);
  const families = await Promise.all(applications.map((each) => reader.calls.inTime(windowsOf(reader, each), [])));
  const shown = families.filter((windows) => windows.length > 0);
  const family = shown.find((windows) => activeOf(windows, active)) ?? (shown.length === 1 ? shown[0] : undefined);
  if (!family) {
    throw noForeground(shown.length === 0 ? 'no application shows a window' : 'no window is active');
  }
  const main = activeOf(family, active) ?? family[0]!;
  const above = family.filter((window) => window !== main && isAbove(window));
  return [main, ...above];
}

/** The application of the active window; all of them when the display does not know its process. */
async function ofProcess(
  { calls }: ObjectReader,
  applications: readonly DbusObject[],
  active: ActiveWindow | null,
): Promise<readonly DbusObject[]> {
  if (active === null || active.processId === null) return applications;
  const ids = await Promise.all(applications.map(({ bus }) => calls.ask(busDriver, processIdOf, bus)));
  const found = applications.filter((_application, index) => ids[index]?.[0] === active.processId);
  if (found.length > 0) return found;
  const window = `the active window ${JSON.stringify(active.title.slice(0, 100))} of process ${active.processId}`;
  throw noForeground(`${window} has not registered with AT-SPI`);
}

/** The windows that are on the screen. */
async function windowsOf(reader: ObjectReader, { bus }: DbusObject): Promise<readonly AccessibleObject[]> {
  const [references] = (await reader.calls.ask({ bus, path: applicationPath }, getChildren)) ?? [[]];
  const windows = await Promise.all(references.map(([owner, path]) => reader.readAlone({ bus: owner, path })));
  return windows.filter((window) => window !== null).filter(({ states }) => hasState(states, 'showing'));
}

function activeOf(windows: readonly AccessibleObject[], active: ActiveWindow | null): AccessibleObject | undefined {
  const ofTitle = active === null ? undefined : windows.find(({ name }) => name !== '' && name === active.title);
  return ofTitle ?? windows.find(({ states }) => hasState(states, 'active'));
}

function isAbove({ role, states }: AccessibleObject): boolean {
  return temporaryRoles.has(role) || hasState(states, 'active') || hasState(states, 'modal');
}
