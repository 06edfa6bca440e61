/**
 * Why a server did not start, in one sentence that says what to change.
 *
 * Reads exit codes and the end of stderr; starts nothing.
 */

import type { ServerCommand } from './command';
import { plain } from './labels';

/** What is known of a server process that ended, or never began. */
export interface ServerEnd {
  command: ServerCommand;
  /** True for the server in the extension's own storage, false for `mnemolens.server.command`. */
  managed: boolean;
  /** `ENOENT`, `EACCES`, … when the process could not be started. */
  spawnError?: string | undefined;
  /** It ran, but never answered. */
  timedOut?: boolean;
  exitCode?: number | null | undefined;
  stderr: string;
}

/** The actionable message for a failed start. */
export function explainFailure(end: ServerEnd): string {
  const program = plain(end.command.program);
  if (end.managed) {
    return `The language server that Mnemolens installed does not start${lastWords(end.stderr)}. Reinstall it.`;
  }
  if (end.spawnError === 'ENOENT') {
    return `${program} does not exist: change mnemolens.server.command, or clear it to install the server.`;
  }
  if (end.spawnError !== undefined) {
    return `${program} can't be started (${plain(end.spawnError)}): change mnemolens.server.command.`;
  }
  if (end.timedOut === true) {
    return `${program} does not answer as a language server: change mnemolens.server.command.`;
  }
  if (/No module named '?mnemolens\b/u.test(end.stderr)) {
    return (
      `This interpreter has no mnemolens: ${program}. Install mnemolens for it, ` +
      'or change mnemolens.server.command, or clear it to install the server.'
    );
  }
  if (/SyntaxError|requires a different Python|python_requires/iu.test(end.stderr)) {
    return `${program} is too old for mnemolens, which needs Python 3.11 or newer: change mnemolens.server.command.`;
  }
  return `The language server ${program} ended${exitCode(end)}${lastWords(end.stderr)}. Check mnemolens.server.command.`;
}

/** The message for a server that ran and ended again and again. */
export function explainCrashes(end: ServerEnd): string {
  return `The language server keeps ending${exitCode(end)}${lastWords(end.stderr)}. The log may say why.`;
}

function exitCode(end: ServerEnd): string {
  return end.exitCode === undefined || end.exitCode === null ? '' : ` with exit code ${end.exitCode}`;
}

/** A line of the server's log that says what it does, not what went wrong. */
const CHATTER = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ (?:DEBUG|INFO) /u;

function lastWords(stderr: string): string {
  const line = stderr
    .split(/\r\n|\r|\n/u)
    .filter((text) => !CHATTER.test(text))
    .map((text) => plain(text, 160))
    .filter((text) => text !== '')
    .at(-1);
  return line === undefined ? '' : `: ${line}`;
}

/** The last `limit` characters of what a process writes: enough to explain its end, however much it wrote. */
export class Tail {
  private text = '';

  constructor(private readonly limit = 8192) {}

  add(chunk: string): void {
    this.text = (this.text + chunk).slice(-this.limit);
  }

  toString(): string {
    return this.text;
  }
}
