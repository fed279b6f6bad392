/** Sends events to the daemon, one line of JSON each, and each of them whole whatever the code of a cell does. */
'use strict';
const { writeSync } = require('node:fs');
const { stringify } = JSON;
const { from } = Buffer;
const { byteLength } = Buffer;

/**
 * A write of this size to a pipe is taken whole or not at all. SIGINT ends running code at any point, so that one which
 * is in the middle of a longer write would leave half a line.
 */
const atomicBytes = 4096;
const isLowSurrogate = (code) => code >= 0xdc00 && code <= 0xdfff;

module.exports = (descriptor) => {
  const send = (event) => write(`${stringify(event)}\n`);

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
