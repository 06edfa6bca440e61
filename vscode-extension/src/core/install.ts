/**
 * Installing the language server into a virtual environment of the extension's own.
 *
 * Owns the folder `<storage>/server-<extension version>`: what is in it, whether it is complete, and which older
 * ones may go. Asks nobody and shows nothing; programs are run through the `Run` that is handed in.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerCommand } from './command';
import { plain } from './labels';
import { explainSearch, findPython, parseVersion, type Run, type RunResult } from './python';

/** Written last: a folder without it is an installation that was cut short. */
const MARKER = 'complete.json';
const UNUSED_MS = 24 * 3600 * 1000;
/** A lock this old was left by a window that was killed. */
const STALE_LOCK_MS = 30 * 60 * 1000;
const LOCK_POLL_MS = 1000;

/** Why an installation failed; the message says what to change. */
export class InstallError extends Error {}

export interface InstallContext {
  /** The extension's global storage. */
  storage: string;
  /** The folder inside the extension that holds the wheel. */
  wheels: string;
  /** The extension's version: each has an environment of its own. */
  version: string;
  windows: boolean;
}

/** The folder that holds this version's environment. */
export function environmentFolder(context: InstallContext): string {
  return path.join(context.storage, `server-${context.version}`);
}

/** The environment's interpreter. */
export function environmentPython(folder: string, windows: boolean): string {
  return windows ? path.join(folder, 'venv', 'Scripts', 'python.exe') : path.join(folder, 'venv', 'bin', 'python');
}

/** Isolated: neither the current folder nor PYTHONPATH can put other modules before the server's own. */
export function managedCommand(folder: string, windows: boolean): ServerCommand {
  return { program: environmentPython(folder, windows), args: ['-I', '-m', 'mnemolens', 'serve'] };
}

/** The wheel inside the extension, undefined when it was built without one. */
export function bundledWheel(wheels: string): string | undefined {
  let names: string[];
  try {
    names = readdirSync(wheels);
  } catch {
    return undefined;
  }
  const wheel = names.filter((name) => /^mnemolens-.*\.whl$/u.test(name)).sort();
  const last = wheel.at(-1);
  return last === undefined ? undefined : path.join(wheels, last);
}

/** What a finished installation says of itself. */
interface Marker {
  wheel: string;
  size: number;
}

function describe(wheel: string): Marker {
  return { wheel: path.basename(wheel), size: statSync(wheel).size };
}

/**
 * The command of the installed server; undefined when it has yet to be installed.
 *
 * A wheel of another name or size than the installed one (a rebuilt extension of the same version) asks for a new
 * installation. The folder is marked as used.
 */
export function installedCommand(context: InstallContext, now: number): ServerCommand | undefined {
  const folder = environmentFolder(context);
  const file = path.join(folder, MARKER);
  try {
    const marker = JSON.parse(readFileSync(file, 'utf8')) as Partial<Marker>;
    statSync(environmentPython(folder, context.windows));
    const wheel = bundledWheel(context.wheels);
    if (wheel !== undefined) {
      const { wheel: name, size } = describe(wheel);
      if (marker.wheel !== name || marker.size !== size) {
        return undefined;
      }
    }
    utimesSync(file, now / 1000, now / 1000);
  } catch {
    return undefined;
  }
  return managedCommand(folder, context.windows);
}

export type Report = (message: string) => void;

/**
 * Makes the environment and installs the wheel into it, with the user's own configuration of uv or pip.
 *
 * @param run runs a program to its end; it may be ended early when the user cancels
 * @param cancelled whether the user has cancelled
 * @throws InstallError with a message for the user; whatever was begun is removed
 */
export async function install(
  context: InstallContext,
  run: Run,
  report: Report,
  cancelled: () => boolean,
): Promise<ServerCommand> {
  const wheel = bundledWheel(context.wheels);
  if (wheel === undefined) {
    throw new InstallError('This build of Mnemolens carries no server: set mnemolens.server.command.');
  }
  const lock = path.join(context.storage, `installing-${context.version}`);
  mkdirSync(context.storage, { recursive: true });
  if (!takeLock(lock)) {
    report('another window is installing it, waiting');
    while (!takeLock(lock)) {
      if (cancelled()) {
        throw new InstallError('cancelled');
      }
      await sleep(LOCK_POLL_MS);
    }
    const ready = installedCommand(context, Date.now());
    if (ready !== undefined) {
      rmSync(lock, { recursive: true, force: true });
      return ready;
    }
  }
  try {
    return await installLocked(context, wheel, run, report, cancelled);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Making a folder is atomic: one window gets it. */
function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
  try {
    if (Date.now() - statSync(lock).mtimeMs > STALE_LOCK_MS) {
      rmSync(lock, { recursive: true, force: true });
    }
  } catch {
    // the other window has just let go
  }
  return false;
}

async function installLocked(
  context: InstallContext,
  wheel: string,
  run: Run,
  report: Report,
  cancelled: () => boolean,
): Promise<ServerCommand> {
  const folder = environmentFolder(context);
  const python = environmentPython(folder, context.windows);
  const venv = path.join(folder, 'venv');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });

  const step = async (message: string, program: string, args: readonly string[]): Promise<void> => {
    if (cancelled()) {
      throw new InstallError('cancelled');
    }
    report(message);
    const result = await run(program, args);
    if (cancelled()) {
      throw new InstallError('cancelled');
    }
    if (result.code !== 0) {
      throw new InstallError(explainStep(program, result));
    }
  };

  try {
    if (await hasUv(run)) {
      await step('making an environment (uv)', 'uv', ['venv', '--no-project', '--python', '>=3.11,<3.15', venv]);
      await step('fetching it and its packages (uv)', 'uv', ['pip', 'install', '--python', python, wheel]);
    } else {
      const search = await findPython(run, context.windows);
      if (search.kind !== 'found') {
        throw new InstallError(explainSearch(search));
      }
      const { program, args } = search.interpreter;
      await step('making an environment', program, [...args, '-m', 'venv', venv]);
      await step('fetching it and its packages (pip)', python, [
        '-m',
        'pip',
        'install',
        '--disable-pip-version-check',
        '--no-input',
        '--progress-bar',
        'off', // a log does not move
        wheel,
      ]);
    }
    await step('checking it', python, ['-I', '-c', 'import mnemolens']);
    const marker = path.join(folder, MARKER);
    writeFileSync(`${marker}.new`, JSON.stringify(describe(wheel)));
    renameSync(`${marker}.new`, marker);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return managedCommand(folder, context.windows);
}

async function hasUv(run: Run): Promise<boolean> {
  const result = await run('uv', ['--version']);
  return result.code === 0 && parseVersion(result.stdout.replace(/^uv (\S+).*$/su, '$1')) !== undefined;
}

/** What to tell about a step that failed: its last line, and the known cause where there is one. */
export function explainStep(program: string, result: RunResult): string {
  const output = `${result.stdout}\n${result.stderr}`;
  if (/ensurepip is not available|No module named '?(?:venv|ensurepip)/u.test(output)) {
    const command = /apt(?:-get)? install (python[\w.-]+)/u.exec(output)?.[1] ?? 'python3-venv';
    return (
      `${plain(program)} can't make virtual environments: install ${command} with your system's package manager, ` +
      'or install uv, then try again.'
    );
  }
  if (/No space left on device|ENOSPC|not enough space/iu.test(output)) {
    return 'The disk is full: free some space, then try again.';
  }
  const offline = /NewConnectionError|Name or service not known|Temporary failure in name|dns error|Failed to fetch|ProxyError|SSLError|ConnectTimeout|ReadTimeout|Failed to establish a new connection/iu;
  if (offline.test(output)) {
    return (
      'The package index can\'t be reached: check the network, or the index and proxy in your pip or uv ' +
      'configuration, then try again.'
    );
  }
  const line = output
    .split(/\r\n|\r|\n/u)
    .map((text) => plain(text, 200))
    .filter((text) => text !== '')
    .at(-1);
  return `${plain(path.basename(program))} failed${line === undefined ? '' : `: ${line}`}. The log has all of its output.`;
}

/**
 * Removes environments of other versions that no window has started in the last day, and answers their names.
 *
 * Another window may still run an older version until it is reloaded, hence the day.
 */
export function removeUnused(context: InstallContext, now: number): string[] {
  const keep = path.basename(environmentFolder(context));
  const removed: string[] = [];
  let names: string[];
  try {
    names = readdirSync(context.storage);
  } catch {
    return removed;
  }
  for (const name of names) {
    if (!name.startsWith('server-') || name === keep) {
      continue;
    }
    const folder = path.join(context.storage, name);
    if (now - lastUse(folder) < UNUSED_MS) {
      continue;
    }
    try {
      rmSync(folder, { recursive: true, force: true });
      removed.push(name);
    } catch {
      // in use (Windows): the next start tries again
    }
  }
  return removed;
}

function lastUse(folder: string): number {
  for (const file of [path.join(folder, MARKER), folder]) {
    try {
      return statSync(file).mtimeMs;
    } catch {
      continue;
    }
  }
  return 0;
}
