/** The reference lists the fields of a body, even if the description only refers to its schema. */
import { expect, test } from 'bun:test';
import spec from '../../spec/v1.json';
import { referenceOfRoutes } from './reference.ts';

test('a body that is a reference is listed field by field', () => {
  const page = referenceOfRoutes({
    info: { title: 'one' },
    paths: {
      '/a': {
        post: {
          summary: 'Do it',
          requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } },
          responses: {},
        },
      },
    },
    components: {
      schemas: {
        A: { required: ['b'], properties: { b: { type: 'string' }, c: { $ref: '#/components/schemas/C' } } },
        C: { type: 'object' },
      },
    },
  });

  expect(page).toContain('| body | `b` | string | required |  |\n| body | `c` | C |  |  |\n');
});

test('every v1 route that takes a JSON body lists its fields', () => {
  const sections = referenceOfRoutes(spec).split('\n## ');
  const takers = sections.filter((section) => /^(POST|PUT|PATCH) /.test(section) && section.includes('| 413 |'));

  expect(takers.length).toBeGreaterThan(30);
  expect(takers.filter((section) => !section.includes('| body | `')).map((section) => section.split('\n')[0])).toEqual(
    [],
  );
});
