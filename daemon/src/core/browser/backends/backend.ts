/** The interface of a backend, which takes snapshots of pages and acts on the elements of the page. */
import type { ClickSpec } from '../actions/click.ts';
import type { Filled, FillSpec } from '../actions/fill.ts';
import type { Place } from '../actions/outcome.ts';
import type { Uploaded, UploadSpec } from '../actions/upload.ts';
import type { PageResult } from '../browser.ts';
import type { SnapshotAnswer, SnapshotSpec } from '../snapshot/snapshot.ts';

/** A backend throws `bad_argument` for what it does not support. */
export interface BrowserBackend {
  snapshot(spec: SnapshotSpec): Promise<PageResult<SnapshotAnswer>>;
  click(spec: ClickSpec): Promise<PageResult<Place>>;
  fill(spec: FillSpec): Promise<PageResult<Filled>>;
  upload(spec: UploadSpec): Promise<PageResult<Uploaded>>;
}
