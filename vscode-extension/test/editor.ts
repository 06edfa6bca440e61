/** Stands for server, status bar and cursor in the tests of inputs and lists. */

import type { Server } from '../src/server';
import type { Next, Undo } from '../src/undo';
import { opened, Uri, window, workspace } from './vscode';

export interface Call {
  command: string;
  argument: Record<string, unknown>;
}

export type Answer = (argument: Record<string, unknown>) => unknown;

/** A server that answers from a table; a command that is not in it fails the test. */
export function serverOf(answers: Record<string, Answer>): { server: Server; calls: Call[] } {
  const calls: Call[] = [];
  const run = async (command: string, argument: Record<string, unknown>): Promise<unknown> => {
    calls.push({ command, argument });
    const answer = answers[command];
    if (answer === undefined) {
      throw new Error(`no answer for ${command}`);
    }
    return Promise.resolve(answer(argument));
  };
  const asUri = (uri: Uri): string => uri.toString();
  return { server: { run, asUri } as unknown as Server, calls };
}

interface Offered {
  text: string;
  act: () => Promise<string>;
  next: Next | undefined;
}

/** A status bar that remembers what it was told. */
export function undoOf(): { undo: Undo; said: string[]; offered: Offered[] } {
  const said: string[] = [];
  const offered: Offered[] = [];
  const undo = {
    say: (text: string) => said.push(text),
    offer: (text: string, act: () => Promise<string>, next?: Next) => offered.push({ text, act, next }),
  };
  return { undo: undo as unknown as Undo, said, offered };
}

/** Puts the cursor into a file, at a 0-based line. */
export function cursorAt(path: string, line: number): void {
  const active = { line, character: 4 };
  window.activeTextEditor = {
    document: { uri: Uri.parse(`file://${path}`) },
    selection: { active, start: active, end: active, isEmpty: true },
  };
}

/** Forgets all that was opened, and closes editor and folders. */
export function clean(): void {
  for (const list of Object.values(opened)) {
    list.length = 0;
  }
  window.activeTextEditor = undefined;
  workspace.workspaceFolders = [];
}

/** Lets all promises that are ready run. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
