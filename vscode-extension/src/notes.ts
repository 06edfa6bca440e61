/** Offers what a project already says about its code as memories, and a fresh clone's daily copy: asked, never by itself. */

import * as vscode from 'vscode';
import { importLabel, importSaid, noteWords, restoreLabel, restoreSaid, tryLabel } from './core/notes';
import {
  SERVER_COMMANDS,
  type FoundNote,
  type ImportPreview,
  type ImportResult,
  type RestoreResult,
  type ServerStatus,
} from './core/protocol';
import { tellError } from './messages';
import type { Server } from './server';
import type { MenuEntry } from './status';
import { cursorTarget, rootOf, storeRoots } from './target';
import type { Undo } from './undo';

/** Where to look: a folder, or one file. */
interface Scope {
  root?: string;
  uri?: string;
}

interface NoteItem extends vscode.QuickPickItem {
  note: FoundNote;
}

export class Notes {
  /** @param changed told when memories were stored or forgotten */
  constructor(
    private readonly server: Server,
    private readonly undo: Undo,
    private readonly changed: () => void,
  ) {}

  /** The entries to import what is new, none while nothing is: the folders', then the open file's. */
  async imports(): Promise<MenuEntry[]> {
    const roots = storeRoots();
    const folders = await Promise.all(
      roots.map(async (scope) => this.entry(scope, (found) => importLabel(found, roots.length > 1 ? scope.root : undefined))),
    );
    const entries = folders.filter((entry) => entry !== undefined);
    const { uri } = cursorTarget((document) => this.server.asUri(document));
    if (entries.length > 0 && uri !== undefined) {
      const here = await this.entry({ uri }, (found) => tryLabel(found, vscode.Uri.parse(uri).path));
      if (here !== undefined) {
        entries.push(here);
      }
    }
    return entries;
  }

  /** The entries to restore daily copies that the status offers. */
  restores(status: ServerStatus | undefined): MenuEntry[] {
    const folders = status?.folders ?? [];
    return folders.flatMap(({ root, restore }) =>
      restore === undefined || restore === null
        ? []
        : [
            {
              label: `$(history) ${restoreLabel(restore, folders.length > 1 ? root : undefined)}`,
              act: async () => this.guarded(async () => this.restore(root)),
            },
          ],
    );
  }

  private async entry(scope: Scope, label: (found: ImportPreview) => string | undefined): Promise<MenuEntry | undefined> {
    try {
      const text = label(await this.server.run<ImportPreview>(SERVER_COMMANDS.importPreview, scope));
      return text === undefined ? undefined : { label: `$(comment) ${text}`, act: async () => this.guarded(async () => this.pick(scope)) };
    } catch {
      return undefined; // an offer that can't be made is none: a file that no open folder holds, an older server
    }
  }

  /** Lets the user pick what to import; everything is picked at first. */
  private async pick(scope: Scope): Promise<void> {
    const { items } = await this.server.run<ImportPreview>(SERVER_COMMANDS.importPreview, scope);
    const notes = items.map((note): NoteItem => ({ ...noteWords(note), picked: true, note }));
    const picked = await vscode.window.showQuickPick(notes, {
      title: 'Import notes as memories',
      placeHolder: 'Enter imports what is ticked; it can be undone',
      canPickMany: true,
      matchOnDetail: true,
    });
    if (picked === undefined || picked.length === 0) {
      return;
    }
    const argument = { ...scope, ids: picked.map(({ note }) => note.id) };
    const result = await this.server.run<ImportResult>(SERVER_COMMANDS.importRun, argument);
    this.changed();
    const { sessionId } = result;
    if (sessionId === null) {
      this.undo.say(importSaid(result));
      return;
    }
    const root = scope.uri === undefined ? scope : rootOf(vscode.Uri.parse(scope.uri));
    this.undo.offer(importSaid(result), async () => {
      await this.server.run(SERVER_COMMANDS.importUndo, { sessionId, ...root });
      this.changed();
      return 'Import undone';
    });
  }

  private async restore(root: string): Promise<void> {
    const result = await this.server.run<RestoreResult>(SERVER_COMMANDS.restoreStore, { root });
    this.changed();
    this.undo.say(restoreSaid(result));
  }

  private async guarded(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      tellError(error);
    }
  }
}
