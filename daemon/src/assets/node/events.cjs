/** Sends events to the daemon, one line of JSON each, and each of them whole whatever the code of a cell does. */
'use strict';
const { writeSync } = require('node:fs');
const { stringify } = JSON;
const { from } = Buffer;
const { byteLength } = Buffer;
const { entries, fromEntries } = Object;

/**
 * A write of this size to a pipe is taken whole or not at all. SIGINT ends running code at any point, so that one which
 * is in the middle of a longer write would leave half a line.
 */
const atomicBytes = 4096;
/** The daemon passes over lines that are longer. */
const mostLineBytes = 32 * 1024 * 1024;
/** Of a text that goes when a line would be longer, and of a line of an error that does not. */
const largeCharacters = 1024 * 1024;
const errorCharacters = 1000;
const isLowSurrogate = (code) => code >= 0xdc00 && code <= 0xdfff;

module.exports = (descriptor) => {
  const send = (event) => {
    const line = `${stringify(event)}\n`;
    write(byteLength(line) <= mostLineBytes ? line : `${stringify(shortened(event))}\n`);
  };

  /** In pieces that are written whole. */
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

/** Without the texts that make a line too long; what is shown in their place says so. */
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
  const told = large.map(([kind, size]) => `<${kind}, ${size} characters: too large to be shown>`);
  const text = kept.find(([kind]) => kind === 'text/plain')?.[1];
  return { ...fromEntries(kept), 'text/plain': [...(text ? [text] : []), ...told].join('\n') };
}
