/** The wire shape of the sandbox: its account, places, limits and capabilities. */
import { z } from 'zod';
import { capabilityStatuses, type CapabilityReport } from '../../core/capabilities/report.ts';
import { maxCharacters as maxCellCharacters } from '../../core/code/cells/outputs.ts';
import { maxEntries as maxArchiveEntries } from '../../core/files/archive/shape.ts';
import { maxPage } from '../../core/files/read/list.ts';
import { maxReadBytes } from '../../core/files/read/read.ts';
import { maxFoundLength } from '../../core/files/search/grep/query.ts';
import { maxFound } from '../../core/files/search/search.ts';
import type { SandboxRecord } from '../../core/ops/sandbox.ts';
import { maxDepth, maxStructureBytes, maxValues } from '../../http/body/json-body.ts';
import { snakeKeys } from '../../kit/text/snake-keys.ts';
import { maxCols, maxRows } from '../../kit/types/terminal-size.ts';
import { maxClipboardLength, maxTextLength } from '../../operations/desktop/action-fields.ts';
import { namedObject } from '../../operations/inputs.ts';

/** Limits that no setting changes, with what they bound. */
const fixed = {
  json_values: [maxValues, 'Values of a JSON body.'],
  json_depth: [maxDepth, 'Levels of a JSON body.'],
  json_structure_bytes: [maxStructureBytes, 'Bytes of a JSON body beside strings of more than 4 KiB.'],
  read_bytes: [maxReadBytes, 'Bytes of a file in one answer.'],
  list_entries: [maxPage, 'Entries of a directory in one answer.'],
  search_results: [maxFound, 'Paths of a search in one answer.'],
  grep_characters: [maxFoundLength, 'Characters of the matches in one answer.'],
  archive_entries: [maxArchiveEntries, 'Entries of an archive that is unpacked.'],
  cell_characters: [maxCellCharacters, 'Characters of the output of a cell.'],
  terminal_cols: [maxCols, 'Columns of a terminal.'],
  terminal_rows: [maxRows, 'Rows of a terminal.'],
  typed_characters: [maxTextLength, 'Characters that one action types on the desktop.'],
  clipboard_bytes: [maxClipboardLength, 'Bytes of a text for the clipboard of the desktop.'],
} as const satisfies Readonly<Record<string, readonly [value: number, what: string]>>;

type FixedName = keyof typeof fixed;

const entries = Object.entries(fixed) as [FixedName, readonly [value: number, what: string]][];
const fixedLimits = Object.fromEntries(entries.map(([name, [value]]) => [name, value])) as Record<FixedName, number>;
const fixedFields = Object.fromEntries(entries.map(([name, [, what]]) => [name, z.int().describe(what)])) as Record<
  FixedName,
  z.ZodInt
>;

const Capability = z.looseObject({
  status: z.enum(capabilityStatuses),
  missing: z.array(z.string()),
  warnings: z.array(z.string()),
});

export const SandboxInfo = namedObject('Sandbox', {
  sandbox_id: z.string().describe('Stays when the daemon restarts or is upgraded; differs between sandboxes.'),
  version: z.string(),
  commit: z.string().nullable().describe('Commit of the build; null when the daemon runs from sources.'),
  pid: z.int().describe('Pid of the daemon.'),
  hostname: z.string(),
  os: z.string().describe('The distribution.'),
  kernel: z.string(),
  arch: z.string(),
  user: z.string().describe('The daemon’s own account.'),
  uid: z.int(),
  default_user: z.string().nullable().describe('SVC_DEFAULT_USER; null is the daemon’s own account.'),
  home_dir: z.string().describe('Home of the default account.'),
  workspace_dir: z.string().describe('Where commands start and relative paths begin.'),
  runtime_dir: z.string(),
  started_at: z.string().describe('RFC 3339, UTC.'),
  ports: z.array(z.int()).describe('TCP ports that something listens on, the daemon’s own among them.'),
  limits: z.object({
    running_commands: z.int(),
    command_sessions: z.int(),
    streams: z.int(),
    terminals: z.int(),
    watchers: z.int(),
    json_body_bytes: z.int(),
    log_bytes_per_stream: z.int(),
    log_bytes: z.int().describe('Bytes of all commands together.'),
    ...fixedFields,
  }),
  capabilities: z.record(z.string(), Capability).describe('As GET /v1/capabilities reports them.'),
});

export function sandboxInfo(record: SandboxRecord, capabilities: CapabilityReport): z.input<typeof SandboxInfo> {
  const { machine, own, account } = record;
  return {
    sandbox_id: record.id,
    version: record.version,
    commit: record.commit,
    pid: record.pid,
    hostname: machine.hostname,
    os: machine.distribution,
    kernel: machine.kernel,
    arch: machine.arch,
    user: own.name,
    uid: own.uid,
    default_user: record.defaultUser,
    home_dir: account.home,
    workspace_dir: record.workspaceDir,
    runtime_dir: record.runtimeDir,
    started_at: new Date(record.startedMs).toISOString(),
    ports: [...machine.listeningPorts],
    limits: { ...snakeKeys(record.limits), ...fixedLimits },
    capabilities: snakeKeys(capabilities),
  };
}
