/** A list of memories to pick from: as one types, with their places, and a button for each thing to do. */

import * as vscode from 'vscode';
import { memoryDetail, memoryTitle } from './core/labels';
import type { Memory, Place } from './core/protocol';
import { tellError } from './messages';

const SEARCH_MS = 120;

/** The root goes along with each memory: of several folders' stores, an id belongs to one. */
export interface Found {
  memory: Memory;
  root: { root?: string };
  /** What to show besides: the piece of its text that a search found, or why it is due. */
  besides?: string | undefined;
}

export interface PickAction {
  /** A codicon's name. */
  icon: string;
  tooltip: string;
  act: (found: Found) => Promise<void>;
}

/** Something to do where there are no memories. */
export interface Offer {
  label: string;
  act: () => unknown;
}

export interface PickOptions {
  title: string;
  placeholder: string;
  /** With a search the list is asked for anew at each change of the text; else it filters what `load` gave at first. */
  search: boolean;
  load: (text: string) => Promise<Found[]>;
  /** Where each memory is, by its id. */
  places: (found: readonly Found[]) => Promise<ReadonlyMap<string, Place>>;
  actions: (memory: Memory) => PickAction[];
  accept: (found: Found) => Promise<void>;
  /** What to show where nothing was typed, and nothing is found. */
  empty?: () => Promise<Offer[]>;
}

interface MemoryItem extends vscode.QuickPickItem {
  found?: Found;
  offer?: Offer;
}

interface ActionButton extends vscode.QuickInputButton {
  act: PickAction['act'];
}

export class MemoryPick {
  private readonly list = vscode.window.createQuickPick<MemoryItem>();
  private timer: NodeJS.Timeout | undefined;
  /** Counts loads, so that a late answer does not replace a newer one. */
  private turn = 0;

  constructor(private readonly options: PickOptions) {
    this.list.title = options.title;
    this.list.placeholder = options.placeholder;
    this.list.matchOnDetail = true;
    this.list.onDidChangeValue(() => {
      if (options.search) {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => void this.load(), SEARCH_MS);
      }
    });
    this.list.onDidAccept(() => {
      const [item] = this.list.selectedItems;
      if (item?.found !== undefined) {
        this.leave(options.accept, item.found);
      } else if (item?.offer !== undefined) {
        this.list.hide();
        item.offer.act();
      }
    });
    this.list.onDidTriggerItemButton(({ button, item }) => {
      if (item.found !== undefined) {
        this.leave((button as ActionButton).act, item.found);
      }
    });
    this.list.onDidHide(() => {
      this.turn += 1;
      clearTimeout(this.timer);
      this.list.dispose();
    });
  }

  show(): void {
    this.list.show();
    void this.load();
  }

  private async load(): Promise<void> {
    this.turn += 1;
    const { turn } = this;
    this.list.busy = true;
    try {
      const found = await this.options.load(this.list.value);
      if (turn !== this.turn) {
        return;
      }
      this.fill(found, new Map());
      if (found.length === 0 && this.list.value === '') {
        const offers = (await this.options.empty?.()) ?? [];
        if (turn === this.turn) {
          this.list.items = offers.map((offer) => ({ label: offer.label, alwaysShow: true, offer }));
          this.list.busy = false;
        }
        return;
      }
      const places = await this.options.places(found);
      if (turn === this.turn) {
        this.fill(found, places);
        this.list.busy = false;
      }
    } catch (error) {
      if (turn === this.turn) {
        this.list.hide();
        tellError(error);
      }
    }
  }

  private fill(found: readonly Found[], places: ReadonlyMap<string, Place>): void {
    const [active] = this.list.activeItems;
    this.list.items = found.map((each) => ({
      label: memoryTitle(each.memory),
      detail: memoryDetail(each.memory, places.get(each.memory.id), each.besides),
      buttons: this.options.actions(each.memory).map(
        ({ icon, tooltip, act }): ActionButton => ({ iconPath: new vscode.ThemeIcon(icon), tooltip, act }),
      ),
      alwaysShow: this.options.search, // the server has matched already, in texts that the list does not show
      found: each,
    }));
    const again = this.list.items.find((item) => item.found !== undefined && item.found.memory.id === active?.found?.memory.id);
    if (again !== undefined) {
      this.list.activeItems = [again]; // else the list makes the first one active
    }
  }

  private leave(act: PickAction['act'], found: Found): void {
    this.list.hide();
    act(found).catch(tellError);
  }
}
