/** Finding memories and acting on them: search, those at the cursor, open, copy, confirm, attach, link, forget. */

import * as vscode from 'vscode';
import { counted, memoryPlace, memoryTitle, placeLabel, plain, purgeQuestion, purgeSaid } from './core/labels';
import {
  SERVER_COMMANDS,
  type Conflict,
  type ContextResult,
  type DueNote,
  type Memory,
  type MemoryDetail,
  type MemoryPage,
  type Place,
  type PurgeResult,
} from './core/protocol';
import { onDay, reminderChoices, whenOf, type When } from './core/reminders';
import { MemoryPick, type Found, type Offer, type PickAction } from './memoryPick';
import type { Server } from './server';
import { cursorTarget, rootOf, storeRoots, type Target } from './target';
import type { Undo } from './undo';

const SHOWN = 50;
const PURGE = 'Remove for Good';

export class Memories {
  /** @param offers what a search that finds nothing at all shows instead */
  constructor(
    private readonly server: Server,
    private readonly undo: Undo,
    private readonly offers: () => Promise<Offer[]> = async () => Promise.resolve([]),
  ) {}

  /** Finds memories by text as one types; Enter opens one. */
  search(): void {
    const here = this.here();
    new MemoryPick({
      title: 'Search memories',
      placeholder: 'Words of the memory',
      search: true,
      load: async (text) => this.find(text),
      places: async (found) => this.places(found),
      actions: (memory) => this.actions(memory, here, false),
      accept: async (found) => this.openFound(found),
      empty: this.offers,
    }).show();
  }

  /** Shows the memories at the cursor; Enter opens one. */
  async showHere(): Promise<void> {
    await this.pickHere('Memories here', async (found) => this.openFound(found));
  }

  /** Lets the user pick one of the cursor's memories to forget. */
  async forgetHere(): Promise<void> {
    await this.pickHere('Forget a memory', async (found) => this.forget(found));
  }

  /** Lets the user pick a memory, a forgotten one too, to remove for good; asks before it does. */
  purge(): void {
    new MemoryPick({
      title: 'Remove a memory for good',
      placeholder: 'Words of the memory; Enter asks before anything is removed',
      search: true,
      load: async (text) => this.find(text, { includeForgotten: true }),
      places: async (found) => this.places(found),
      actions: () => [],
      accept: async (found) => this.purgeFound(found),
    }).show();
  }

  /** Lists the memories that are due; Enter opens one, its buttons say what becomes of it. */
  async due(): Promise<void> {
    const notes = await Promise.all(
      storeRoots().map(async (root) => {
        const { due } = await this.server.run<{ due: DueNote[] }>(SERVER_COMMANDS.due, { ...root });
        return due.map(({ memory, why }) => ({ memory, root, besides: why }));
      }),
    );
    const found = notes.flat();
    if (found.length === 0) {
      this.undo.say('No memory is due');
      return;
    }
    new MemoryPick({
      title: 'Memories that are due',
      placeholder: 'Filter',
      search: false,
      load: async () => Promise.resolve(found),
      places: async () => this.places(found),
      actions: () => [
        this.button('check', 'Done', SERVER_COMMANDS.done, 'Done'),
        this.button('clock', 'Snooze until tomorrow', SERVER_COMMANDS.snooze, 'Due again tomorrow'),
        this.button('bell-slash', 'Not now', SERVER_COMMANDS.notNow, 'Not before the next start'),
      ],
      accept: async (one) => this.openFound(one),
    }).show();
  }

  /** Lists the memories that contradict each other, those that do side by side. */
  async conflicts(): Promise<void> {
    const known = await Promise.all(
      storeRoots().map(async (root) => {
        const { edges } = await this.server.run<{ edges: Conflict[] }>(SERVER_COMMANDS.conflicts, { ...root });
        return [...new Set(edges.flatMap(({ sourceId, targetId }) => [sourceId, targetId]))].map((id) => ({ id, root }));
      }),
    );
    if (known.flat().length === 0) {
      this.undo.say('No memories contradict each other');
      return;
    }
    this.pickOf(known.flat(), 'Memories that contradict each other');
  }

  /** Copies what an agent should know at the cursor, as Markdown; that counts as a use, as any copy does. */
  async copyContext(): Promise<void> {
    const { uri, position } = this.here();
    if (uri === undefined) {
      this.undo.say('No file is open here');
      return;
    }
    const argument = { uri, position, record: true };
    const { markdown, memories, tokensUsed } = await this.server.run<ContextResult>(SERVER_COMMANDS.context, argument);
    await vscode.env.clipboard.writeText(markdown);
    this.undo.say(`Copied for an agent: ${counted(memories.length, 'memory', 'memories')}, ${counted(tokensUsed, 'token', 'tokens')}`);
  }

  /** Lets the user pick which of some memories to open. */
  pickOf(known: readonly { id: string; root: { root?: string } }[], title = 'Memories here'): void {
    const here = this.here();
    new MemoryPick({
      title,
      placeholder: 'Filter',
      search: false,
      load: async () =>
        Promise.all(
          known.map(async ({ id, root }) => {
            const { memory } = await this.server.run<MemoryDetail>(SERVER_COMMANDS.get, { id, ...root });
            return { memory, root };
          }),
        ),
      places: async (found) => this.places(found),
      actions: (memory) => this.actions(memory, here, false),
      accept: async (found) => this.openFound(found),
    }).show();
  }

  /** Opens the memory of an id, or lets the user pick one. */
  async open(argument?: unknown): Promise<void> {
    const { id, root } =
      typeof argument === 'object' && argument !== null
        ? (argument as { id?: unknown; root?: unknown })
        : { id: argument, root: undefined };
    if (typeof id !== 'string') {
      this.search();
      return;
    }
    const store = typeof root === 'string' ? { root } : rootOf(vscode.window.activeTextEditor?.document.uri);
    await this.server.run(SERVER_COMMANDS.open, { id, ...store });
  }

  /** Offers to take back that a memory was forgotten. */
  offerRestore(found: Found): void {
    this.undo.offer(`Forgot “${memoryTitle(found.memory)}”`, async () => {
      await this.act(SERVER_COMMANDS.restore, found);
      return 'Remembered again';
    });
  }

  /** A button that runs a command on the memory alone, and what to say when it is done. */
  private button(icon: string, tooltip: string, command: string, done: string): PickAction {
    return {
      icon,
      tooltip,
      act: async (found) => {
        await this.act(command, found);
        this.undo.say(done);
      },
    };
  }

  /** Lets the user pick where a memory's code has gone, of the places that may be it. */
  private async pickCandidate(found: Found): Promise<void> {
    const { anchors } = await this.server.run<MemoryDetail>(SERVER_COMMANDS.get, { id: found.memory.id, ...found.root });
    const items = anchors.flatMap((anchor) =>
      (anchor.candidates ?? []).map((candidate) => ({
        label: placeLabel(candidate),
        description: plain(candidate.file),
        anchorId: anchor.id,
        candidate: candidate.id,
      })),
    );
    if (items.length === 0) {
      this.undo.say('No code looks like it');
      return;
    }
    const title = `Where is the code of “${memoryTitle(found.memory)}”?`;
    const picked = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
    if (picked !== undefined) {
      const { anchorId, candidate } = picked;
      await this.server.run(SERVER_COMMANDS.reanchor, { id: found.memory.id, ...found.root, anchorId, candidate });
      this.undo.say(`Attached to ${picked.label}`);
    }
  }

  /** Lets the user choose when the memory is to be seen again. */
  private async remind(found: Found): Promise<void> {
    const { memory, root } = found;
    const title = `When to remind of “${memoryTitle(memory)}”?`;
    const choice = await vscode.window.showQuickPick(reminderChoices(memory, new Date()), { title });
    const chosen = choice?.when === undefined && choice !== undefined ? await this.askDay(title) : choice;
    if (chosen?.when === undefined) {
      return;
    }
    const set = async (when: When): Promise<void> => {
      await this.server.run(SERVER_COMMANDS.update, { id: memory.id, ...root, ...when });
    };
    await set(chosen.when);
    const before = whenOf(memory);
    this.undo.offer(chosen.said, async () => {
      await set(before);
      return before.type === 'prospective' ? 'Due as before' : 'No reminder any more';
    });
  }

  private async askDay(title: string): Promise<ReturnType<typeof onDay>> {
    const text = await vscode.window.showInputBox({
      title,
      placeHolder: '2027-01-31',
      validateInput: (typed) => (onDay(typed, new Date()) === undefined ? 'A day to come, written as 2027-01-31' : undefined),
    });
    return text === undefined ? undefined : onDay(text, new Date());
  }

  private here(): Target {
    return cursorTarget((uri) => this.server.asUri(uri));
  }

  private async act(command: string, found: Found): Promise<void> {
    await this.server.run(command, { id: found.memory.id, ...found.root });
  }

  private async openFound(found: Found): Promise<void> {
    await this.act(SERVER_COMMANDS.open, found);
  }

  private async forget(found: Found): Promise<void> {
    await this.act(SERVER_COMMANDS.forget, found);
    this.offerRestore(found);
  }

  private async purgeFound(found: Found): Promise<void> {
    const { message, detail } = purgeQuestion(found.memory);
    if ((await vscode.window.showWarningMessage(message, { modal: true, detail }, PURGE)) !== PURGE) {
      return;
    }
    const argument = { id: found.memory.id, ...found.root };
    const result = await this.server.run<PurgeResult>(SERVER_COMMANDS.purge, argument);
    this.undo.say(purgeSaid(result));
  }

  private async copy(found: Found): Promise<void> {
    await vscode.env.clipboard.writeText(found.memory.content);
    this.undo.say('Copied');
    await this.server.run(SERVER_COMMANDS.access, { ids: [found.memory.id], ...found.root });
  }

  /** All stores' memories that match, or the newest. */
  private async find(text: string, which: { includeForgotten?: true } = {}): Promise<Found[]> {
    const query = { limit: SHOWN, ...which, ...(text.trim() === '' ? {} : { text, best: true }) };
    const pages = await Promise.all(
      storeRoots().map(async (root) => {
        const page = await this.server.run<MemoryPage>(SERVER_COMMANDS.list, { ...query, ...root });
        return page.memories.map((memory, at) => ({ memory, root, besides: page.matches?.[at]?.snippet.text }));
      }),
    );
    return pages.flat();
  }

  private async pickHere(title: string, accept: PickAction['act']): Promise<void> {
    const here = this.here();
    if (here.uri === undefined) {
      this.undo.say('No file is open here');
      return;
    }
    const root = rootOf(vscode.window.activeTextEditor?.document.uri);
    const page = await this.server.run<MemoryPage>(SERVER_COMMANDS.list, { uri: here.uri, position: here.position });
    if (page.memories.length === 0) {
      this.undo.say('No memories here');
      return;
    }
    const found = page.memories.map((memory) => ({ memory, root }));
    new MemoryPick({
      title,
      placeholder: 'Filter',
      search: false,
      load: async () => Promise.resolve(found),
      places: async () => this.places(found),
      actions: (memory) => this.actions(memory, here, true),
      accept,
    }).show();
  }

  /** Where each memory is. One whose details can't be read (forgotten meanwhile) is shown without its place. */
  private async places(found: readonly Found[]): Promise<Map<string, Place>> {
    const places = new Map<string, Place>();
    await Promise.all(
      found.map(async ({ memory, root }) => {
        const query = { id: memory.id, ...root };
        const detail = await this.server.run<MemoryDetail>(SERVER_COMMANDS.get, query).catch(() => undefined);
        const place = detail === undefined ? undefined : memoryPlace(detail);
        if (place !== undefined) {
          places.set(memory.id, place);
        }
      }),
    );
    return places;
  }

  /** The buttons of a memory in a list; `linked` says that it is linked to the code at the cursor. */
  private actions(memory: Memory, here: Target, linked: boolean): PickAction[] {
    const { uri, position } = here;
    /** A command on the memory, with the cursor's place, and what to say when it is done. */
    const quietly = (icon: string, tooltip: string, command: string, done: string): PickAction => ({
      icon,
      tooltip,
      act: async (found) => {
        await this.server.run(command, { id: found.memory.id, uri, position });
        this.undo.say(done);
      },
    });
    const actions: PickAction[] = [];
    if (memory.verdict === 'drifted') {
      actions.push(this.button('pass', 'Still true', SERVER_COMMANDS.confirm, 'Still true'));
    } else if (memory.verdict === 'moved') {
      actions.push(
        this.button('pass', 'It moved here', SERVER_COMMANDS.confirm, 'It moved here'),
        this.button('discard', 'Undo the move', SERVER_COMMANDS.undoMove, 'Not its code'),
      );
    } else if (memory.verdict === 'lost' || memory.verdict === 'ambiguous') {
      const act: PickAction['act'] = async (found) => this.pickCandidate(found);
      actions.push({ icon: 'list-selection', tooltip: 'Pick where its code is now', act });
    }
    if (memory.type === 'prospective') {
      actions.push(this.button('check', 'Done', SERVER_COMMANDS.done, 'Done'));
    }
    if (uri !== undefined) {
      if (linked) {
        const { unlink } = SERVER_COMMANDS;
        actions.push(quietly('debug-disconnect', 'Take off this code', unlink, 'Not linked here any more'));
      } else if (memory.verdict === 'lost' || memory.verdict === 'ambiguous' || memory.verdict === 'unanchored') {
        const { reanchor } = SERVER_COMMANDS;
        actions.push(quietly('pin', 'Attach to the code at the cursor', reanchor, 'Attached here'));
      } else {
        const { link } = SERVER_COMMANDS;
        actions.push(quietly('link', 'Link to the code at the cursor too', link, 'Linked here as well'));
      }
    }
    if (memory.status === 'active') {
      actions.push({ icon: 'bell', tooltip: 'Remind me of it', act: async (found) => this.remind(found) });
    }
    actions.push(
      { icon: 'copy', tooltip: 'Copy', act: async (found) => this.copy(found) },
      { icon: 'trash', tooltip: 'Forget', act: async (found) => this.forget(found) },
    );
    return actions;
  }
}
