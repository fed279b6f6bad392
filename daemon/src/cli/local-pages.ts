/** The help pages of the sub-commands that concern this machine or this file. */
import { settingsHelp } from '../config.ts';
import type { Page } from './page.ts';

export const localPages: Readonly<Record<string, Page>> = {
  start: {
    usage: 'start [flags]',
    summary: 'run the daemon',
    details: `Runs in the foreground until SIGTERM, then ends every command and exits 0 within 8 seconds. A daemon that dies is
started again. An invalid value ends the start with one line and exit code 2.

Flags, each with its variable; the flag wins:
${settingsHelp()}`,
  },
  'computer-use': {
    usage: 'computer-use [--port PORT]',
    summary: 'serve the display of DISPLAY to the daemon',
    flags: { '--port PORT': 'port on 127.0.0.1; default: the port of SVC_COMPUTER_USE_URL, or 18100' },
    details: `Runs in the foreground until SIGTERM, as the account of the desktop. Reads DISPLAY and XAUTHORITY, and
DBUS_SESSION_BUS_ADDRESS for the accessibility routes. The display may start later and restart; a call without a
display fails and reports that.
Any program on this machine can use the worker without a key; web pages cannot.`,
  },
  doctor: {
    usage: 'doctor [--json] [flags]',
    summary: 'examine this machine and report what start lacks',
    flags: { '--json': 'print the findings as JSON' },
    details: `Changes nothing. Pass the flags and variables of start: doctor checks settings, key, account, runtime directory and port
with them. boxkeep start --help lists the flags.`,
    exits: '0 if the daemon would start and run commands, 1 if a finding prevents that',
  },
  version: {
    usage: 'version',
    summary: 'print the version',
    details: 'Prints one line: the version of this file, its commit, and the start of the digest of what it contains.',
  },
  'print-openapi': {
    usage: 'print-openapi [v1|v2]',
    summary: 'print the description of a surface (v2)',
    details: 'Prints the OpenAPI document of the v1 or the v2 routes as JSON, as GET /v2/openapi.json serves it.',
  },
};
