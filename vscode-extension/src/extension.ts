/** Wires the extension together: one server, one status item, the palette's commands. */

import * as vscode from 'vscode';
import { Capture } from './capture';
import { Clicks } from './clicks';
import { Installer } from './installer';
import { Launcher } from './launcher';
import { Memories } from './memories';
import { tellError } from './messages';
import { Notes } from './notes';
import { Server } from './server';
import { StatusItem } from './status';
import { Undo } from './undo';

/** A menu opens no later for what it may offer besides: a large project takes longer to read the first time. */
const OFFERS_MS = 700;

let running: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('Mnemolens', { log: true });
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);

  const undo = new Undo();
  const server: Server = new Server(log, context.globalStorageUri.fsPath, async (command, argument) =>
    clicks.run(command, argument),
  );
  running = server;
  const notes = new Notes(server, undo, () => {
    status.refreshSoon();
  });
  const memories = new Memories(server, undo, async () => notes.imports());
  const clicks = new Clicks(server, memories, undo, () => {
    status.refreshSoon();
  });
  const capture = new Capture(server, undo);
  const launcher = new Launcher(server, new Installer(context, log), log);
  const status: StatusItem = new StatusItem(server, async (state, figures) => [
    ...(state.kind === 'ready' ? [...notes.restores(figures), ...status.unread(figures), ...(await within(notes.imports(), OFFERS_MS, []))] : []),
    ...launcher.menu(state),
  ]);
  context.subscriptions.push(log, undo, server, launcher, status);

  /** Registers a palette command that needs the server; its error becomes one message. */
  function register(id: string, act: (argument: unknown) => unknown): void {
    const command = vscode.commands.registerCommand(id, async (argument: unknown) => {
      try {
        if (await launcher.ensure()) {
          await act(argument);
          status.refreshSoon();
        }
      } catch (error) {
        tellError(error);
      }
    });
    context.subscriptions.push(command);
  }

  register('mnemolens.capture', (argument) => {
    capture.open(argument);
  });
  register('mnemolens.search', () => {
    memories.search();
  });
  register('mnemolens.showHere', async () => memories.showHere());
  register('mnemolens.openMemory', async (argument) => memories.open(argument));
  register('mnemolens.forgetHere', async () => memories.forgetHere());
  register('mnemolens.undo', async () => undo.takeBack());
  register('mnemolens.due', async () => memories.due());
  register('mnemolens.contradictions', async () => memories.conflicts());
  register('mnemolens.copyContext', async () => memories.copyContext());
  register('mnemolens.purge', () => {
    memories.purge();
  });
  context.subscriptions.push(
    vscode.commands.registerCommand('mnemolens.restartServer', async () => launcher.restart()),
    vscode.commands.registerCommand('mnemolens.showLogs', () => {
      log.show();
    }),
  );
  void launcher.launch();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}

/** What a promise gives, or something else where that takes too long. */
async function within<Value>(promise: Promise<Value>, milliseconds: number, late: Value): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<Value>((resolve) => {
    timer = setTimeout(() => {
      resolve(late);
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, waited]);
  } finally {
    clearTimeout(timer);
  }
}
