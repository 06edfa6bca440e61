/**
 * The few parts of VS Code's API that the tests drive, as plain objects: inputs and lists that a test types into.
 *
 * Not a simulation of the editor: what the real one does is tested end to end.
 */

type Listener<Event> = (event: Event) => unknown;

class Emitter<Event> {
  private readonly listeners: Listener<Event>[] = [];

  readonly event = (listener: Listener<Event>): void => {
    this.listeners.push(listener);
  };

  fire(event: Event): void {
    for (const listener of this.listeners) {
      listener(event);
    }
  }
}

export class CancellationTokenSource {
  readonly token = { isCancellationRequested: false };

  cancel(): void {
    this.token.isCancellationRequested = true;
  }

  dispose(): void {
    // nothing is held
  }
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
  ) {}

  static parse(text: string): Uri {
    const { protocol, pathname } = new URL(text);
    return new Uri(protocol.slice(0, -1), decodeURIComponent(pathname));
  }

  static joinPath(base: Uri, file: string): Uri {
    return base.with({ path: `${base.path}/${file}` });
  }

  with({ path }: { path: string }): Uri {
    return new Uri(this.scheme, path);
  }

  get fsPath(): string {
    return this.path;
  }

  toString(): string {
    return `${this.scheme}://${this.path}`;
  }
}

class QuickInput {
  title = '';
  placeholder = '';
  busy = false;
  enabled = true;
  visible = false;
  disposed = false;
  readonly hidden = new Emitter<undefined>();
  readonly accepted = new Emitter<undefined>();
  readonly changed = new Emitter<string>();
  readonly onDidHide = this.hidden.event;
  readonly onDidAccept = this.accepted.event;
  readonly onDidChangeValue = this.changed.event;
  private text = '';

  get value(): string {
    return this.text;
  }

  set value(text: string) {
    this.text = text;
  }

  show(): void {
    this.visible = true;
  }

  hide(): void {
    if (this.visible) {
      this.visible = false;
      this.hidden.fire(undefined);
    }
  }

  dispose(): void {
    this.disposed = true;
  }

  /** What a user does: replaces the text. */
  type(text: string): void {
    this.text = text;
    this.changed.fire(text);
  }

  /** What a user does: presses Enter. */
  enter(): void {
    this.accepted.fire(undefined);
  }
}

export class InputBox extends QuickInput {
  prompt = '';
  validationMessage: string | undefined;
  valueSelection: readonly [number, number] | undefined;
  buttons: { tooltip: string }[] = [];
  readonly clicked = new Emitter<{ tooltip: string }>();
  readonly onDidTriggerButton = this.clicked.event;

  /** What a user does: presses the button in the title. */
  click(tooltip: string): void {
    const button = this.buttons.find((each) => each.tooltip === tooltip);
    if (button === undefined) {
      throw new Error(`there is no button “${tooltip}”`);
    }
    this.clicked.fire(button);
  }
}

/** A list that the code under test waits for; the test picks. */
export interface Asked {
  items: { label: string; picked?: boolean }[];
  answer: (picked: unknown) => void;
}

/** A text that the code under test waits for; the test types it. */
export interface AskedText {
  options: { validateInput: (typed: string) => string | undefined };
  answer: (text: string | undefined) => void;
}

/** A modal question; the test presses one of its buttons, or dismisses it. */
export interface Question {
  message: string;
  modal: boolean;
  buttons: string[];
  answer: (button: string | undefined) => void;
}

export interface Item {
  label: string;
  detail: string;
  alwaysShow: boolean;
  buttons: { tooltip: string }[];
}

export class QuickPick extends QuickInput {
  matchOnDetail = false;
  activeItems: Item[] = [];
  readonly pressed = new Emitter<{ button: { tooltip: string }; item: Item }>();
  readonly onDidTriggerItemButton = this.pressed.event;
  private all: Item[] = [];

  get items(): Item[] {
    return this.all;
  }

  set items(items: Item[]) {
    this.all = items;
    this.activeItems = items.slice(0, 1); // as the real list does
  }

  get selectedItems(): Item[] {
    return this.activeItems;
  }

  /** What a user does: presses a row's button. */
  press(row: number, tooltip: string): void {
    const item = this.all[row];
    const button = item?.buttons.find((each) => each.tooltip === tooltip);
    if (item === undefined || button === undefined) {
      throw new Error(`row ${row} has no button “${tooltip}”`);
    }
    this.pressed.fire({ button, item });
  }
}

export const StatusBarAlignment = { Left: 1, Right: 2 };

export class StatusBarItem {
  name = '';
  text = '';
  tooltip: string | undefined;
  command: string | undefined;
  visible = false;

  show(): void {
    this.visible = true;
  }

  hide(): void {
    this.visible = false;
  }

  dispose(): void {
    this.hide();
  }

  /** What a user does. */
  async click(): Promise<void> {
    await registered.get(this.command ?? '')?.();
  }
}

const registered = new Map<string, () => unknown>();

export const commands = {
  registerCommand: (id: string, act: () => unknown): { dispose: () => void } => {
    registered.set(id, act);
    return { dispose: () => registered.delete(id) };
  },
};

/** What the code under test has opened and said, newest last. */
export const opened: {
  inputs: InputBox[];
  lists: QuickPick[];
  asked: Asked[];
  texts: AskedText[];
  questions: Question[];
  statusItems: StatusBarItem[];
  errors: string[];
  clipboard: string[];
} = {
  inputs: [],
  lists: [],
  asked: [],
  texts: [],
  questions: [],
  statusItems: [],
  errors: [],
  clipboard: [],
};

export const window: {
  activeTextEditor: unknown;
  createInputBox: () => InputBox;
  createStatusBarItem: () => StatusBarItem;
  createQuickPick: () => QuickPick;
  showQuickPick: (items: Asked['items']) => Promise<unknown>;
  showInputBox: (options: AskedText['options']) => Promise<string | undefined>;
  showErrorMessage: (message: string) => Promise<undefined>;
  showWarningMessage: (message: string, options: { modal: boolean }, ...buttons: string[]) => Promise<string | undefined>;
} = {
  activeTextEditor: undefined,
  createInputBox: () => {
    const box = new InputBox();
    opened.inputs.push(box);
    return box;
  },
  createStatusBarItem: () => {
    const item = new StatusBarItem();
    opened.statusItems.push(item);
    return item;
  },
  createQuickPick: () => {
    const list = new QuickPick();
    opened.lists.push(list);
    return list;
  },
  showQuickPick: async (items) =>
    new Promise((answer) => {
      opened.asked.push({ items, answer });
    }),
  showInputBox: async (options) =>
    new Promise((answer) => {
      opened.texts.push({ options, answer });
    }),
  showWarningMessage: async (message, { modal }, ...buttons) =>
    new Promise((answer) => {
      opened.questions.push({ message, modal, buttons, answer });
    }),
  showErrorMessage: async (message) => {
    opened.errors.push(message);
    return Promise.resolve(undefined);
  },
};

export const workspace: { workspaceFolders: { uri: Uri }[]; getWorkspaceFolder: (uri: Uri) => { uri: Uri } | undefined } = {
  workspaceFolders: [],
  getWorkspaceFolder: (uri) => workspace.workspaceFolders.find((folder) => uri.path.startsWith(`${folder.uri.path}/`)),
};

export const env = {
  clipboard: {
    writeText: async (text: string): Promise<void> => {
      opened.clipboard.push(text);
      return Promise.resolve();
    },
  },
};
