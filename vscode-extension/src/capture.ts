/** Capturing a memory: one input, whose prompt says where it goes; Enter saves, Escape keeps the text. */

import * as vscode from 'vscode';
import { Drafts } from './core/drafts';
import { baseName, capturePrompt, captureTarget, memoryTitle, placeInFile, placeLabel, plain } from './core/labels';
import { secretRefusal, secretsOf } from './core/notes';
import { SERVER_COMMANDS, type CaptureResult, type Place, type PreviewResult } from './core/protocol';
import { messageOf } from './messages';
import type { Server } from './server';
import { cursorTarget, fileInTree, givenTarget, rootOf, type Target } from './target';
import type { Next, Undo } from './undo';

const PREVIEW_MS = 150;
const STORE_ANYWAY: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('unlock'), tooltip: 'Store anyway' };

export class Capture {
  private readonly drafts = new Drafts();

  constructor(
    private readonly server: Server,
    private readonly undo: Undo,
  ) {}

  /** Opens the input. `argument` is a code action's target, or whatever a menu passes. */
  open(argument?: unknown): void {
    const target = givenTarget(argument) ?? cursorTarget((uri) => this.server.asUri(uri));
    new CaptureInput(this.server, this.undo, this.drafts, target).show();
  }
}

class CaptureInput {
  private readonly box = vscode.window.createInputBox();
  private timer: NodeJS.Timeout | undefined;
  private cancellation = new vscode.CancellationTokenSource();
  private saved = false;
  private saving = false;
  private readonly fallback: string | undefined;

  constructor(
    private readonly server: Server,
    private readonly undo: Undo,
    private readonly drafts: Drafts,
    private readonly target: Target,
  ) {
    this.fallback = target.uri === undefined ? undefined : baseName(vscode.Uri.parse(target.uri).path);
    const draft = drafts.current;
    this.box.title = draft === '' ? 'Capture a memory' : 'Capture a memory (your draft is back)';
    this.box.placeholder = 'What should be remembered here?';
    this.box.ignoreFocusOut = false;
    this.box.value = draft;
    this.box.valueSelection = [0, draft.length];
    this.box.prompt = capturePrompt({ links: [], warnings: [] }, this.fallback);
    this.box.onDidChangeValue(() => {
      this.box.validationMessage = undefined;
      this.box.buttons = [];
      this.schedulePreview();
    });
    this.box.onDidAccept(() => void this.save());
    this.box.onDidTriggerButton(() => void this.save({ allowSecret: true }));
    this.box.onDidHide(() => {
      this.close();
    });
  }

  show(): void {
    this.box.show();
    void this.preview();
  }

  private close(): void {
    clearTimeout(this.timer);
    this.cancellation.cancel();
    this.cancellation.dispose();
    if (!this.saved) {
      this.drafts.keep(this.box.value);
    }
    this.box.dispose();
  }

  private schedulePreview(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.preview(), PREVIEW_MS);
  }

  private async preview(): Promise<void> {
    this.cancellation.cancel();
    this.cancellation.dispose();
    const cancellation = new vscode.CancellationTokenSource();
    this.cancellation = cancellation;
    const blank = this.box.value.trim() === '';
    try {
      // A blank memory is refused, yet its target is worth showing before anything is typed: a dot stands for it.
      const argument = { content: blank ? '.' : this.box.value, ...this.target };
      const result = await this.server.run<PreviewResult>(SERVER_COMMANDS.preview, argument, cancellation.token);
      if (!cancellation.token.isCancellationRequested) {
        this.box.prompt = capturePrompt(blank ? { links: result.links, warnings: [] } : result, this.fallback);
      }
    } catch (error) {
      if (!cancellation.token.isCancellationRequested) {
        this.refuse(error);
      }
    }
  }

  private async save(consent: { allowSecret?: true } = {}): Promise<void> {
    const content = this.box.value;
    if (content.trim() === '') {
      this.box.validationMessage = 'Type what should be remembered, or press Escape';
      return;
    }
    if (this.saving) {
      return;
    }
    this.saving = true;
    this.box.busy = true;
    this.box.enabled = false;
    clearTimeout(this.timer);
    this.cancellation.cancel();
    try {
      const result = await this.server.run<CaptureResult>(SERVER_COMMANDS.capture, { content, ...this.target, ...consent });
      this.saved = true;
      this.drafts.clear();
      this.box.hide();
      this.tell(result);
    } catch (error) {
      this.box.enabled = true;
      this.refuse(error);
    } finally {
      this.saving = false;
      this.box.busy = false;
    }
  }

  private tell(result: CaptureResult): void {
    const { memory } = result;
    if (result.duplicateOf === memory.id) {
      // Nothing was stored: undoing would forget the earlier memory.
      this.undo.say(`Already remembered: ${memoryTitle(memory)}`);
      return;
    }
    const place = captureTarget(result.links);
    const where = place === undefined ? '' : ` on ${placeLabel(place)}`;
    const root = rootOf(this.target.uri === undefined ? undefined : vscode.Uri.parse(this.target.uri));
    const takeBack = async (): Promise<string> => {
      await this.server.run(SERVER_COMMANDS.forget, { id: memory.id, ...root });
      this.drafts.keep(memory.content);
      return 'Taken back; the text is kept as a draft';
    };
    this.undo.offer(`Remembered${where}`, takeBack, this.next(result, place, root));
  }

  /** What the user may want to do next: look at an earlier memory that says almost the same, or link what is offered. */
  private next(result: CaptureResult, here: Place | undefined, root: { root?: string }): Next | undefined {
    const [similar] = result.similar ?? [];
    if (similar !== undefined) {
      return {
        text: `Almost the same as “${plain(similar.title, 40)}” · Open the earlier one`,
        tooltip: similar.title,
        act: async () => {
          await this.server.run(SERVER_COMMANDS.open, { id: similar.id, ...root });
          return undefined;
        },
      };
    }
    if (result.suggestion === undefined) {
      return undefined;
    }
    const { target } = result.suggestion;
    return {
      text: `May be about ${placeInFile(target)} · Link`,
      tooltip: `Link it to ${placeInFile(target)} too`,
      act: async () => {
        const uri = this.server.asUri(fileInTree(target.file, this.target.uri, here?.file));
        await this.server.run(SERVER_COMMANDS.link, { id: result.memory.id, uri, position: target.range?.start });
        return `Linked to ${placeLabel(target)}`;
      },
    };
  }

  private refuse(error: unknown): void {
    const secrets = secretsOf(error);
    this.box.validationMessage = secrets === undefined ? plain(messageOf(error), 300) : secretRefusal(secrets);
    this.box.buttons = secrets === undefined ? [] : [STORE_ANYWAY];
  }
}
