/** Names the programs that run code. Each reads its parts from standard input, where no account can change them. */
import acorn from '../../../node_modules/acorn/dist/acorn.js' with { type: 'text' };
import bridgeCells from './bridge/cells.py' with { type: 'text' };
import bridgeIpython from './bridge/ipython.py' with { type: 'text' };
import bridgeKernel from './bridge/kernel.py' with { type: 'text' };
import bridgeMain from './bridge/main.py' with { type: 'text' };
import bridgeMessages from './bridge/messages.py' with { type: 'text' };
import kernels from './kernels.py' with { type: 'text' };
import lend from './lend.py' with { type: 'text' };
import nodeCells from './node/cells.cjs' with { type: 'text' };
import nodeChildren from './node/children.cjs' with { type: 'text' };
import nodeEvents from './node/events.cjs' with { type: 'text' };
import nodeFailures from './node/failures.cjs' with { type: 'text' };
import nodeMain from './node/main.cjs' with { type: 'text' };
import nodeModules from './node/modules.cjs' with { type: 'text' };
import nodeScripts from './node/scripts.cjs' with { type: 'text' };
import nodeSource from './node/source.cjs' with { type: 'text' };
import nodeStreams from './node/streams.cjs' with { type: 'text' };
import nodeSyntax from './node/syntax.cjs' with { type: 'text' };
import pending from './pending.py' with { type: 'text' };
import pythonCells from './python/cells.py' with { type: 'text' };
import pythonDisplay from './python/display.py' with { type: 'text' };
import pythonEvents from './python/events.py' with { type: 'text' };
import pythonMain from './python/main.py' with { type: 'text' };
import pythonStreams from './python/streams.py' with { type: 'text' };
import pythonTasks from './python/tasks.py' with { type: 'text' };

/** Leaves no name behind in `__main__`, which is where cells run. */
const pythonLoader =
  "(lambda i:exec(compile(i.read(int(i.readline())),'<boxkeep>','exec'),{'__name__':'boxkeep','requests':i}))" +
  "(open(__import__('os').dup(0),'rb'))";

/** Gives the first part what reads the next ones, and the two ends of the protocol. Each part is a module of CommonJS. */
const nodeLoader = (requests: number, events: number): string =>
  "{const f=require('fs'),v=require('vm'),p=()=>{let n='';for(const b=Buffer.alloc(1);" +
  `f.readSync(${requests},b)&&b[0]!==10;)n+=b;const t=Buffer.alloc(+n);` +
  `for(let i=0;i<t.length;)i+=f.readSync(${requests},t,i,t.length-i);const m={exports:{}};` +
  "v.compileFunction(t.toString(),['require','module','exports','part'],{filename:'boxkeep:node'})" +
  `(require,m,m.exports,p);return m.exports};p.ends=[${requests},${events}];p()}`;

/** Moves the two ends of the protocol out of the way, which Node cannot do itself, and becomes what it is given. */
const moveEnds = 'exec 3<&0 4>&1 0</dev/null 1>&2; exec "$0" "$@"';

/** In the order in which the first asks for the others. */
const pythonParts = [pythonMain, pythonEvents, pythonStreams, pythonDisplay, pythonTasks, pythonCells, pending];
const bridgeParts = [bridgeMain, bridgeMessages, bridgeCells, bridgeIpython, pending, lend, bridgeKernel];
const nodeParts = [
  nodeMain,
  nodeEvents,
  nodeStreams,
  nodeChildren,
  acorn,
  nodeSource,
  nodeSyntax,
  nodeFailures,
  nodeModules,
  nodeScripts,
  nodeCells,
] as unknown[] as string[]; // The compiler sees modules where the runtime has their texts.

export { lend as lendProgram };

/** Python 3.8 or newer. */
export function pythonProgram(python: string) {
  return { argv: [python, '-u', '-c', pythonLoader], input: framed(pythonParts) };
}

/** Speaks with kernels; any Python 3.8 or newer that finds pyzmq. What lies in its directory is not imported. */
export function bridgeProgram(python: string) {
  return { argv: [python, '-I', '-c', pythonLoader], input: framed(bridgeParts) };
}

/** Lists the kernels of the account that runs the program. */
export function kernelProbe(python: string): readonly string[] {
  return [python, '-I', '-c', kernels];
}

/** Node 18 or newer. Without a shell, child processes that Node does not start may find the protocol at their ends. */
export function nodeProgram(node: string, shell: string | null) {
  const argv = shell === null ? [node, '-e', nodeLoader(0, 1)] : [shell, '-c', moveEnds, node, '-e', nodeLoader(3, 4)];
  return { argv, input: framed(nodeParts) };
}

/** Each part behind a line with its length in bytes. */
function framed(parts: readonly string[]): Uint8Array {
  const encoder = new TextEncoder();
  const pieces = parts.flatMap((part) => {
    const bytes = encoder.encode(part);
    return [encoder.encode(`${bytes.length}\n`), bytes];
  });
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece, offset);
    offset += piece.length;
  }
  return whole;
}
