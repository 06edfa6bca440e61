/** Wires the extension together: one server, one status item, the palette's commands. */

import * as vscode from 'vscode';
import { Capture } from './capture';
import { memoryTitle } from './core/labels';
import { SERVER_COMMANDS, type Memory } from './core/protocol';
import { Installer } from './installer';
import { Launcher } from './launcher';
import { Memories } from './memories';
import { tellError } from './messages';
import { Server } from './server';
import { StatusItem } from './status';
import { Undo } from './undo';

let running: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('Mnemolens', { log: true });
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);

  const undo = new Undo();
  const server = new Server(log, context.globalStorageUri.fsPath, (command, argument, result) => {
    afterClick(command, argument, result);
  });
  running = server;
  const memories = new Memories(server, undo);
  const capture = new Capture(server, undo);
  const launcher = new Launcher(server, new Installer(context, log), log);
  const status = new StatusItem(server, (state) => launcher.menu(state));
  context.subscriptions.push(log, undo, server, launcher, status);

  /** What a click on a hover link, lens or code action did, and how to take it back. */
  function afterClick(command: string, argument: unknown, result: unknown): void {
    status.refreshSoon();
    const { memory } = (result ?? {}) as { memory?: Memory };
    if (memory === undefined) {
      return;
    }
    const { root } = (argument ?? {}) as { root?: string };
    const found = { memory, root: root === undefined ? {} : { root } };
    if (command === SERVER_COMMANDS.forget) {
      memories.offerRestore(found);
    } else if (command === SERVER_COMMANDS.confirm) {
      undo.say(`Still true: ${memoryTitle(memory)}`);
    }
  }

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
