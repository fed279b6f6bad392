/** The v2 route that edits text files. */
import { routeOf } from '../../../http/route/operation-route.ts';
import { EditBody, editFile } from '../../../operations/files/edit.ts';
import { OwnerQuery } from '../../../operations/files/inputs.ts';
import { style } from '../app.ts';

export const edit = routeOf(editFile, {
  method: 'POST',
  path: '/v2/fs/edit',
  summary: 'Edit a text file in one step',
  query: OwnerQuery,
  body: EditBody,
})(style);
