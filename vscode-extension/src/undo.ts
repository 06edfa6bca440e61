/** One short-lived status bar item that takes back what was just done: no toast, no dialog. */

import * as vscode from 'vscode';
import { plain } from './core/labels';
import { tellError } from './messages';

const UNDO_COMMAND = 'mnemolens.internal.undo';
const OFFER_MS = 10_000;
const DONE_MS = 3000;

export class Undo implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('mnemolens.undo', vscode.StatusBarAlignment.Left, -1000);
  private readonly registration: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;
  private act: (() => Promise<string>) | undefined;

  constructor() {
    this.item.name = 'Mnemolens: Undo';
    // Not contributed in package.json, so the palette never shows it.
    this.registration = vscode.commands.registerCommand(UNDO_COMMAND, async () => this.undo());
  }

  /**
   * Shows `text · Undo` for ten seconds.
   *
   * @param act takes it back, and answers what to say then
   */
  offer(text: string, act: () => Promise<string>): void {
    this.act = act;
    this.item.command = UNDO_COMMAND;
    this.item.tooltip = 'Undo';
    this.show(`$(check) ${plain(text, 60)} · $(discard) Undo`, OFFER_MS);
  }

  /** Says something for a moment, with nothing to undo. */
  say(text: string): void {
    this.act = undefined;
    this.item.command = undefined;
    this.item.tooltip = undefined;
    this.show(`$(check) ${plain(text, 60)}`, DONE_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.item.dispose();
    this.registration.dispose();
  }

  private show(text: string, milliseconds: number): void {
    clearTimeout(this.timer);
    this.item.text = text;
    this.item.show();
    this.timer = setTimeout(() => {
      this.act = undefined;
      this.item.hide();
    }, milliseconds);
  }

  private async undo(): Promise<void> {
    const { act } = this;
    if (act === undefined) {
      return;
    }
    this.act = undefined; // a second click does nothing
    try {
      this.say(await act());
    } catch (error) {
      this.item.hide();
      tellError(error);
    }
  }
}
