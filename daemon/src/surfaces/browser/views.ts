/** The wire form of tabs, requests and of what a call has caused in a page. */
import { z } from 'zod';
import type { CallEffects } from '../../core/browser/browser.ts';
import type { NetworkRequest } from '../../core/browser/requests.ts';
import type { Tab } from '../../core/browser/tabs.ts';
import { namedObject } from '../../operations/inputs.ts';

/** `id`, `tab_id` and `target_id` are the same. */
export const TabView = namedObject('BrowserTab', {
  id: z.string(),
  tab_id: z.string(),
  target_id: z.string(),
  index: z.int(),
  type: z.string(),
  title: z.string(),
  url: z.string(),
  active: z.boolean(),
});

export function tabView({ id, index, type, title, url, isActive: active }: Tab): z.input<typeof TabView> {
  return { id, tab_id: id, target_id: id, index, type, title, url, active };
}

export const NetworkRequestView = namedObject('BrowserRequest', {
  request_id: z.string(),
  tab_id: z.string(),
  url: z.string(),
  method: z.string(),
  resource_type: z.string(),
  status: z.int().nullable(),
  mime_type: z.string().nullable(),
  started_at: z.string(),
  duration_ms: z.int().nullable(),
  encoded_bytes: z.number().nullable(),
  error: z.string().nullable(),
});

export function requestView(request: NetworkRequest): z.input<typeof NetworkRequestView> {
  const { id, tabId, url, method, resourceType, status, mimeType, startedMs, durationMs, encodedBytes, error } =
    request;
  return {
    request_id: id,
    tab_id: tabId,
    url,
    method,
    resource_type: resourceType,
    status,
    mime_type: mimeType,
    started_at: new Date(startedMs).toISOString(),
    duration_ms: durationMs,
    encoded_bytes: encodedBytes,
    error,
  };
}

/** Each field is absent when there is nothing of its kind. */
export const effects = {
  dialogs: z
    .array(
      z.object({
        type: z.enum(['alert', 'beforeunload', 'confirm', 'prompt']),
        message: z.string(),
        default_text: z.string().nullable(),
        accepted: z.boolean(),
      }),
    )
    .optional()
    .describe('Dialogs that the page opened during the call, with the answers they got.'),
  opened_tabs: z
    .array(z.object({ tab_id: z.string(), url: z.string() }))
    .optional()
    .describe('Tabs that the page opened during the call.'),
  downloads: z
    .array(
      z.object({
        url: z.string(),
        suggested_filename: z.string(),
        state: z.enum(['in_progress', 'completed', 'canceled']),
        received_bytes: z.number(),
        path: z.string().nullable(),
        reason: z.string().optional().describe('Why the daemon has cancelled the download.'),
      }),
    )
    .optional()
    .describe('Downloads that began during the call.'),
  effects_left_out: z
    .int()
    .optional()
    .describe('Further tabs and downloads: twenty of each are listed. browser/tabs lists all tabs.'),
};

export function effectsView({ dialogs, openedTabs, downloads, omitted }: CallEffects) {
  return {
    ...(dialogs.length > 0 && {
      dialogs: dialogs.map(({ type, message, defaultText, isAccepted }) => ({
        ...{ type, message, default_text: defaultText, accepted: isAccepted },
      })),
    }),
    ...(openedTabs.length > 0 && { opened_tabs: openedTabs.map(({ tabId, url }) => ({ tab_id: tabId, url })) }),
    ...(downloads.length > 0 && {
      downloads: downloads.map(({ url, suggestedFilename, state, receivedBytes, path, isRefused }) => ({
        ...{ url, suggested_filename: suggestedFilename, received_bytes: receivedBytes, path },
        state: state === 'inProgress' ? ('in_progress' as const) : state,
        ...(isRefused && { reason: 'The pages have downloaded what SVC_BROWSER_DOWNLOAD_MIB allows in an hour.' }),
      })),
    }),
    ...(omitted > 0 && { effects_left_out: omitted }),
  };
}
