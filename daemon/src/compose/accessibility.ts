/** Constructs the accessibility of the desktop whose session the environment names. */
import { roleTable } from '../assets/desktop.ts';
import type { Environment } from '../kit/types/environment.ts';
import { Accessibility, type AccessibilityDeps } from '../core/desktop/accessibility/accessibility.ts';
import { AccessibilityBus } from '../core/desktop/accessibility/bus.ts';
import { RoleNames } from '../core/desktop/accessibility/role-names.ts';
import { connectDbus } from '../platform/dbus/connection.ts';
import { Variant, type DbusValue } from '../platform/dbus/marshal.ts';
import { openWorker } from '../platform/host/workers.ts';

/** Programs send more events while the worker is connected. */
const idleMs = 60_000;

export function openAccessibility(
  environment: Environment,
  activeWindow: AccessibilityDeps['activeWindow'],
): Accessibility {
  const variant = (signature: string, value: DbusValue) => new Variant(signature, value);
  const bus = new AccessibilityBus({
    ...{ connect: connectDbus, variant, idleMs },
    sessionAddress: sessionAddressOf(environment),
    accessibilityAddress: environment['AT_SPI_BUS_ADDRESS'] || null,
  });
  return new Accessibility({ bus, roles: new RoleNames(roleTable), variant, openWorker, activeWindow });
}

/** A session of systemd has its bus in the runtime directory, whether the variable is set or not. */
function sessionAddressOf(environment: Environment): string | null {
  const { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: directory } = environment;
  if (address) return address;
  return directory ? `unix:path=${directory}/bus` : null;
}
