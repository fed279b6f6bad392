/** Leads a program under test away from what runs on this machine: a browser, a desktop worker, an MCP server. */

/** A port of loopback below those that a system gives out. No program of a sandbox listens on it. */
export const closedPort = 9;

/** The settings whose defaults name a port of this machine, with a port on which nothing listens. */
export const closedPorts: Readonly<Record<string, string>> = {
  BROWSER_REMOTE_DEBUGGING_PORT: String(closedPort),
  SVC_COMPUTER_USE_URL: `http://127.0.0.1:${closedPort}`,
};

/** The environment of a program under test: PATH, closed ports and `extra`, and nothing else of this machine. */
export function programEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', ...closedPorts, ...extra };
}
