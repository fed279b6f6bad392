/** The v2 routes that read and change single files. */
import { routeOf } from '../../../http/route/operation-route.ts';
import { OwnerQuery } from '../../../operations/files/inputs.ts';
import { readFile } from '../../../operations/files/read.ts';
import { statFile } from '../../../operations/files/stat.ts';
import { DirectoryBody, makeDirectory } from '../../../operations/files/trees.ts';
import { WriteBody, writeFile } from '../../../operations/files/write.ts';
import { style } from '../app.ts';

export const read = routeOf(readFile, {
  method: 'GET',
  path: '/v2/fs/read',
  summary: 'Read a file as text, whole or some of its lines',
  query: readFile.input,
})(style);

export const write = routeOf(writeFile, {
  method: 'POST',
  path: '/v2/fs/write',
  summary: 'Write a file in one step, with the directories that lead to it',
  query: OwnerQuery,
  body: WriteBody,
})(style);

export const stat = routeOf(statFile, {
  method: 'GET',
  path: '/v2/fs/stat',
  summary: 'Return the attributes of a path',
  query: statFile.input,
})(style);

export const mkdir = routeOf(makeDirectory, {
  method: 'POST',
  path: '/v2/fs/mkdir',
  summary: 'Make a directory',
  query: OwnerQuery,
  body: DirectoryBody,
})(style);
