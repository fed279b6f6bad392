/** Checks two names of one field: a request may give both only when their values agree. */
import type { z } from 'zod';

export function sameValue<K extends string>(first: K, second: K) {
  return (body: Partial<Record<K, unknown>>, context: Pick<z.RefinementCtx, 'addIssue'>): void => {
    const [one, other] = [body[first], body[second]];
    if (one === undefined || other === undefined || JSON.stringify(one) === JSON.stringify(other)) return;
    context.addIssue({ code: 'custom', path: [second], message: differs(first) });
  };
}

export function differs(first: string): string {
  return `differs from ${first}; give one of the two`;
}
