/** Replaces secrets in log fields by their length and a short hash, which suffice to distinguish them. */
import { createHash } from 'node:crypto';
import type { Fields } from '../types/fields.ts';

const secretName = /(?:key|token|secret|passw|authorization|cookie|credential)/i;

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
