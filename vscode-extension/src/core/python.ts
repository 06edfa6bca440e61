/**
 * Finding a Python that can run the server, and what to say when there is none.
 *
 * Starts nothing itself: programs are run through the `Run` that is handed in.
 */

import { plain } from './labels';

/** The end of a program that was run. `code` is null when it could not be started or was ended by a signal. */
export interface RunResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export type Run = (program: string, args: readonly string[]) => Promise<RunResult>;

export interface Version {
  major: number;
  minor: number;
}

/** The wheel's own `requires-python`. */
export const OLDEST: Version = { major: 3, minor: 11 };
/** The first for which not all packages have wheels yet: taken only where no older one fits. */
export const TOO_NEW: Version = { major: 3, minor: 15 };

export interface Interpreter {
  program: string;
  args: readonly string[];
  version: Version;
}

/** What `PRINT_VERSION` prints, and what `python --version` prints; undefined for anything else. */
export function parseVersion(text: string): Version | undefined {
  const match = /^(?:Python )?(\d+)\.(\d+)(?:\.\d+\S*)?$/mu.exec(text.trim());
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]) };
}

export function isAtLeast(version: Version, least: Version): boolean {
  return version.major > least.major || (version.major === least.major && version.minor >= least.minor);
}

/** Isolated, so that nothing in the current folder or the environment is imported. */
export const PRINT_VERSION: readonly string[] = ['-I', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'];

/** The commands to try, the likeliest to fit first. */
export function pythonCandidates(windows: boolean): { program: string; args: readonly string[] }[] {
  const exact = ['3.13', '3.12', '3.11', '3.14'];
  if (windows) {
    return [
      ...exact.map((version) => ({ program: 'py', args: [`-${version}`] })),
      { program: 'python', args: [] },
      { program: 'python3', args: [] },
    ];
  }
  return ['python3', 'python', ...exact.map((version) => `python${version}`)].map((program) => ({ program, args: [] }));
}

export type PythonSearch =
  | { kind: 'found'; interpreter: Interpreter }
  | { kind: 'tooOld'; newest: Interpreter }
  | { kind: 'missing' };

/** The first candidate that fits, one that all packages have wheels for first; else the newest too old; else nothing. */
export async function findPython(run: Run, windows: boolean): Promise<PythonSearch> {
  let newest: Interpreter | undefined;
  let untried: Interpreter | undefined;
  for (const candidate of pythonCandidates(windows)) {
    const result = await run(candidate.program, [...candidate.args, ...PRINT_VERSION]);
    const version = result.code === 0 ? parseVersion(result.stdout) : undefined;
    if (version === undefined) {
      continue;
    }
    const interpreter = { ...candidate, version };
    if (isAtLeast(version, TOO_NEW)) {
      untried ??= interpreter;
      continue;
    }
    if (isAtLeast(version, OLDEST)) {
      return { kind: 'found', interpreter };
    }
    if (newest === undefined || !isAtLeast(newest.version, version)) {
      newest = interpreter;
    }
  }
  if (untried !== undefined) {
    return { kind: 'found', interpreter: untried };
  }
  return newest === undefined ? { kind: 'missing' } : { kind: 'tooOld', newest };
}

const WAYS = 'Install Python 3.11 or newer (or uv), or set mnemolens.server.command.';

/** What to tell a user whose machine has no fitting Python. */
export function explainSearch(search: Exclude<PythonSearch, { kind: 'found' }>): string {
  if (search.kind === 'missing') {
    return `no Python was found. ${WAYS}`;
  }
  const { program, version } = search.newest;
  return `Python 3.11 or newer is needed; ${plain(program)} is ${version.major}.${version.minor}. ${WAYS}`;
}
