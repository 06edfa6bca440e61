// One VS Code workbench in a headless browser, in a user's terms: open a file, hover a word, read the lenses, run a
// command. Owns the selectors of the workbench's DOM and the waiting; knows nothing of Mnemolens.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.env.E2E_TOOLS, 'driver', 'package.json'))('playwright-core');

// --no-sandbox: the tests may run as root in a container. The others keep the browser from talking to its maker.
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps',
];
/** Milliseconds that anything may take: a machine that does much else is slow. */
const PATIENCE = 60000;
const LOCAL_PROTOCOLS = new Set(['data:', 'blob:', 'vscode-remote:', 'vscode-file:', 'about:']);

/** The DOM holds no-break spaces where the text has spaces. */
export const plain = (text) => text.replace(/\u00a0/g, ' ').replace(/[ \t]+/g, ' ').trim();

export class Workbench {
  /** Opens a browser with a profile of its own; every request to another machine is refused and noted in `outside`. */
  static async launch({ profile, executable }) {
    const context = await chromium.launchPersistentContext(profile, {
      permissions: ['clipboard-read', 'clipboard-write'],
      executablePath: executable, headless: true, args: FLAGS, viewport: { width: 1400, height: 1050 },
    });
    const page = context.pages()[0] ?? (await context.newPage());
    const workbench = new Workbench(context, page);
    await context.route('**/*', (route) => {
      const url = new URL(route.request().url());
      if (url.hostname === '127.0.0.1' || LOCAL_PROTOCOLS.has(url.protocol)) return route.continue();
      workbench.outside.add(url.origin);
      return route.abort();
    });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) workbench.log.push(`[${message.type()}] ${message.text()}`);
    });
    page.on('pageerror', (error) => workbench.log.push(`[pageerror] ${error.message}`));
    page.setDefaultTimeout(PATIENCE);
    page.setDefaultNavigationTimeout(2 * PATIENCE);
    return workbench;
  }

  constructor(context, page) {
    this.context = context;
    this.page = page;
    this.outside = new Set();
    this.log = [];
    this.quick = page.locator('.quick-input-widget');
    this.statusBar = page.locator('.part.statusbar');
    this.dialogs = page.locator('.monaco-dialog-box');
    this.toasts = page.locator('.notification-toast');
    this.hovers = page.locator('.monaco-hover:visible');
  }

  async open(url) {
    await this.page.goto(url, { waitUntil: 'domcontentloaded' });
    await this.page.locator('.monaco-workbench .explorer-viewlet').waitFor({ timeout: 60000 });
  }

  async close() {
    await this.context.close();
  }

  screenshot(path) {
    return this.page.screenshot({ path });
  }

  // ---- trust -------------------------------------------------------------------------------------------------

  get restricted() {
    return this.statusBar.getByText('Restricted Mode');
  }

  /** Whether the folder opens untrusted: the banner comes a moment after the workbench. */
  async opensRestricted(timeout = PATIENCE) {
    return this.restricted.or(this.dialogs).first().waitFor({ timeout }).then(() => true, () => false);
  }

  async trust() {
    if (await this.dialogs.first().isVisible()) {
      await this.dialogs.getByRole('button', { name: /^Yes, I trust|^Trust/ }).first().click();
    } else {
      await this.restricted.click();
      const editor = this.page.locator('.workspace-trust-editor');
      await editor.getByRole('button', { name: 'Trust', exact: true }).click();
      await this.restricted.waitFor({ state: 'hidden' });
      await this.closeEditor();
    }
  }

  // ---- editors -----------------------------------------------------------------------------------------------

  /** The text editor of the file whose path ends so. */
  editor(path) {
    return this.page.locator(`.editor-instance .monaco-editor[data-uri$="${path}"]`).first();
  }

  /** Opens a file of the folder by its path and puts the caret at a 1-based line and column. */
  async openFile(path, line = 1, column = 1) {
    const editor = this.editor(`/${path}`);
    await this.until(async () => {
      await this.dismiss();
      await this.page.keyboard.press('Control+P');
      await this.quick.locator('input').first().waitFor();
      await this.page.keyboard.insertText(`${path}:${line}:${column}`);
      // The list still shows recent files for a moment: wait until the row that Enter takes is the right one.
      await this.quick.locator('.monaco-list-row.focused', { hasText: path.split('/').at(-1) }).first().waitFor();
      await this.page.keyboard.press('Enter');
      await this.quick.waitFor({ state: 'hidden' });
      // It may have changed once more just before Enter: then another file is shown.
      return editor.waitFor({ timeout: 4000 }).then(() => true, () => false);
    }, path);
    return editor;
  }

  /** Puts the caret at a 1-based line and column of the active editor. */
  async goTo(line, column = 1) {
    await this.page.keyboard.press('Control+G');
    await this.quick.locator('input').first().waitFor();
    await this.page.keyboard.insertText(`${line}:${column}`);
    await this.page.keyboard.press('Enter');
    await this.quick.waitFor({ state: 'hidden' });
  }

  async type(text) {
    await this.page.keyboard.insertText(text);
  }

  async save() {
    await this.page.keyboard.press('Control+S');
    await this.page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
  }

  async closeEditor() {
    const tab = this.page.locator('.tab.active');
    const name = await tab.getAttribute('data-resource-name');
    await tab.locator('.tab-actions .action-label').first().click();
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor({ state: 'detached' });
  }

  async closeAllEditors() {
    while ((await this.page.locator('.tab').count()) > 0) await this.closeEditor();
  }

  async activeTab() {
    return plain(await this.page.locator('.tab.active').first().getAttribute('data-resource-name'));
  }

  /** Client rectangle of `word` in the first visible line that holds `lineText`. */
  async rectangle(editor, lineText, word) {
    const find = () => editor.evaluate((root, [wantedLine, wantedWord]) => {
      const clean = (text) => text.replace(/\u00a0/g, ' ');
      for (const line of root.querySelectorAll('.view-line')) {
        const text = clean(line.textContent);
        const at = text.indexOf(wantedLine);
        if (at < 0) continue;
        let offset = at + wantedLine.indexOf(wantedWord);
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          if (offset < node.length) {
            const range = document.createRange();
            range.setStart(node, offset);
            range.setEnd(node, Math.min(node.length, offset + wantedWord.length));
            const box = range.getBoundingClientRect();
            return { x: box.x, y: box.y, width: box.width, height: box.height };
          }
          offset -= node.length;
        }
      }
      return null;
    }, [lineText, word]);
    return this.until(find, `the word '${word}' in a visible line '${lineText}'`);
  }

  /** Hovers a word and returns the text of the hover that matches, its layout as lines. */
  async hover(editor, lineText, word, pattern, timeout = PATIENCE) {
    const deadline = Date.now() + timeout;
    let seen = '';
    do {
      await this.pointAt(editor, lineText, word);
      const hover = this.hovers.filter({ has: this.page.locator('.hover-contents') }).filter({ hasText: pattern }).first();
      if (await hover.waitFor({ timeout: 2500 }).then(() => true, () => false)) {
        return { text: plain(await hover.innerText()), locator: hover };
      }
      seen = (await this.hovers.allInnerTexts()).map(plain).join(' | ') || seen;
    } while (Date.now() < deadline);
    throw new Error(`no hover matching ${pattern} on '${word}'; seen: ${seen || 'nothing'}`);
  }

  /** Hovers a word and returns whatever shows up within a second and a half, '' for nothing. */
  async hoverText(editor, lineText, word) {
    await this.pointAt(editor, lineText, word);
    await this.page.waitForTimeout(1500);
    return plain((await this.hovers.allInnerTexts()).join('\n'));
  }

  async pointAt(editor, lineText, word) {
    await this.dismiss();
    const box = await this.rectangle(editor, lineText, word);
    // From the side: the pointer has to move within the word for the hover to start.
    await this.page.mouse.move(box.x + 2, box.y + box.height / 2);
    await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  }

  /** Takes hovers, menus and quick inputs away. */
  async dismiss() {
    await this.page.mouse.move(150, 650);  // the explorer's empty part: nothing there has a tooltip
    if (await this.quick.isVisible()) await this.page.keyboard.press('Escape');
    await this.hovers.first().waitFor({ state: 'hidden', timeout: 3000 }).catch(() => this.page.keyboard.press('Escape'));
  }

  /** The code lenses on screen, top first: text and the line of code they stand above. */
  async lenses(editor) {
    return editor.evaluate((root) => {
      const clean = (text) => text.replace(/\u00a0/g, ' ').trim();
      const lines = [...root.querySelectorAll('.view-line')].map((line) => ({ y: line.getBoundingClientRect().y, text: clean(line.textContent) }));
      return [...root.querySelectorAll('.codelens-decoration')]
        .map((lens) => ({ y: lens.getBoundingClientRect().y, text: clean(lens.textContent) }))
        .filter((lens) => lens.text !== '')
        .sort((a, b) => a.y - b.y)
        .map((lens) => {
          const below = lines.filter((line) => line.y > lens.y).sort((a, b) => a.y - b.y)[0];
          return { text: lens.text, above: below?.text ?? '' };
        });
    });
  }

  /** Waits until the lenses on screen are exactly these: {start of the line of code below: lens text}. */
  async lensesAre(editor, expected, timeout = PATIENCE) {
    let seen;
    await this.until(async () => {
      seen = await this.lenses(editor);
      const wanted = Object.entries(expected);
      return seen.length === wanted.length
        && wanted.every(([above, text]) => seen.some((lens) => lens.above.startsWith(above) && lens.text === text));
    }, () => `lenses ${JSON.stringify(expected)}; seen ${JSON.stringify(seen)}`, timeout);
    return seen;
  }

  async clickLens(editor, text) {
    await editor.locator('.codelens-decoration a', { hasText: text }).first().click();
  }

  // ---- commands ----------------------------------------------------------------------------------------------

  /** Runs a command by its title in the palette. */
  async command(title) {
    await this.dismiss();
    await this.page.keyboard.press('F1');
    await this.quick.locator('input').first().waitFor();
    await this.page.keyboard.insertText(title);
    await this.quick.locator('.monaco-list-row.focused', { hasText: title }).first().waitFor();
    await this.page.keyboard.press('Enter');
  }

  /** Opens the menu of code actions at a 1-based line and column; answers the row that holds a text. */
  async codeAction(path, line, column, text) {
    const row = this.page.locator('.action-widget .monaco-list-row', { hasText: text }).first();
    await this.until(async () => {
      await this.openFile(path, line, column);
      await this.page.keyboard.press('Control+.');
      return row.waitFor({ timeout: 4000 }).then(() => true, () => this.page.keyboard.press('Escape'));
    }, `a code action '${text}'`, 30000);
    return row;
  }

  async clipboard() {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** The titles that the palette offers for a text, those that hold it: once there are `least` of them. */
  async paletteTitles(text, least) {
    await this.dismiss();
    await this.page.keyboard.press('F1');
    await this.quick.locator('input').first().waitFor();
    await this.page.keyboard.insertText(text);
    let titles = [];
    await this.until(async () => {
      titles = (await this.quick.locator('.monaco-list-row .label-name').allInnerTexts()).map(plain).filter((title) => title.includes(text));
      return titles.length >= least;
    }, () => `${least} commands in the palette; seen ${JSON.stringify(titles)}`);
    await this.page.keyboard.press('Escape');
    return titles;
  }

  /** What an open input box or quick pick says: title, prompt, rows, with its layout as lines. */
  async quickText() {
    return plain(await this.quick.innerText());
  }

  // ---- waiting -----------------------------------------------------------------------------------------------

  /** Asks again and again until the answer is truthy, and returns it. */
  async until(question, what, timeout = PATIENCE) {
    const deadline = Date.now() + timeout;
    for (;;) {
      const answer = await question();
      if (answer) return answer;
      if (Date.now() > deadline) throw new Error(`waited ${timeout / 1000} s in vain for ${typeof what === 'function' ? what() : what}`);
      await this.page.waitForTimeout(100);
    }
  }
}
