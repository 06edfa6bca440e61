/** Wires the extension together: one server, one status item, the palette's commands. */

import * as os from 'node:os';
import * as vscode from 'vscode';
import { Capture } from './capture';
import { CommandError, parseServerCommand } from './core/command';
import { Server } from './server';
import { Undo } from './undo';

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('Mnemolens', { log: true });
  const storage = context.globalStorageUri;
  await vscode.workspace.fs.createDirectory(storage);
  const undo = new Undo();
  server = new Server(log, storage.fsPath, () => undefined);
  const capture = new Capture(server, undo);
  context.subscriptions.push(log, undo, server);
  context.subscriptions.push(
    vscode.commands.registerCommand('mnemolens.capture', (argument: unknown) => {
      capture.open(argument);
    }),
    vscode.commands.registerCommand('mnemolens.showLogs', () => {
      log.show();
    }),
  );
  try {
    const command = parseServerCommand(vscode.workspace.getConfiguration('mnemolens').get('server.command'), {
      folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
      home: os.homedir(),
      windows: process.platform === 'win32',
    });
    if (command !== undefined) {
      void server.start(command, false);
    }
  } catch (error) {
    if (!(error instanceof CommandError)) {
      throw error;
    }
    server.setState({ kind: 'none', reason: error.message });
  }
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}
