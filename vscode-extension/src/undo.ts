/** A short-lived status bar item that takes back what was just done, and one that offers what comes next: no toast. */

import * as vscode from 'vscode';
import { plain } from './core/labels';
import { tellError } from './messages';

const UNDO_COMMAND = 'mnemolens.internal.undo';
const NEXT_COMMAND = 'mnemolens.internal.next';
const OFFER_MS = 10_000;
const DONE_MS = 5000;

/** Something that may be done next; `act` answers what to say then, undefined for nothing. */
export interface Next {
  text: string;
  tooltip: string;
  act: () => Promise<string | undefined>;
}

export class Undo implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('mnemolens.undo', vscode.StatusBarAlignment.Left, -1000);
  private readonly nextItem = vscode.window.createStatusBarItem('mnemolens.next', vscode.StatusBarAlignment.Left, -1001);
  private readonly registrations: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  /** Taken back by the item while that is shown, and by the palette until something else is done. */
  private act: Next['act'] | undefined;
  private next: Next['act'] | undefined;

  constructor() {
    this.item.name = 'Mnemolens: Undo';
    this.nextItem.name = 'Mnemolens: What Comes Next';
    this.nextItem.command = NEXT_COMMAND;
    // Not contributed in package.json, so the palette never shows them.
    this.registrations = [
      vscode.commands.registerCommand(UNDO_COMMAND, async () => this.run(this.act)),
      vscode.commands.registerCommand(NEXT_COMMAND, async () => this.run(this.next)),
    ];
  }

  /**
   * Shows `text · Undo` for ten seconds.
   *
   * @param act takes it back, and answers what to say then
   * @param next is offered beside it
   */
  offer(text: string, act: () => Promise<string>, next?: Next): void {
    this.act = act;
    this.next = next?.act;
    this.nextItem.text = next === undefined ? '' : `$(arrow-right) ${plain(next.text, 90)}`;
    this.nextItem.tooltip = next?.tooltip;
    this.item.command = UNDO_COMMAND;
    this.item.tooltip = 'Undo';
    this.show(`$(check) ${plain(text, 60)} · $(discard) Undo`, OFFER_MS);
  }

  /** Says something for a moment, with nothing to undo. */
  say(text: string): void {
    this.act = this.next = undefined;
    this.item.command = undefined;
    this.item.tooltip = undefined;
    this.show(`$(check) ${plain(text, 60)}`, DONE_MS);
  }

  /** Takes back what was last done: for the palette, as ten seconds are short for who works without a pointer. */
  async takeBack(): Promise<void> {
    if (this.act === undefined) {
      this.say('Nothing to undo');
      return;
    }
    await this.run(this.act);
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of [this.item, this.nextItem, ...this.registrations]) {
      disposable.dispose();
    }
  }

  private show(text: string, milliseconds: number): void {
    clearTimeout(this.timer);
    this.item.text = text;
    this.item.show();
    if (this.next === undefined) {
      this.nextItem.hide();
    } else {
      this.nextItem.show();
    }
    this.timer = setTimeout(() => {
      this.hide();
    }, milliseconds);
  }

  private hide(): void {
    this.next = undefined;
    this.item.hide();
    this.nextItem.hide();
  }

  private async run(act: Next['act'] | undefined): Promise<void> {
    if (act === undefined) {
      return;
    }
    this.act = undefined; // a second click does nothing
    this.hide();
    try {
      const done = await act();
      if (done !== undefined) {
        this.say(done);
      }
    } catch (error) {
      tellError(error);
    }
  }
}
