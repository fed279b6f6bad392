/** What a call that waits for an end answers when the daemon stops first. */
export function stoppingMessage(what: 'command' | 'code'): string {
  return `The ${what} is running; the daemon is stopping and did not wait for the end`;
}
