/**
 * Which server is started, and when: trust, the setting, the installed one, or none until the user agrees.
 *
 * Owns the questions and messages around starting; the process is `server.ts`'s.
 */

import * as os from 'node:os';
import * as vscode from 'vscode';
import { CommandError, parseServerCommand, type ServerCommand } from './core/command';
import type { ServerState } from './core/labels';
import type { Installer } from './installer';
import { messageOf } from './messages';
import type { Server } from './server';
import type { MenuEntry } from './status';

const NOT_INSTALLED = 'the language server is not installed yet; click to install it';

/** The one way out that a message offers, besides the log. */
type Way = 'Open Settings' | 'Reinstall' | 'Restart' | 'Try Again';

export class Launcher implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  /** Counts launches, so that an answer to an older launch's question changes nothing. */
  private turn = 0;
  private installing: Promise<void> | undefined;
  /** The way out of the current trouble. */
  private way: Way = 'Open Settings';

  constructor(
    private readonly server: Server,
    private readonly installer: Installer,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.disposables = [
      server.onDidGiveUp((reason) => {
        this.fail(reason, 'Restart');
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.launch()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('mnemolens.server.command')) {
          void this.launch();
        }
      }),
    ];
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  /** Starts what there is to start; asks to install once when that is nothing. */
  async launch(): Promise<void> {
    this.turn += 1;
    const { turn } = this;
    // In Restricted Mode nothing runs, not even the installed server: a folder may bring memories of its own, which
    // would be shown as if they were the user's, and its settings and sources would be read by native parsers.
    if (!vscode.workspace.isTrusted) {
      this.server.setState({ kind: 'restricted' });
      return;
    }
    let configured: ServerCommand | undefined;
    try {
      configured = this.configured();
    } catch (error) {
      if (!(error instanceof CommandError)) {
        throw error;
      }
      await this.server.stop();
      if (turn !== this.turn) {
        return;
      }
      this.fail(error.message, 'Open Settings');
      return;
    }
    if (configured !== undefined) {
      await this.begin(configured, false);
      return;
    }
    const installed = this.installer.installed();
    if (installed !== undefined) {
      await this.begin(installed, true);
      return;
    }
    await this.server.stop();
    if (turn !== this.turn) {
      return;
    }
    if (!this.installer.carriesServer) {
      this.way = 'Open Settings';
      this.server.setState({ kind: 'none', reason: 'this build carries no language server: set mnemolens.server.command' });
      return;
    }
    this.server.setState({ kind: 'none', reason: NOT_INSTALLED });
    const worthAsking = (vscode.workspace.workspaceFolders ?? []).length > 0 && !this.installer.declined;
    if (worthAsking && (await this.installer.ask()) && turn === this.turn) {
      await this.install();
    }
  }

  /** For a command that needs the server: asks to install where that is what is missing. */
  async ensure(): Promise<boolean> {
    const { state } = this.server;
    if (state.kind === 'restricted') {
      await vscode.commands.executeCommand('workbench.trust.manage');
      return false;
    }
    if (state.kind === 'installing') {
      await this.installing;
    } else if (state.kind === 'none') {
      if (state.reason === NOT_INSTALLED) {
        if (await this.installer.ask()) {
          await this.install();
        }
      } else {
        this.tell(state.reason);
      }
    }
    return this.server.isRunning || this.server.state.kind === 'starting';
  }

  /** Stops and starts; where nothing is installed, asks again. */
  async restart(): Promise<void> {
    if (this.installing !== undefined) {
      return;
    }
    await this.launch();
  }

  /** What a click on the status item offers. */
  menu(state: ServerState): MenuEntry[] {
    const entries: MenuEntry[] = [];
    if (state.kind === 'restricted') {
      entries.push({
        label: '$(shield) Manage Workspace Trust',
        act: async () => vscode.commands.executeCommand('workbench.trust.manage'),
      });
    } else {
      if (state.kind === 'none' && this.installer.carriesServer) {
        entries.push({ label: '$(cloud-download) Install the Language Server', act: async () => this.install() });
      }
      if (state.kind === 'ready') {
        entries.push(
          { label: '$(note) Capture a Memory', act: async () => vscode.commands.executeCommand('mnemolens.capture') },
          { label: '$(search) Search Memories', act: async () => vscode.commands.executeCommand('mnemolens.search') },
        );
      }
      entries.push({ label: '$(refresh) Restart Server', act: async () => this.restart() });
    }
    entries.push(
      {
        label: '$(output) Show Logs',
        act: () => {
          this.log.show();
        },
      },
      { label: '$(gear) Open Settings', act: openSettings },
    );
    return entries;
  }

  private configured(): ServerCommand | undefined {
    return parseServerCommand(vscode.workspace.getConfiguration('mnemolens').get('server.command'), {
      folder: vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === 'file')?.uri.fsPath,
      home: os.homedir(),
      windows: process.platform === 'win32',
    });
  }

  private async begin(command: ServerCommand, managed: boolean): Promise<void> {
    const { turn } = this;
    const failure = await this.server.start(command, managed);
    if (failure !== undefined && turn === this.turn) {
      this.fail(failure, managed ? 'Reinstall' : 'Open Settings');
    }
  }

  private async install(): Promise<void> {
    this.installing ??= this.installNow().finally(() => {
      this.installing = undefined;
    });
    await this.installing;
  }

  private async installNow(): Promise<void> {
    await this.server.stop();
    this.server.setState({ kind: 'installing' });
    try {
      const command = await this.installer.install();
      if (command === undefined) {
        this.server.setState({ kind: 'none', reason: NOT_INSTALLED });
        return;
      }
      await this.begin(command, true);
    } catch (error) {
      this.fail(messageOf(error), 'Try Again');
    }
  }

  private fail(reason: string, way: Way): void {
    this.way = way;
    this.server.setState({ kind: 'none', reason });
    this.tell(reason);
  }

  /** One message with one way out, and the log. */
  private tell(message: string): void {
    const logs = 'Show Logs';
    void vscode.window.showErrorMessage(`Mnemolens: ${message}`, this.way, logs).then(async (answer) => {
      switch (answer) {
        case logs:
          this.log.show();
          break;
        case 'Open Settings':
          await openSettings();
          break;
        case 'Restart':
          await this.restart();
          break;
        case 'Reinstall':
        case 'Try Again':
          await this.install();
          break;
        case undefined:
          break;
      }
    });
  }
}

async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', '@ext:mnemolens.mnemolens');
}
