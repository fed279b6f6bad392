/** Reads a table in a text: each line is a record of words, except empty lines and comments (`# …`). */

export function readTable(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('# '));
  return lines.map((line) => line.split(' '));
}
