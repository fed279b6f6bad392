/** Lists the methods of the Python client that only forward to an operation, and what methods by hand take. */

export interface Method {
  readonly operation: string;
  /** Fields that are arguments by position. */
  readonly given?: readonly string[];
  /** Fields that the object itself knows, each with its attribute. */
  readonly own?: Readonly<Record<string, string>>;
}

/** By class and name. */
export const methods: Readonly<Record<string, Readonly<Record<string, Method>>>> = {
  Sandbox: {
    info: { operation: 'operations.sandbox' },
    packages: { operation: 'operations.packages' },
  },
  Commands: {
    list: { operation: 'commands.list' },
    kill: { operation: 'commands.kill', given: ['command_id'] },
  },
  Files: {
    read: { operation: 'files.read', given: ['path'] },
    list: { operation: 'files.list', given: ['path'] },
    stat: { operation: 'files.stat', given: ['path'] },
    search: { operation: 'files.search', given: ['path', 'pattern'] },
    grep: { operation: 'files.grep', given: ['path', 'pattern'] },
    copy: { operation: 'files.copy', given: ['source', 'destination'] },
    move: { operation: 'files.move', given: ['source', 'destination'] },
    delete: { operation: 'files.delete', given: ['path'] },
    make_directory: { operation: 'files.mkdir', given: ['path'] },
  },
  Terminals: {
    list: { operation: 'terminals.list' },
    get: { operation: 'terminals.get', given: ['id'] },
    exec: { operation: 'terminals.exec', given: ['id', 'command'] },
    screen: { operation: 'terminals.screen', given: ['id'] },
    signal: { operation: 'terminals.signal', given: ['id'] },
    rename: { operation: 'terminals.resize', given: ['id', 'name'] },
    close: { operation: 'terminals.close', given: ['id'] },
  },
  Terminal: {
    exec: { operation: 'terminals.exec', given: ['command'], own: { id: 'id' } },
    screen: { operation: 'terminals.screen', own: { id: 'id' } },
    signal: { operation: 'terminals.signal', own: { id: 'id' } },
  },
  Code: {
    run: { operation: 'code.execute', given: ['language', 'code'] },
    list: { operation: 'code.list_sessions' },
  },
  CodeSession: {
    run: { operation: 'code.execute', given: ['code'], own: { session_id: 'id', language: 'language' } },
    interrupt: { operation: 'code.interrupt', own: { id: 'id' } },
    restart: { operation: 'code.restart', own: { id: 'id' } },
    close: { operation: 'code.delete_session', own: { id: 'id' } },
  },
};

/** Planes that have a method for each of their operations. An operation without JSON answers a picture. */
export const planes: readonly string[] = ['browser', 'desktop'];

/** More fields that are no keywords: methods by hand set them or take them by position, or no method has them. */
export const givenByHand: Readonly<Record<string, readonly string[]>> = {
  'commands.run': ['command', 'mode'],
  'files.write': ['path', 'content', 'encoding'],
  'files.edit': ['path', 'edits', 'command', 'old_str', 'new_str', 'replace_mode', 'insert_line'],
  'code.execute': ['stream'],
  'files.upload': ['path'],
  'files.download': ['path', 'change_policy'],
  'files.unpack': ['path'],
  'files.pack': ['path', 'format'],
  'terminals.create': ['session_id'],
  'watch.create': ['path'],
};

/** Operations with another method than GET that have no effect, so that a client may repeat them. */
export const safeOperations: ReadonlySet<string> = new Set(['files.grep']);
