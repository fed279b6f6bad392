/** Writes one JSON object per line, so that programs and people can both read the log. */
import { createHash } from './crypto.ts';
import type { Fields } from './types/fields.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

const secretName = /(?:key|token|secret|passw|authorization|cookie|credential)/i;

export class Logger {
  readonly #threshold: number;

  constructor(
    level: LogLevel,
    private readonly write: (line: string) => void,
    private readonly now: () => Date = () => new Date(),
  ) {
    this.#threshold = logLevels.indexOf(level);
  }

  debug(message: string, fields?: Fields): void {
    this.#log('debug', message, fields);
  }

  info(message: string, fields?: Fields): void {
    this.#log('info', message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.#log('warn', message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.#log('error', message, fields);
  }

  #log(level: LogLevel, message: string, fields: Fields = {}): void {
    if (logLevels.indexOf(level) < this.#threshold) return;
    this.write(`${JSON.stringify({ at: this.now().toISOString(), level, message, ...redact(fields) })}\n`);
  }
}

/** Replaces secrets by their length and a short hash, which suffice to distinguish them. */
export function redact(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' && secretName.test(name) ? hidden(value) : value,
    ]),
  );
}

function hidden(secret: string): string {
  const digest = createHash('sha256').update(secret).digest('hex').slice(0, 8);
  return `<${secret.length} characters, ${digest}>`;
}
