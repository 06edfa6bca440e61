/** The one status item: what the server does, its figures as a tooltip, and a small menu on click. */

import * as vscode from 'vscode';
import { indexingTotals, statusText, statusTooltip, type ServerState } from './core/labels';
import { SERVER_COMMANDS, type FolderStatus, type ServerStatus } from './core/protocol';
import { tellError } from './messages';
import type { Server } from './server';

const MENU_COMMAND = 'mnemolens.internal.menu';
const POLL_MS = 500;

export interface MenuEntry {
  label: string;
  description?: string;
  act: () => unknown;
}

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('mnemolens.status', vscode.StatusBarAlignment.Right, 100);
  private readonly disposables: { dispose: () => unknown }[];
  private timer: NodeJS.Timeout | undefined;
  private status: ServerStatus | undefined;

  /** @param entries what the menu offers in a state, above the figures */
  constructor(
    private readonly server: Server,
    private readonly entries: (state: ServerState, status: ServerStatus | undefined) => Promise<MenuEntry[]>,
  ) {
    this.item.name = 'Mnemolens';
    this.item.command = MENU_COMMAND;
    this.disposables = [
      this.item,
      vscode.commands.registerCommand(MENU_COMMAND, async () => this.menu()),
      server.onDidChangeState(() => {
        this.show(server.state);
        this.refreshSoon(0);
      }),
      server.onDidWork(() => {
        this.refreshSoon(POLL_MS);
      }),
    ];
    this.show(server.state);
    this.item.show();
  }

  /** Reads the figures anew, shortly: after something was stored or forgotten. */
  refreshSoon(milliseconds = POLL_MS): void {
    this.timer ??= setTimeout(() => void this.refresh(), milliseconds);
  }

  /** The entries to go on with what was stopped: reading code, linking memories by new rules. */
  unread(status: ServerStatus | undefined): MenuEntry[] {
    const folders = status?.folders ?? [];
    const stopped = folders.filter((folder) => folder.indexStopped === true);
    const due = folders.filter((folder) => (folder.linksDue ?? 0) > 0);
    return [
      ...this.goesOn('$(refresh) Read the code: it was stopped', SERVER_COMMANDS.rebuild, stopped),
      ...this.goesOn('$(refresh) Link memories by the new rules: it was stopped', SERVER_COMMANDS.resumeLinking, due),
    ];
  }

  private goesOn(label: string, command: string, folders: FolderStatus[]): MenuEntry[] {
    const act = async (): Promise<void> => {
      this.refreshSoon();
      try {
        await Promise.all(folders.map(async ({ root }) => this.server.run(command, { root })));
      } catch (error) {
        tellError(error);
      }
      this.refreshSoon(0);
    };
    return folders.length === 0 ? [] : [{ label, act }];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private async refresh(): Promise<void> {
    this.timer = undefined;
    if (!this.server.isRunning) {
      return;
    }
    try {
      this.status = await this.server.run<ServerStatus>(SERVER_COMMANDS.status, {});
    } catch {
      return; // told elsewhere if it matters: the figures are a tooltip
    }
    const indexing = indexingTotals(this.status.folders);
    if (indexing !== undefined) {
      this.refreshSoon();
    }
    if (this.server.state.kind === 'ready') {
      this.show(indexing === undefined ? this.server.state : { kind: 'indexing', ...indexing });
    }
  }

  private show(state: ServerState): void {
    this.item.text = statusText(state);
    this.item.tooltip = statusTooltip(state, this.status);
    const alarming = state.kind === 'none';
    this.item.backgroundColor = alarming ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.item.accessibilityInformation = { label: statusTooltip(state, this.status) };
  }

  private async menu(): Promise<void> {
    await this.refresh();
    const { state } = this.server;
    const [title, ...figures] = statusTooltip(state, this.status).split('\n');
    const items = [
      ...(await this.entries(state, this.status)),
      ...figures.map((label): MenuEntry => ({ label, act: () => undefined })),
    ];
    const picked = await vscode.window.showQuickPick(items, { title: title ?? 'Mnemolens' });
    await picked?.act();
  }
}
