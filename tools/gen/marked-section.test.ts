/** A generated section replaces the text between its markers, and nothing else. */
import { expect, test } from 'bun:test';
import { endMarker, startMarker, withSection } from './marked-section.ts';

const before = `# Title\n\n${startMarker}\nold\n${endMarker}\n\nText.\n`;

test('only the text between the markers changes, and the same content changes nothing', () => {
  const after = withSection('a.md', before, 'new\n');

  expect(after).toBe(`# Title\n\n${startMarker}\n\nnew\n\n${endMarker}\n\nText.\n`);
  expect(withSection('a.md', after, 'new\n')).toBe(after);
  expect(withSection('a.md', after, '')).toBe(`# Title\n\n${startMarker}\n\n${endMarker}\n\nText.\n`);
});

test('a marker that is missing, doubled or misplaced is an error with the path', () => {
  const broken = {
    [`${endMarker}\n`]: `a.md has no line ${startMarker}`,
    [`${startMarker}\n`]: `a.md has no line ${endMarker}`,
    [`${before}${startMarker}\n`]: `a.md has two lines ${startMarker}`,
    [`${endMarker}\n${startMarker}\n`]: `a.md has ${endMarker} before ${startMarker}`,
  };
  for (const [document, message] of Object.entries(broken)) {
    expect(() => withSection('a.md', document, 'new')).toThrow(message);
  }
});
