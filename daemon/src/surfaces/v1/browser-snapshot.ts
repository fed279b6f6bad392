/** The v1 routes that tell what stands on a page as a tree whose parts can be referred to. */
import { z } from 'zod';
import { route } from './app.ts';
import { noBrowser } from './unserved.ts';

const SnapshotNode = z
  .object({
    role: z.string(),
    name: z.string(),
    ref: z.string().nullable(),
    value: z.string().nullable(),
    states: z.array(z.string()),
    get children() {
      return z.array(SnapshotNode);
    },
  })
  .meta({ id: 'SnapshotNode' });

const Selection = z.object({
  interactive_only: z.boolean().default(false),
  max_bytes: z.int().min(1).optional(),
  depth: z.int().min(1).optional(),
  root_ref: z.string().optional().describe('Only what stands below this part.'),
  format: z.enum(['tree', 'text']).default('tree'),
  tab_id: z.string().optional().describe('The active page otherwise.'),
});

const shared = {
  summary: 'Tell what stands on the page',
  path: '/v1/browser/snapshot',
  data: z.union([SnapshotNode, z.string()]),
  errors: ['unavailable'],
  handle: noBrowser,
} as const;

export const getSnapshot = route({
  ...shared,
  operation: 'browser.snapshot_v1',
  method: 'GET',
  query: Selection,
});

export const postSnapshot = route({
  ...shared,
  operation: 'browser.snapshot_by_body_v1',
  method: 'POST',
  body: Selection,
});
