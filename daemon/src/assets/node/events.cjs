/** Sends events to the daemon as lines of JSON, which an interrupt cannot cut off. */
'use strict';
const { writeSync } = require('node:fs');
const { stringify } = JSON;
const { from } = Buffer;
const { byteLength } = Buffer;
const { entries, fromEntries } = Object;

/**
 * A pipe write of at most this size is atomic. SIGINT ends running code at any point, and an interrupted longer write
 * would leave a partial line.
 */
const atomicBytes = 4096;
/** The daemon skips longer lines. */
const maxLineBytes = 32 * 1024 * 1024;
/** If a line is too long, larger values of a result are omitted, and the lines of an error are truncated. */
const largeCharacters = 1024 * 1024;
const errorCharacters = 1000;
const isLowSurrogate = (code) => code >= 0xdc00 && code <= 0xdfff;

module.exports = (descriptor) => {
  const send = (event) => {
    const line = `${stringify(event)}\n`;
    write(byteLength(line) <= maxLineBytes ? line : `${stringify(shortened(event))}\n`);
  };

  /** Splits the text until the line of each piece fits into one atomic write. */
  const sendText = (cell, name, text) => {
    const line = `${stringify({ event: 'output', cell, output: { output_type: 'stream', name, text } })}\n`;
    if (text.length < 2 || byteLength(line) <= atomicBytes) {
      write(line);
      return;
    }
    const half = text.length >> 1;
    const middle = half + (isLowSurrogate(text.charCodeAt(half)) ? 1 : 0);
    sendText(cell, name, text.slice(0, middle));
    if (middle < text.length) sendText(cell, name, text.slice(middle));
  };

  const write = (line) => {
    const bytes = from(line);
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
  };

  return { send, sendText };
};

/** Omits the large values of a result, with a placeholder for each, or truncates an error. */
function shortened({ output, ...event }) {
  if (output?.data) return { ...event, output: { ...output, data: shortenedData(output.data) } };
  const evalue = output.evalue.slice(0, errorCharacters);
  const traceback = output.traceback.slice(-100).map((line) => line.slice(0, errorCharacters));
  return { ...event, output: { ...output, evalue, traceback } };
}

function shortenedData(data) {
  const sizes = entries(data).map(([kind, value]) => [
    kind,
    (typeof value === 'string' ? value : stringify(value)).length,
  ]);
  const large = sizes.filter(([, size]) => size > largeCharacters);
  const kept = entries(data).filter(([kind]) => !large.some(([other]) => other === kind));
  const notes = large.map(([kind, size]) => `<${kind}, ${size} characters: too large to be shown>`);
  const text = kept.find(([kind]) => kind === 'text/plain')?.[1];
  return { ...fromEntries(kept), 'text/plain': [...(text ? [text] : []), ...notes].join('\n') };
}
