/** Lists of memories: search as one types, the memories at the cursor, and what can be done with each. */

import * as vscode from 'vscode';
import { memoryDetail, memoryPlace, memoryTitle } from './core/labels';
import { SERVER_COMMANDS, type Memory, type MemoryDetail, type MemoryPage, type Place } from './core/protocol';
import type { Server } from './server';
import { cursorTarget, rootOf, storeRoots, type Target } from './target';
import type { Undo } from './undo';

const SEARCH_MS = 120;
const SHOWN = 50;

/** The root goes along with each memory: of several folders' stores, an id belongs to one. */
interface Found {
  memory: Memory;
  root: { root?: string };
}

interface MemoryItem extends vscode.QuickPickItem {
  found: Found;
}

type Act = (found: Found) => Promise<void>;

interface ActionButton extends vscode.QuickInputButton {
  act: Act;
}

export class Memories {
  constructor(
    private readonly server: Server,
    private readonly undo: Undo,
  ) {}

  /** Finds memories by text as one types; Enter opens one. */
  search(): void {
    const here = cursorTarget((uri) => this.server.asUri(uri));
    this.pick('Search memories', 'Words of the memory', here, async (text) => this.find(text), async (found) => this.openFound(found));
  }

  /** Shows the memories at the cursor; Enter opens one. */
  async showHere(): Promise<void> {
    await this.pickHere('Memories here', async (found) => this.openFound(found));
  }

  /** Lets the user pick one of the cursor's memories to forget. */
  async forgetHere(): Promise<void> {
    await this.pickHere('Forget a memory', async (found) => this.forget(found));
  }

  /** Opens the memory of an id, or lets the user pick one. */
  async open(argument?: unknown): Promise<void> {
    const id = typeof argument === 'object' && argument !== null ? (argument as { id?: unknown }).id : argument;
    if (typeof id !== 'string') {
      this.search();
      return;
    }
    const root = (argument as { root?: unknown }).root;
    const given = typeof root === 'string' ? { root } : rootOf(vscode.window.activeTextEditor?.document.uri);
    await this.server.run(SERVER_COMMANDS.open, { id, ...given });
  }

  /** Offers to take back that a memory was forgotten. */
  offerRestore(found: Found): void {
    this.undo.offer(`Forgot “${memoryTitle(found.memory)}”`, async () => {
      await this.server.run(SERVER_COMMANDS.restore, { id: found.memory.id, ...found.root });
      return 'Remembered again';
    });
  }

  private async forget(found: Found): Promise<void> {
    await this.server.run(SERVER_COMMANDS.forget, { id: found.memory.id, ...found.root });
    this.offerRestore(found);
  }

  private async openFound(found: Found): Promise<void> {
    await this.server.run(SERVER_COMMANDS.open, { id: found.memory.id, ...found.root });
  }

  private async copy(found: Found): Promise<void> {
    await vscode.env.clipboard.writeText(found.memory.content);
    this.undo.say('Copied');
    await this.server.run(SERVER_COMMANDS.access, { ids: [found.memory.id], ...found.root });
  }

  private async confirm(found: Found): Promise<void> {
    await this.server.run(SERVER_COMMANDS.confirm, { id: found.memory.id, ...found.root });
    this.undo.say('Still true');
  }

  private async attach(found: Found, here: Target): Promise<void> {
    const { uri, position } = here;
    await this.server.run(SERVER_COMMANDS.reanchor, { id: found.memory.id, uri, position });
    this.undo.say('Attached here');
  }

  private async link(found: Found, here: Target): Promise<void> {
    const { uri, position } = here;
    await this.server.run(SERVER_COMMANDS.link, { id: found.memory.id, uri, position });
    this.undo.say('Linked here as well');
  }

  private async find(text: string): Promise<Found[]> {
    const query = { limit: SHOWN, ...(text.trim() === '' ? {} : { text }) };
    const pages = await Promise.all(
      storeRoots().map(async (root) => {
        const page = await this.server.run<MemoryPage>(SERVER_COMMANDS.list, { ...query, ...root });
        return page.memories.map((memory) => ({ memory, root }));
      }),
    );
    return pages.flat();
  }

  private async pickHere(title: string, accept: Act): Promise<void> {
    const here = cursorTarget((uri) => this.server.asUri(uri));
    if (here.uri === undefined) {
      this.undo.say('No file is open here');
      return;
    }
    const { uri, position } = here;
    const root = rootOf(vscode.window.activeTextEditor?.document.uri);
    const page = await this.server.run<MemoryPage>(SERVER_COMMANDS.list, { uri, position });
    if (page.memories.length === 0) {
      this.undo.say('No memories here');
      return;
    }
    const found = page.memories.map((memory) => ({ memory, root }));
    this.pick(title, 'Filter', here, () => found, accept);
  }

  /**
   * Shows a list. A `source` that answers a promise filters by itself, and is asked again at each change of the
   * text; one that answers at once leaves filtering to the list.
   */
  private pick(
    title: string,
    placeholder: string,
    here: Target,
    source: (text: string) => Promise<Found[]> | Found[],
    accept: Act,
  ): void {
    const list = vscode.window.createQuickPick<MemoryItem>();
    list.title = title;
    list.placeholder = placeholder;
    list.matchOnDetail = true;
    let timer: NodeJS.Timeout | undefined;
    let asked = 0;

    const show = (found: readonly Found[], places: ReadonlyMap<string, Place>, alwaysShow: boolean): void => {
      const [active] = list.activeItems;
      list.items = found.map((each) => ({
        label: memoryTitle(each.memory),
        detail: memoryDetail(each.memory, places.get(each.memory.id)),
        buttons: this.buttons(each.memory, here),
        alwaysShow,
        found: each,
      }));
      const again = list.items.find((item) => item.found.memory.id === active?.found.memory.id);
      if (again !== undefined) {
        list.activeItems = [again]; // else the list makes the first one active
      }
    };
    const load = async (): Promise<void> => {
      asked += 1;
      const turn = asked;
      list.busy = true;
      try {
        const answer = source(list.value);
        const found = await answer;
        if (turn !== asked) {
          return;
        }
        const filtered = answer instanceof Promise;
        show(found, new Map(), filtered);
        const places = await this.places(found);
        // `turn` differs when the user has typed on, or left
        if (turn === asked) {
          show(found, places, filtered);
        }
      } catch (error) {
        if (turn === asked) {
          list.hide();
          fail(error);
        }
      } finally {
        if (turn === asked) {
          list.busy = false;
        }
      }
    };
    const perform = async (act: Act, item: MemoryItem): Promise<void> => {
      try {
        await act(item.found);
      } catch (error) {
        fail(error);
      }
    };

    list.onDidChangeValue(() => {
      if (list.items.every((item) => item.alwaysShow === true)) {
        clearTimeout(timer);
        timer = setTimeout(() => void load(), SEARCH_MS);
      }
    });
    list.onDidAccept(() => {
      const [item] = list.selectedItems;
      list.hide();
      if (item !== undefined) {
        void perform(accept, item);
      }
    });
    list.onDidTriggerItemButton(({ button, item }) => {
      list.hide();
      void perform((button as ActionButton).act, item);
    });
    list.onDidHide(() => {
      asked += 1;
      clearTimeout(timer);
      list.dispose();
    });
    list.show();
    void load();
  }

  /** Where each memory is. A memory whose details can't be read is shown without its place. */
  private async places(found: readonly Found[]): Promise<Map<string, Place>> {
    const places = new Map<string, Place>();
    await Promise.all(
      found.map(async ({ memory, root }) => {
        try {
          const detail = await this.server.run<MemoryDetail>(SERVER_COMMANDS.get, { id: memory.id, ...root });
          const place = memoryPlace(detail);
          if (place !== undefined) {
            places.set(memory.id, place);
          }
        } catch {
          // forgotten meanwhile
        }
      }),
    );
    return places;
  }

  private buttons(memory: Memory, here: Target): ActionButton[] {
    const button = (icon: string, tooltip: string, act: Act): ActionButton => ({
      iconPath: new vscode.ThemeIcon(icon),
      tooltip,
      act,
    });
    const buttons: ActionButton[] = [];
    if (memory.verdict === 'drifted' || memory.verdict === 'moved') {
      buttons.push(button('pass', 'Still true', async (found) => this.confirm(found)));
    }
    if (here.uri !== undefined) {
      const placed = memory.verdict === 'fresh' || memory.verdict === 'drifted' || memory.verdict === 'moved';
      buttons.push(
        placed
          ? button('link', 'Link to the code at the cursor too', async (found) => this.link(found, here))
          : button('pin', 'Attach to the code at the cursor', async (found) => this.attach(found, here)),
      );
    }
    buttons.push(
      button('copy', 'Copy', async (found) => this.copy(found)),
      button('trash', 'Forget', async (found) => this.forget(found)),
    );
    return buttons;
  }
}

function fail(error: unknown): void {
  void vscode.window.showErrorMessage(`Mnemolens: ${error instanceof Error ? error.message : String(error)}`);
}
