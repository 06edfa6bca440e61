import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  bundledWheel,
  environmentPython,
  explainStep,
  install,
  installedCommand,
  removeUnused,
  type InstallContext,
} from '../src/core/install';
import type { Run, RunResult } from '../src/core/python';

const WHEEL = 'mnemolens-0.1.0-py3-none-any.whl';
const DAY = 24 * 3600 * 1000;
const good: RunResult = { code: 0, stdout: '', stderr: '' };
const absent: RunResult = { code: null, stdout: '', stderr: 'ENOENT' };

let root: string;
let context: InstallContext;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'mnemolens-install-'));
  context = {
    storage: path.join(root, 'storage'),
    wheels: path.join(root, 'wheels'),
    version: '0.1.0',
    windows: false,
  };
  mkdirSync(context.wheels);
  writeFileSync(path.join(context.wheels, WHEEL), 'wheel');
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** A machine with or without uv, on which making an environment makes its interpreter's file. */
function machine(options: { uv: boolean; fail?: string }): { run: Run; commands: string[] } {
  const commands: string[] = [];
  const run: Run = async (program, args) => {
    const line = [program, ...args].join(' ');
    commands.push(line);
    if (options.fail !== undefined && line.includes(options.fail)) {
      return Promise.resolve({ code: 1, stdout: '', stderr: 'first\nERROR: it broke\n' });
    }
    if (program === 'uv' && !options.uv) {
      return Promise.resolve(absent);
    }
    if (line === 'uv --version') {
      return Promise.resolve({ ...good, stdout: 'uv 0.9.1 (abc 2026-01-01)\n' });
    }
    if (args.includes('venv')) {
      const python = environmentPython(path.dirname(args.at(-1) ?? ''), false);
      mkdirSync(path.dirname(python), { recursive: true });
      writeFileSync(python, '');
    }
    return Promise.resolve(args.includes('-c') ? { ...good, stdout: '3.12\n' } : good);
  };
  return { run, commands };
}

const silent = (): void => undefined;
const never = (): boolean => false;

describe('install', () => {
  it('uses uv where it is', async () => {
    const { run, commands } = machine({ uv: true });
    const command = await install(context, run, silent, never);
    const venv = path.join(context.storage, 'server-0.1.0', 'venv');
    const wheel = path.join(context.wheels, WHEEL);
    assert.deepEqual(command, {
      program: path.join(venv, 'bin', 'python'),
      args: ['-I', '-m', 'mnemolens', 'serve'],
    });
    assert.ok(commands.some((line) => line.startsWith('uv venv ') && line.endsWith(venv)));
    assert.ok(commands.includes(`uv pip install --python ${command.program} ${wheel}`));
    assert.ok(!commands.some((line) => line.includes('-m pip')));
    assert.deepEqual(installedCommand(context, Date.now()), command);
  });

  it('uses venv and pip elsewhere, without touching their configuration', async () => {
    const { run, commands } = machine({ uv: false });
    const command = await install(context, run, silent, never);
    assert.ok(commands.some((line) => line.startsWith('python3 -m venv ')));
    const pip = commands.find((line) => line.includes('-m pip install')) ?? '';
    assert.ok(pip.startsWith(`${command.program} -m pip install`), pip);
    assert.doesNotMatch(pip, /--isolated|--index-url|--no-index/u);
  });

  it('leaves nothing behind when a step fails, and says why', async () => {
    const { run } = machine({ uv: true, fail: 'uv pip install' });
    await assert.rejects(install(context, run, silent, never), /uv failed: ERROR: it broke/u);
    assert.equal(installedCommand(context, Date.now()), undefined);
    assert.deepEqual(readdirSync(context.storage), []);
  });

  it('leaves nothing behind when the user cancels', async () => {
    const { run } = machine({ uv: true });
    let asked = 0;
    const cancelled = (): boolean => (asked += 1) > 2;
    await assert.rejects(install(context, run, silent, cancelled), /cancelled/u);
    assert.deepEqual(readdirSync(context.storage), []);
  });

  it('says that no Python is there', async () => {
    const run: Run = async () => Promise.resolve(absent);
    await assert.rejects(install(context, run, silent, never), /no Python was found/u);
  });

  it('says that this build has no wheel', async () => {
    rmSync(context.wheels, { recursive: true });
    assert.equal(bundledWheel(context.wheels), undefined);
    await assert.rejects(install(context, machine({ uv: true }).run, silent, never), /mnemolens\.server\.command/u);
  });

  it('waits for another window, and takes what that one installed', async () => {
    const lock = path.join(context.storage, 'installing-0.1.0');
    mkdirSync(lock, { recursive: true });
    const { run, commands } = machine({ uv: true });
    const reports: string[] = [];
    const waiting = install(context, run, (message) => reports.push(message), never);
    assert.deepEqual(reports, ['another window is installing it, waiting']);
    const python = environmentPython(path.join(context.storage, 'server-0.1.0'), false);
    mkdirSync(path.dirname(python), { recursive: true });
    writeFileSync(python, '');
    writeFileSync(
      path.join(context.storage, 'server-0.1.0', 'complete.json'),
      JSON.stringify({ wheel: WHEEL, size: 'wheel'.length }),
    );
    rmSync(lock, { recursive: true });
    assert.equal((await waiting).program, python);
    assert.deepEqual(commands, []);
    assert.deepEqual(readdirSync(context.storage), ['server-0.1.0']);
  });
});

describe('installedCommand', () => {
  it('does not take an installation that was cut short', async () => {
    await install(context, machine({ uv: true }).run, silent, never);
    rmSync(path.join(context.storage, 'server-0.1.0', 'complete.json'));
    assert.equal(installedCommand(context, Date.now()), undefined);
  });

  it('does not take another wheel, nor another version', async () => {
    await install(context, machine({ uv: true }).run, silent, never);
    assert.equal(installedCommand({ ...context, version: '0.2.0' }, Date.now()), undefined);
    writeFileSync(path.join(context.wheels, WHEEL), 'a rebuilt wheel');
    assert.equal(installedCommand(context, Date.now()), undefined);
  });

  it('does not take an environment whose interpreter is gone', async () => {
    const { program } = await install(context, machine({ uv: true }).run, silent, never);
    rmSync(program);
    assert.equal(installedCommand(context, Date.now()), undefined);
  });
});

describe('removeUnused', () => {
  it('removes what no window has started for a day, but neither this version nor other files', async () => {
    await install(context, machine({ uv: true }).run, silent, never);
    await install({ ...context, version: '0.0.1' }, machine({ uv: true }).run, silent, never);
    await install({ ...context, version: '0.0.2' }, machine({ uv: true }).run, silent, never);
    writeFileSync(path.join(context.storage, 'other.txt'), '');
    const now = Date.now();
    const old = (now - DAY - 1000) / 1000;
    utimesSync(path.join(context.storage, 'server-0.0.1', 'complete.json'), old, old);
    assert.deepEqual(removeUnused(context, now), ['server-0.0.1']);
    assert.deepEqual(readdirSync(context.storage).sort(), ['other.txt', 'server-0.0.2', 'server-0.1.0']);
    assert.deepEqual(removeUnused(context, now + 2 * DAY), ['server-0.0.2']);
    assert.ok(existsSync(path.join(context.storage, 'server-0.1.0')));
  });

  it('is content with no storage at all', () => {
    assert.deepEqual(removeUnused(context, Date.now()), []);
  });
});

describe('explainStep', () => {
  const failed = (stderr: string): RunResult => ({ code: 1, stdout: '', stderr });

  it('names the package that Debian keeps venv in', () => {
    const text = 'The virtual environment was not created successfully because ensurepip is not available.\n    apt install python3.11-venv\n';
    assert.match(explainStep('python3', failed(text)), /install python3\.11-venv/u);
    assert.match(explainStep('python3', failed('No module named venv')), /install python3-venv/u);
  });

  it('knows a network that is away', () => {
    assert.match(explainStep('pip', failed('Failed to establish: NewConnectionError(...)')), /index can't be reached/u);
  });

  it('knows a full disk', () => {
    assert.match(explainStep('pip', failed('OSError: [Errno 28] No space left on device')), /disk is full/u);
  });
});
