/** The result of a check: its status, a sentence, and advice. */

export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly message: string;
  /** One sentence; null when no action is needed. */
  readonly advice: string | null;
}

export function ok(check: string, message: string): Finding {
  return { check, status: 'ok', message, advice: null };
}

export function warn(check: string, message: string, advice: string): Finding {
  return { check, status: 'warn', message, advice };
}

export function fail(check: string, message: string, advice: string): Finding {
  return { check, status: 'fail', message, advice };
}

/** Formats findings for people: one line each, with the advice below. */
export function asText(findings: readonly Finding[]): string {
  return findings
    .map(({ check, status, message, advice }) => {
      const line = `${status.padEnd(4)}  ${check}: ${message}`;
      return advice === null ? line : `${line}\n      ${advice}`;
    })
    .join('\n');
}

/** True when a daemon would not start here, or would not run commands. */
export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ status }) => status === 'fail');
}
