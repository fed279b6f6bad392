/** Replaces the standard streams of the process, and reports each write as output of the cell that wrote it. */
'use strict';
const fs = require('node:fs');
const { Readable, Writable } = require('node:stream');
const { StringDecoder } = require('node:string_decoder');
const { process, Buffer } = globalThis;

const names = { 1: 'stdout', 2: 'stderr' };
const paths = { '/dev/stdout': 1, '/dev/stderr': 2 };

module.exports = ({ events, origin, refuse }) => {
  const decoders = { 1: new StringDecoder(), 2: new StringDecoder() };

  const print = (descriptor, chunk, encoding) => {
    const isText = typeof chunk === 'string' && !['hex', 'base64', 'base64url', 'latin1', 'binary'].includes(encoding);
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : toBytes(chunk);
    const text = isText ? chunk : decoders[descriptor].write(bytes);
    if (text !== '') events.sendText(origin.cell(), names[descriptor], text);
  };

  const streams = { 1: makeStream(1, print), 2: makeStream(2, print) };
  const refusal = makeRefusal(refuse);
  const getters = { stdout: () => streams[1], stderr: () => streams[2], stdin: refusal };
  for (const [name, get] of Object.entries(getters)) {
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get });
  }
  catchDescriptors(print);
  return { print, streams };
};

/** Creates a standard input on which every read fails. The first access after a failed read gets a new stream. */
function makeRefusal(refuse) {
  let stdin = null;
  return () => {
    if (stdin && !stdin.destroyed) return stdin;
    stdin = new Readable({
      read() {
        const error = new Error('code in a session has no standard input; give it the value in a variable or a file');
        // The error also ends the cell, because some readers ignore stream errors and would wait forever.
        refuse(error);
        this.destroy(error);
      },
    });
    return Object.assign(stdin, { fd: 0 });
  };
}

/**
 * Creates a stream whose writes bypass the state of `Writable`, because a SIGINT during a write would leave that state
 * busy forever. Like the standard streams of Node, the stream cannot be closed.
 */
function makeStream(descriptor, print) {
  const stream = new Writable({ decodeStrings: false, autoDestroy: false, emitClose: false });
  const write = (chunk, encoding, done) => {
    const callback = typeof encoding === 'function' ? encoding : done;
    print(descriptor, chunk, typeof encoding === 'string' ? encoding : 'utf8');
    if (typeof callback === 'function') process.nextTick(callback);
    return true;
  };
  return Object.assign(stream, {
    fd: descriptor,
    _type: 'pipe',
    _isStdio: true,
    write,
    end(chunk, encoding, done) {
      const callback = [chunk, encoding, done].find((argument) => typeof argument === 'function');
      if (chunk !== undefined && chunk !== null && chunk !== callback) write(chunk, encoding);
      if (callback) process.nextTick(callback);
      // Code that pipes into the stream waits for `finish`.
      process.nextTick(() => stream.emit('finish'));
      return stream;
    },
    destroy: () => stream,
  });
}

/** Loggers write to descriptors 1 and 2. Node cannot replace a descriptor, so these calls of `fs` are intercepted. */
function catchDescriptors(print) {
  const { write, writeSync, writeFileSync, appendFileSync } = fs;
  const isOurs = (descriptor) => descriptor === 1 || descriptor === 2;

  fs.writeSync = function (descriptor, data, ...rest) {
    if (!isOurs(descriptor)) return writeSync.call(this, descriptor, data, ...rest);
    const bytes = part(data, rest);
    print(descriptor, bytes);
    return bytes.length;
  };
  fs.write = function (descriptor, data, ...rest) {
    if (!isOurs(descriptor)) return write.call(this, descriptor, data, ...rest);
    const bytes = part(data, rest);
    print(descriptor, bytes);
    const callback = rest.at(-1);
    if (typeof callback === 'function') process.nextTick(callback, null, bytes.length, data);
    return undefined;
  };
  const toFile = (original) =>
    function (target, data, options) {
      const descriptor = paths[target] ?? target;
      if (!isOurs(descriptor)) return original.call(this, target, data, options);
      print(descriptor, typeof data === 'string' ? data : toBytes(data));
      return undefined;
    };
  fs.writeFileSync = toFile(writeFileSync);
  fs.appendFileSync = toFile(appendFileSync);
}

/** `fs.write` takes text with an encoding, or bytes with an offset and a length, or bytes with an object of both. */
function part(data, rest) {
  if (typeof data === 'string') return Buffer.from(data, typeof rest[1] === 'string' ? rest[1] : 'utf8');
  const bytes = toBytes(data);
  const named = typeof rest[0] === 'object' && rest[0] !== null ? rest[0] : { offset: rest[0], length: rest[1] };
  const offset = typeof named.offset === 'number' ? named.offset : 0;
  const length = typeof named.length === 'number' ? named.length : bytes.length - offset;
  return bytes.subarray(offset, offset + length);
}

function toBytes(data) {
  return ArrayBuffer.isView(data) ? Buffer.from(data.buffer, data.byteOffset, data.byteLength) : Buffer.from(`${data}`);
}
