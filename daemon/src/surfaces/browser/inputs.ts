/** The inputs that browser routes share. */
import { z } from 'zod';
import type { PageCallOptions } from '../../core/browser/browser.ts';
import type { RequestContext } from '../../http/route/context.ts';

/** A page that needs more than ten minutes does not come. */
const maxSeconds = 600;

export const timeout = z.number().gt(0).max(maxSeconds).optional().describe('Seconds; 30 by default.');

export const tab = {
  tab_id: z.string().min(1).optional().describe('The target id of a tab; the active one by default.'),
};

/** Fields of a call on a page whose scripts may open dialogs. */
export const pageCall = {
  ...tab,
  timeout,
  dialogs: z
    .enum(['accept', 'dismiss'])
    .optional()
    .describe('The answer to dialogs; by default alert and beforeunload are accepted, confirm and prompt dismissed.'),
  dialog_text: z.string().optional().describe('The text for a prompt that is accepted.'),
};

export function pageOptions(
  { tab_id: tabId, timeout, dialogs, dialog_text: text }: z.output<z.ZodObject<typeof pageCall>>,
  { signal }: RequestContext,
): PageCallOptions {
  const action = dialogs ?? (text === undefined ? null : 'accept');
  return { ...{ tabId: tabId ?? null, timeout: timeout ?? null, signal }, dialogs: { action, text: text ?? null } };
}

export function callOptions({ signal }: RequestContext) {
  return { timeout: null, signal };
}

/** A body that needs at least one field of each group. */
export function needingOneOf<S extends z.ZodRawShape>(shape: S, ...groups: readonly string[][]) {
  return z
    .object(shape)
    .superRefine((body, context) => {
      for (const names of groups) {
        if (names.some((name) => (body as Record<string, unknown>)[name] !== undefined)) continue;
        context.addIssue({ code: 'custom', path: names.slice(0, 1), message: `${names.join(' or ')} is required` });
      }
    })
    .meta({
      description: `Needs ${groups.map((names) => names.join(' or ')).join(', and ')}.`,
      allOf: groups.map((names) => ({ anyOf: names.map((name) => ({ required: [name] })) })),
    });
}
