// What a user does with Mnemolens in VS Code, one phase a run: `editor.mjs PHASE URL`.
//   first     a fresh profile: trust, capture, read, edit, forget
//   again     the same profile after workbench and browser were ended: everything is there
//   worktree  a linked worktree of the same repository: the store lies outside the opened folder
//   folders   two folders in one window
//   notes     what a project says already is imported; a secret is stored on purpose, and removed for good
//   reclone   a fresh clone of that project: the daily copy is offered
//   wrong     the setting names an interpreter without mnemolens
//   install   no setting: the extension makes a server of its own from the wheel in the .vsix
//   sample    what `make run` serves: the sample project with its memories
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Steps } from './steps.mjs';
import { plain, Workbench } from './workbench.mjs';

const [phase, url] = process.argv.slice(2);
const { E2E_HOME: home, E2E_FOLDER: folder, E2E_SECOND: second, E2E_NOTED: noted } = process.env;

const RETRY = 'Retry must stay idempotent: the provider double-charges when the key changes between attempts.';
const RETRY_EDITED = 'Retry must stay idempotent: one key for all attempts, said by the provider in writing.';
const CART = 'Cart and server must agree on free shipping, else customers see two prices.';
const HOSTILE = 'Run [this](command:workbench.action.terminal.new) <img src=x onerror=alert(1)> ``` now';

const workbench = await Workbench.launch({ profile: join(home, 'browser'), executable: process.env.E2E_CHROMIUM });
const steps = new Steps({ workbench, screenshots: join(home, 'screenshots'), results: join(home, 'results.txt') });
const { page } = workbench;
const step = (what, body) => steps.step(what, body);

const onDisk = (path) => readFileSync(join(folder, path), 'utf8');
const writeOnDisk = (path, text) => writeFileSync(join(folder, path), text);
const git = (...args) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim();
const journal = (root = folder) => {
  const place = join(root, '.git', 'mnemolens', 'journal');
  if (!existsSync(place)) return '';
  return readdirSync(place).filter((name) => name.endsWith('.jsonl')).map((name) => readFileSync(join(place, name), 'utf8')).join('');
};

/** The texts of all daily copies. */
const copies = () => {
  const place = join(process.env.XDG_DATA_HOME, 'mnemolens', 'copies');
  if (!existsSync(place)) return '';
  return readdirSync(place, { recursive: true }).filter((name) => name.endsWith('.jsonl')).map((name) => readFileSync(join(place, name), 'utf8')).join('');
};

/** The language servers of this run, by their process ids. */
const servers = () => {
  const command = [join(home, 'venv', 'bin', 'python'), '-m', 'mnemolens', 'serve'];
  if (!existsSync('/proc/self/cmdline')) {
    const lines = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' }).split('\n');
    return lines.filter((line) => line.includes(command.join(' '))).map((line) => Number.parseInt(line, 10));
  }
  const runs = (pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`${command.join('\0')}\0`);
    } catch {
      return false;  // it has ended meanwhile
    }
  };
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && runs(name)).map(Number);
};

/** Ends the server as a crash would, and waits until the next one answers. */
async function crash(editor) {
  const [old] = servers();
  process.kill(old, 'SIGKILL');
  await workbench.until(() => servers().some((pid) => pid !== old), 'another server');
  await workbench.hover(editor, 'def charge(', 'charge', 'one key for all attempts');
}

/** The status item's picture while the server runs and has read everything. */
const ready = () => workbench.statusBar.locator('.statusbar-item', { hasText: 'Mnemolens' }).locator('.codicon-note');

/** Runs the capture command where the caret is, and types one text; returns what the prompt said. */
async function capture(text, target) {
  const prompt = await workbench.until(async () => {
    await workbench.command('Mnemolens: Capture');  // again where a busy machine took the input away
    return workbench.until(async () => {
      const said = (await workbench.quick.isVisible()) ? await workbench.quickText() : '';
      return said.includes(target) && said;
    }, 'the prompt', 10000).catch(() => false);
  }, `a prompt that names '${target}'`, 45000);
  await workbench.type(text);
  return prompt;
}

/** Takes the last change back: in the status bar, or, where a slow machine let its ten seconds pass, by the palette. */
async function undo() {
  const item = workbench.statusBar.getByText('Undo').first();
  await item.click({ timeout: 5000 }).catch(() => workbench.command('Mnemolens: Undo the Last Change'));
}

/** Nothing may interrupt the user: no dialog, no toast, for as long as one would take to appear. */
async function nothingInterrupts(milliseconds = 1500) {
  await page.waitForTimeout(milliseconds);
  // What is due and stands in no open document is named once at a start: that is what a reminder is for.
  const toasts = (await workbench.toasts.allInnerTexts()).filter((text) => !text.includes('Mnemolens, due:'));
  const dialogs = await workbench.dialogs.allInnerTexts();
  assert.deepEqual({ toasts, dialogs }, { toasts: [], dialogs: [] });
}

/** Opens the folder and trusts it. The extension says whether that is needed, however late the banner comes. */
async function opened() {
  await workbench.open(url);
  const restricted = workbench.statusBar.getByText('Mnemolens: restricted');
  await restricted.or(ready()).first().waitFor({ timeout: 120000 });
  if (await restricted.isVisible()) {
    await workbench.trust();
    await ready().waitFor({ timeout: 120000 });
  }
}

async function first() {
  await step('the workbench opens the folder', () => workbench.open(url));

  await step('an untrusted folder is looked at without being trusted', async () => {
    assert.ok(await workbench.opensRestricted(), 'no Restricted Mode in a folder never seen before');
    const editor = await workbench.openFile('shop/payments.py', 34, 8);
    await nothingInterrupts();
    assert.deepEqual(await workbench.lenses(editor), []);
    await workbench.statusBar.getByText('Mnemolens: restricted').waitFor();
    await steps.shot('restricted');
  });

  await step('trusting the folder', async () => {
    await workbench.trust();
    await ready().waitFor({ timeout: 120000 });
    await workbench.closeAllEditors();
    await steps.shot('trusted');
  });

  await step('nothing is written before the first capture', async () => {
    const editor = await workbench.openFile('shop/payments.py', 36, 10);
    assert.equal(await workbench.hoverText(editor, 'def charge(', 'charge'), '');
    assert.ok(!existsSync(join(folder, '.git', 'mnemolens')) && !existsSync(join(folder, '.mnemolens')));
    assert.equal(git('status', '--porcelain'), '');
  });

  await step('capture by palette on a function: one input, no toast, no dialog', async () => {
    const prompt = await capture(RETRY, 'charge');
    await steps.shot('capture-prompt');
    await page.keyboard.press('Enter');
    await workbench.quick.waitFor({ state: 'hidden' });
    await workbench.statusBar.getByText('Undo').first().waitFor();
    await steps.shot('captured');
    await nothingInterrupts();
    assert.ok(journal().includes(RETRY), 'the text is in the journal');
    return JSON.stringify(prompt);
  });

  await step('the lens appears over the function', async () => {
    const editor = workbench.editor('/shop/payments.py');
    await workbench.lensesAre(editor, { 'def charge(': '1 memory' });
    await steps.shot('lens');
  });

  await step('hover on the definition', async () => {
    const { text } = await workbench.hover(workbench.editor('/shop/payments.py'), 'def charge(', 'charge', 'Retry must stay idempotent');
    await steps.shot('hover-definition');
    assert.match(text, /fresh/);
    assert.match(text, /charge\(\)/);
    assert.match(text, /Open/);
    assert.match(text, /Forget/);
    return JSON.stringify(text);
  });

  await step('hover on a call of it in another file', async () => {
    const editor = await workbench.openFile('shop/checkout.py', 42, 1);
    const { text } = await workbench.hover(editor, 'return charge(', 'charge', 'Retry must stay idempotent');
    await steps.shot('hover-call');
    return JSON.stringify(text);
  });

  await step('no hover and no lens on what no memory is about', async () => {
    const editor = workbench.editor('/shop/checkout.py');
    assert.doesNotMatch(await workbench.hoverText(editor, 'def order_total(', 'order_total'), /idempotent|Mnemolens/i);
    assert.deepEqual(await workbench.lenses(editor), []);
  });

  await step('a click on the lens opens the memory as Markdown', async () => {
    const code = await workbench.openFile('shop/payments.py', 33, 1);
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await workbench.clickLens(code, '1 memory');
    const memory = workbench.editor('.md');
    await memory.waitFor();
    await workbench.rectangle(memory, 'Retry must stay idempotent', 'Retry');
    assert.match(await workbench.activeTab(), /\.md$/);
    await nothingInterrupts(800);
    await steps.shot('memory-document');
  });

  await step('an edit in the document, saved, changes the memory', async () => {
    const memory = workbench.editor('.md');
    const line = await memory.evaluate((root) => {
      const lines = [...root.querySelectorAll('.view-line')].sort((a, b) => a.getBoundingClientRect().y - b.getBoundingClientRect().y);
      return lines.findLastIndex((one) => one.textContent.replace(/\u00a0/g, ' ').startsWith('Retry must stay idempotent')) + 1;
    });
    assert.ok(line > 0, 'the content is in the document');
    await workbench.goTo(line);
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await workbench.type(RETRY_EDITED);
    await workbench.save();
    await steps.shot('memory-edited');
    await workbench.closeEditor();
    const code = await workbench.openFile('shop/payments.py', 33, 1);
    await workbench.hover(code, 'def charge(', 'charge', 'one key for all attempts');
    await steps.shot('hover-edited');
    await nothingInterrupts(300);
  });

  await step('typing above the function shifts the lens with it', async () => {
    const code = await workbench.openFile('shop/payments.py', 1, 1);
    await workbench.goTo(10);
    await workbench.type('LIMIT = 5\n\n\ndef unrelated():\n    return LIMIT\n\n\n');
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await workbench.hover(code, 'def charge(', 'charge', 'one key for all attempts');
    await steps.shot('typed-above');
    await workbench.command('File: Revert File');
    await page.locator('.tab.active.dirty').waitFor({ state: 'detached' });
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
  });

  const original = onDisk('shop/payments.py');
  const loop = original.slice(original.indexOf('    for attempt in'), original.indexOf('def refund('));
  const rewritten = original.replace(loop, '    queue = Outbox.of(provider)\n    ticket = queue.put(card, body)\n    return ticket.wait()\n\n\n');

  await step('a change on disk by another program keeps it on the function', async () => {
    const code = await workbench.openFile('shop/payments.py', 1, 1);
    writeOnDisk('shop/payments.py', original.replace('ATTEMPTS = 3\n', 'ATTEMPTS = 3\n# The provider answers within\n# two seconds, or never.\n'));
    await workbench.rectangle(code, '# two seconds, or never.', 'two');
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await workbench.hover(code, 'def charge(', 'charge', 'one key for all attempts');
    await steps.shot('changed-on-disk');
  });

  await step('a small edit of the body leaves it fresh', async () => {
    const code = workbench.editor('/shop/payments.py');
    writeOnDisk('shop/payments.py', original.replace('token_hex(16)', 'token_hex(20)'));
    await workbench.openFile('shop/payments.py', 36, 1);
    await workbench.rectangle(code, 'token_hex(20)', '20');
    const { text } = await workbench.hover(code, 'def charge(', 'charge', 'edited since');  // once it is judged
    await steps.shot('edited-since');
    assert.match(text, /fresh/);
    assert.match(text, /one key for all attempts/);
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    return JSON.stringify(text);
  });

  await step('a rewritten body makes it drifted', async () => {
    const code = workbench.editor('/shop/payments.py');
    await workbench.openFile('shop/payments.py', 36, 1);
    writeOnDisk('shop/payments.py', rewritten);
    await workbench.rectangle(code, 'ticket = queue.put', 'ticket');
    await workbench.lensesAre(code, { 'def charge(': '1 memory · 1 drifted' });
    await workbench.hover(code, 'def charge(', 'charge', 'drifted');
    await steps.shot('drifted');
  });

  await step('and the old body makes it fresh again', async () => {
    const code = workbench.editor('/shop/payments.py');
    writeOnDisk('shop/payments.py', original);
    await workbench.rectangle(code, 'key = secrets', 'key');
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    assert.equal(git('status', '--porcelain'), '');
  });

  await step('Still true in the light bulb menu accepts a rewritten body', async () => {
    const code = workbench.editor('/shop/payments.py');
    writeOnDisk('shop/payments.py', rewritten);
    await workbench.lensesAre(code, { 'def charge(': '1 memory · 1 drifted' });
    const row = await workbench.codeAction('shop/payments.py', 32, 5, 'Still true');
    await steps.shot('still-true');
    await row.click();
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await steps.shot('confirmed');
    await nothingInterrupts(300);
    writeOnDisk('shop/payments.py', original);
    await workbench.rectangle(code, 'for attempt in', 'attempt');
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
  });

  await step('a TypeScript function: capture, lens, hover on its call in another file', async () => {
    const cart = await workbench.openFile('web/src/cart.ts', 13, 10);
    await capture(CART, 'cartTotal');
    await page.keyboard.press('Enter');
    await workbench.lensesAre(cart, { 'export function cartTotal': '1 memory' });
    await nothingInterrupts();
    const shown = await workbench.openFile('web/src/checkoutPage.ts', 11, 1);
    await workbench.hover(shown, 'formatCents(cartTotal', 'cartTotal', 'customers see two prices');
    await steps.shot('typescript-call');
  });

  await step('memory text is data: no live link, no HTML', async () => {
    const stock = await workbench.openFile('shop/stock.py', 16, 10);
    await capture(HOSTILE, 'available');
    await page.keyboard.press('Enter');
    await workbench.lensesAre(stock, { 'def available(': '1 memory' });
    const { locator } = await workbench.hover(stock, 'def available(', 'available', 'command:workbench');
    await steps.shot('hostile');
    const targets = await locator.locator('a').evaluateAll((links) => links.map((link) => link.dataset.href ?? link.getAttribute('href') ?? ''));
    assert.ok(targets.length > 0, 'our own links are there');
    assert.deepEqual(targets.filter((target) => !target.startsWith('command:mnemolens.')), []);
    assert.equal(await locator.locator('img').count(), 0);
  });

  await step('a second memory on the function is counted', async () => {
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    await capture('Ask Ana before raising ATTEMPTS.', 'charge');
    await page.keyboard.press('Enter');
    await workbench.lensesAre(code, { 'def charge(': '2 memories' });
    await steps.shot('two-memories');
    await nothingInterrupts();
  });

  await step('Undo in the status bar takes the last capture back, its text stays as a draft', async () => {
    await undo();
    const code = workbench.editor('/shop/payments.py');
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await nothingInterrupts();
    await steps.shot('capture-undone');
    await workbench.openFile('shop/payments.py', 36, 10);
    await workbench.command('Mnemolens: Capture');
    await workbench.until(async () => (await workbench.quick.locator('input').first().inputValue()) === 'Ask Ana before raising ATTEMPTS.', 'the draft');
    await steps.shot('draft');
    await page.keyboard.press('Enter');
    await workbench.lensesAre(code, { 'def charge(': '2 memories' });
  });

  await step('a click on the lens of two memories leads to both', async () => {
    await workbench.clickLens(workbench.editor('/shop/payments.py'), '2 memories');
    const rows = workbench.quick.locator('.monaco-list-row');
    await workbench.until(async () => (await rows.filter({ hasText: 'in shop/payments.py' }).count()) === 2, 'two memories to choose from');
    await steps.shot('lens-of-two');
    assert.equal(await page.locator('.tab[data-resource-name$=".md"]').count(), 0);
    await workbench.dismiss();
  });

  await step('Forget by palette asks which of the two', async () => {
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    await workbench.command('Mnemolens: Forget a Memory Here');
    const row = workbench.quick.locator('.monaco-list-row', { hasText: 'Ask Ana before' }).first();
    await row.waitFor();
    await steps.shot('forget-here');
    await row.click();
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await nothingInterrupts();
  });

  await step('Forget in the hover takes the memory away, Undo brings it back', async () => {
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    const { locator } = await workbench.hover(code, 'def charge(', 'charge', 'one key for all attempts');
    await locator.locator('a', { hasText: 'Forget' }).first().click();
    await workbench.lensesAre(code, {});
    await steps.shot('forgotten');
    await undo();
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await nothingInterrupts();
  });

  await step('search by quick pick opens a memory', async () => {
    await workbench.command('Mnemolens: Search');
    await workbench.until(async () => (await workbench.quickText()).startsWith('Search'), 'the search to open');
    await workbench.type('idempotent');
    const row = workbench.quick.locator('.monaco-list-row', { hasText: 'Retry must stay idempotent' }).first();
    await row.waitFor();
    await steps.shot('search');
    await page.keyboard.press('Enter');
    await workbench.rectangle(workbench.editor('.md'), 'one key for all attempts', 'one');
    await workbench.closeEditor();
  });

  await step('the bell in a list makes a reminder of a memory, Undo ends it', async () => {
    await workbench.command('Mnemolens: Search');
    await workbench.until(async () => (await workbench.quickText()).startsWith('Search'), 'the search to open');
    await workbench.type('idempotent');
    const rows = workbench.quick.locator('.monaco-list-row');
    const row = rows.filter({ hasText: 'on charge() in shop/payments.py' }).first();  // its place is read last: the row stays
    await row.hover();
    await row.locator('.codicon-bell').click();
    await workbench.until(async () => (await workbench.quickText()).startsWith('When to remind'), 'the choices');
    await steps.shot('remind');
    await rows.filter({ hasText: 'Tomorrow' }).click();
    await workbench.statusBar.getByText('Due tomorrow').waitFor();
    await undo();
    await workbench.statusBar.getByText('No reminder any more').waitFor();
    await nothingInterrupts(300);
  });

  await step('a capture that says almost the same leads to the earlier one', async () => {
    await workbench.openFile('web/src/cart.ts', 13, 10);
    await capture(CART.replace('two prices', 'two different prices'), 'cartTotal');
    await workbench.until(async () => (await workbench.quickText()).includes('almost the same as'), 'the prompt to say so');
    await steps.shot('similar-prompt');
    await page.keyboard.press('Enter');
    const open = workbench.statusBar.getByText('Open the earlier one');
    await open.waitFor();
    await steps.shot('similar');
    await open.click();
    await nothingInterrupts(300);
    await workbench.rectangle(workbench.editor('.md'), 'customers see two prices', 'two');
    await workbench.closeEditor();
  });

  await step('the context for an agent is copied', async () => {
    await workbench.openFile('shop/checkout.py', 34, 8);
    await workbench.command('Mnemolens: Copy Context');
    await workbench.statusBar.getByText('Copied for an agent').waitFor();
    await steps.shot('context-copied');
    const text = await workbench.clipboard();
    assert.match(text, /one key for all attempts/);
    return JSON.stringify(text);
  });

  await step('the palette holds what a user can do, and no server command', async () => {
    const { contributes } = JSON.parse(readFileSync(new URL('../../../vscode-extension/package.json', import.meta.url), 'utf8'));
    const wanted = contributes.commands.map(({ category, title }) => `${category}: ${title}`);
    const ours = await workbench.paletteTitles('Mnemolens', wanted.length);
    assert.deepEqual(ours.toSorted(), wanted.toSorted());
    return JSON.stringify(ours);
  });
}

async function again() {
  await step('the end of the editor left no opened memory behind', () => {
    assert.deepEqual(readdirSync(join(folder, '.git', 'mnemolens', 'open')), []);
  });
  await step('after a restart of workbench and browser the folder opens', opened);
  await step('the lens and the hover are there again', async () => {
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    await workbench.lensesAre(code, { 'def charge(': '1 memory' }, 30000);
    await workbench.hover(code, 'def charge(', 'charge', 'one key for all attempts');
    await steps.shot('after-restart');
  });
  await step('a method that git renamed while no server ran keeps its memory; a reminder is due', async () => {
    const stock = await workbench.openFile('shop/stock.py', 16, 10);
    await workbench.lensesAre(stock, { 'def in_stock(': '1 memory', 'def ship(': '1 memory' });
    const { text } = await workbench.hover(stock, 'def in_stock(', 'in_stock', 'command:workbench');
    await steps.shot('renamed-by-git');
    return JSON.stringify(text);
  });
  await step('Done in the light bulb menu ends the reminder', async () => {
    const stock = workbench.editor('/shop/stock.py');
    const hint = await workbench.hover(stock, 'def ship(', 'ship', 'its time has come');
    await steps.shot('due');
    const row = await workbench.codeAction('shop/stock.py', 29, 10, 'Done: Count the shelves');
    await steps.shot('due-actions');
    await row.click();
    await workbench.statusBar.getByText('Done: Count the shelves').waitFor();
    await workbench.until(async () => !/its time has come/.test(await workbench.hoverText(stock, 'def ship(', 'ship')), 'the hint to go');
    return JSON.stringify(hint.text);
  });
  await step('a capture on a file is offered the function that it may be about: Link', async () => {
    await workbench.openFile('shop/checkout.py', 1, 1);
    await capture('Halves are rounded to the even whole cent, nearest value otherwise: the tax office wants it.', 'checkout.py');
    await workbench.until(async () => (await workbench.quickText()).includes('may be about round_cents() in money.py'), 'the offer in the prompt');
    await steps.shot('suggestion-prompt');
    await page.keyboard.press('Enter');
    const link = workbench.statusBar.getByText('May be about round_cents()');
    await link.waitFor();
    await steps.shot('suggestion');
    await link.click();
    await workbench.statusBar.getByText('Linked to round_cents()').waitFor();
    const money = await workbench.openFile('shop/money.py', 25, 5);
    await workbench.lensesAre(money, { 'def round_cents(': '1 memory' });
    await nothingInterrupts(300);
  });
  await step('hover on a function that calls it: a neighbour\'s memory, and why it is shown', async () => {
    const { text } = await workbench.hover(workbench.editor('/shop/money.py'), 'def times(', 'times', 'the tax office wants it');
    await steps.shot('hover-neighbour');
    assert.match(text, /on round_cents\(\), called here/);
    return JSON.stringify(text);
  });
  await step('a function that is renamed in the editor keeps it', async () => {
    const money = workbench.editor('/shop/money.py');
    const { text } = await workbench.hover(money, 'def round_cents(', 'round_cents', 'the tax office wants it');
    await workbench.openFile('shop/money.py', 25, 5);
    await page.keyboard.press('Control+Delete');
    await workbench.type('whole_cents');
    await workbench.save();
    await workbench.lensesAre(money, { 'def whole_cents(': '1 memory' });
    await workbench.hover(money, 'def whole_cents(', 'whole_cents', 'the tax office wants it');
    await steps.shot('renamed-in-editor');
    return JSON.stringify(text);
  });
  await step('and on the TypeScript call', async () => {
    const shown = await workbench.openFile('web/src/checkoutPage.ts', 11, 1);
    await workbench.hover(shown, 'formatCents(cartTotal', 'cartTotal', 'customers see two prices');
  });
  await step('a server that crashes is started again, without a word', async () => {
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    await ready().waitFor();
    await crash(code);
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await nothingInterrupts();
  });
  await step('one that crashes again and again is reported once, and Restart starts it', async () => {
    const code = workbench.editor('/shop/payments.py');
    await crash(code);
    await crash(code);
    process.kill(servers()[0], 'SIGKILL');
    const toast = workbench.toasts.filter({ hasText: 'keeps ending' });
    await toast.first().waitFor();
    await workbench.statusBar.getByText('Mnemolens: no server').waitFor();
    await steps.shot('keeps-ending');
    assert.equal(await toast.count(), 1);
    const said = plain(await toast.first().innerText());
    await toast.first().getByRole('button', { name: 'Restart' }).click();
    await workbench.hover(code, 'def charge(', 'charge', 'one key for all attempts');
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    return JSON.stringify(said);
  });
}

async function worktree() {
  await step('a linked worktree of the same repository', async () => {
    await opened();
  });
  await step('shows the same memories', async () => {
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    await workbench.lensesAre(code, { 'def charge(': '1 memory' });
    await workbench.clickLens(code, '1 memory');
  });
  await step('and opens a memory, whose file lies outside the folder, without a question', async () => {
    const memory = workbench.editor('.md');
    await workbench.until(async () => (await memory.isVisible()) || (await workbench.dialogs.count()) > 0, 'the memory or a dialog');
    await steps.shot('worktree-memory');
    assert.deepEqual(await workbench.dialogs.allInnerTexts(), []);
    await workbench.rectangle(memory, 'one key for all attempts', 'one');
    await nothingInterrupts(800);
  });
}

async function folders() {
  await step('two folders in one window', async () => {
    await opened();
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    await workbench.lensesAre(code, { 'def charge(': '1 memory' }, 30000);
  });
  await step('a capture goes to the folder of the file', async () => {
    const tool = await workbench.openFile('labels.py', 5, 8);
    await capture('Labels are printed on 62 mm tape.', 'print_label');
    await page.keyboard.press('Enter');
    await workbench.lensesAre(tool, { 'def print_label(': '1 memory' });
    await steps.shot('two-folders');
    assert.ok(journal(second).includes('62 mm tape') && !journal().includes('62 mm tape'));
  });
}

const FIRST = 'Refunds are booked with a negative amount.';
const TOKEN = ['ghp', '16C7e42F292c6912E7710c838347Ae178B4a'].join('_');  // made up
const PROJECT = 'Import notes from this project';

/** Opens the menu of the status item, again where what it offers was not read in time; answers the row. */
async function menuRow(text) {
  const row = workbench.quick.locator('.monaco-list-row', { hasText: text }).first();
  await workbench.until(async () => {
    await workbench.dismiss();
    await workbench.statusBar.getByText('Mnemolens', { exact: true }).click();
    return row.waitFor({ timeout: 3000 }).then(() => true, () => false);
  }, `'${text}' in the menu`, 30000);
  return row;
}

/** The rows of the open list of notes, [title, place] each. */
async function notesShown(count) {
  const rows = workbench.quick.locator('.monaco-list-row');
  await workbench.until(async () => (await workbench.quickText()).includes('Import notes as memories') && (await rows.count()) === count, `${count} notes`);
  return (await rows.allInnerTexts()).map((text) => plain(text).split('\n').map(plain).filter((part) => part !== ''));
}

/** Presses Enter in the list of notes: once to leave its text, which has the focus. */
async function importTicked() {
  await page.keyboard.press('Enter');
  await workbench.quick.waitFor({ state: 'hidden' });
}

async function searchToRemove(text) {
  await workbench.command('Mnemolens: Remove a Memory for Good');
  await workbench.until(async () => (await workbench.quickText()).startsWith('Remove'), 'the list to open');
  await workbench.type(text);
}

async function notes() {
  await step('a project with comments and an agent file opens', async () => {
    await opened();
    const ledger = await workbench.openFile('ledger.py', 5, 5);
    await workbench.statusBar.getByText('Mnemolens', { exact: true }).waitFor();  // the server has started
    await nothingInterrupts();
    assert.deepEqual(await workbench.lenses(ledger), []);
  });

  await step('a search that finds no memory offers its notes, and to try it on the open file', async () => {
    const rows = workbench.quick.locator('.monaco-list-row');
    await workbench.until(async () => {
      await workbench.command('Mnemolens: Search');
      const all = rows.filter({ hasText: `${PROJECT}'s comments and agent files… (5)` });  // fewer while code is read
      return all.waitFor({ timeout: 4000 }).then(() => true, () => false);
    }, 'all five notes to be offered', 40000);
    await rows.filter({ hasText: 'Try it on ledger.py' }).waitFor();
    await steps.shot('empty-search');
    const offers = (await rows.allInnerTexts()).map(plain);
    assert.deepEqual(offers.map((text) => /\((\d)\)/.exec(text)?.[1]), ['5', '2'], JSON.stringify(offers));
    return JSON.stringify(offers);
  });

  await step('the preview shows each note with its place; Escape stores nothing', async () => {
    await workbench.quick.locator('.monaco-list-row', { hasText: 'Try it on' }).click();
    const rows = await notesShown(2);
    await steps.shot('try-it-preview');
    assert.ok(rows.some((row) => row.join(' ').includes('adds everything up anew, each time')), JSON.stringify(rows));
    assert.ok(rows.some((row) => row.join(' ').includes('ledger.py:4')), JSON.stringify(rows));
    await page.keyboard.press('Escape');
    await workbench.quick.waitFor({ state: 'hidden' });
    assert.equal(journal(noted), '');
    return JSON.stringify(rows);
  });

  await step('a capture of one\'s own is copied to the data folder', async () => {
    await workbench.openFile('ledger.py', 5, 5);
    await capture(FIRST, 'book');
    await page.keyboard.press('Enter');
    await workbench.lensesAre(workbench.editor('/ledger.py'), { 'def book(': '1 memory' });
    await workbench.until(() => copies().includes(FIRST), 'the daily copy', 20000);
  });

  await step('trying it on the open file shows its notes there', async () => {
    const ledger = await workbench.openFile('ledger.py', 5, 5);
    await (await menuRow('Try it on ledger.py')).click();
    await notesShown(2);
    await importTicked();
    await workbench.statusBar.getByText('Imported 2 notes').waitFor();
    await workbench.lensesAre(ledger, { 'def book(': '2 memories', 'def balance(': '1 memory' });
    await steps.shot('tried');
    const { text } = await workbench.hover(ledger, 'def balance(', 'balance', 'adds everything up anew');
    await steps.shot('tried-hover');
    await nothingInterrupts();
    return JSON.stringify(text);
  });

  await step('the status item offers the rest; what is not ticked is left', async () => {
    const report = await workbench.openFile('report.py', 6, 5);
    const row = await menuRow(PROJECT);
    await steps.shot('menu');
    assert.match(plain(await row.innerText()), /\(3\)/);
    await row.click();
    const rows = await notesShown(3);
    await steps.shot('preview');
    await workbench.quick.locator('.monaco-list-row', { hasText: 'Dates' }).first().click();  // no longer ticked
    await importTicked();
    await workbench.lensesAre(report, { 'def monthly(': '1 memory' });
    await steps.shot('imported');
    assert.ok(journal(noted).includes('whole cents, never floats') && !journal(noted).includes('Dates are UTC'));
    return JSON.stringify(rows);
  });

  await step('and Undo takes that import back, as one', async () => {
    await undo();
    await workbench.statusBar.getByText('Import undone').waitFor();
    await workbench.lensesAre(workbench.editor('/report.py'), {});
    await steps.shot('import-undone');
    const ledger = await workbench.openFile('ledger.py', 5, 5);
    await workbench.lensesAre(ledger, { 'def book(': '2 memories', 'def balance(': '1 memory' });
  });

  await step('a secret is refused, saying what it is and where', async () => {
    await workbench.openFile('report.py', 6, 5);
    await capture(`The tax office's key is ${TOKEN}`, 'monthly');
    await page.keyboard.press('Enter');
    await workbench.until(async () => (await workbench.quickText()).includes('looks like a secret'), 'the refusal');
    await steps.shot('secret-refused');
    const said = await workbench.quickText();
    assert.match(said, /GitHub token \(characters 25 to 64\)/);
    assert.ok(!journal(noted).includes(TOKEN));
    return JSON.stringify(said);
  });

  await step('Store anyway stores it', async () => {
    await workbench.quick.getByRole('button', { name: 'Store anyway' }).click();
    await workbench.lensesAre(workbench.editor('/report.py'), { 'def monthly(': '1 memory' });
    await steps.shot('stored-anyway');
    assert.ok(journal(noted).includes(TOKEN));
    await nothingInterrupts();
  });

  await step('removing it for good asks first', async () => {
    await searchToRemove('tax office');
    const row = workbench.quick.locator('.monaco-list-row', { hasText: 'key is' }).first();
    await row.waitFor();
    await steps.shot('purge-pick');
    await row.click();
    await workbench.dialogs.getByText('for good?').waitFor();
    await steps.shot('purge-question');
    await workbench.dialogs.getByRole('button', { name: 'Cancel' }).click();
    await workbench.dialogs.first().waitFor({ state: 'hidden' });
    await page.waitForTimeout(500);
    assert.ok(journal(noted).includes(TOKEN));
  });

  await step('and then leaves nothing of it', async () => {
    await searchToRemove('tax office');
    await workbench.quick.locator('.monaco-list-row', { hasText: 'key is' }).first().click();
    await workbench.dialogs.getByRole('button', { name: 'Remove for Good' }).click();
    await workbench.statusBar.getByText('Removed for good').waitFor();
    await workbench.lensesAre(workbench.editor('/report.py'), {});
    await steps.shot('purged');
    assert.ok(!journal(noted).includes(TOKEN) && !copies().includes(TOKEN));
  });
}

async function reclone() {
  await step('a fresh clone has no memories', async () => {
    await opened();
    const ledger = await workbench.openFile('ledger.py', 5, 5);
    await nothingInterrupts(3000);
    assert.deepEqual(await workbench.lenses(ledger), []);
  });

  await step('the status item offers the daily copy, and restores it when asked to', async () => {
    const row = await menuRow("Restore this repository's memories");
    await steps.shot('restore-offer');
    const said = plain(await row.innerText());
    assert.match(said, /copy of \d{4}-\d\d-\d\d/);
    await row.click();
    const ledger = workbench.editor('/ledger.py');
    await workbench.lensesAre(ledger, { 'def book(': '1 memory' });
    await workbench.hover(ledger, 'def book(', 'book', 'negative amount');
    await steps.shot('restored');
    await nothingInterrupts();
    return JSON.stringify(said);
  });

  await step('and does not offer it again', async () => {
    await workbench.dismiss();
    await workbench.statusBar.getByText('Mnemolens', { exact: true }).click();
    await workbench.quick.locator('.monaco-list-row', { hasText: 'Search Memories' }).waitFor();
    assert.doesNotMatch(await workbench.quickText(), /Restore this repository/);
  });
}

async function wrong() {
  await step('an interpreter without mnemolens is named in one message, with what to do', async () => {
    await workbench.open(url);
    const toast = workbench.toasts.filter({ hasText: 'Mnemolens' }).first();
    await toast.waitFor({ timeout: 60000 });
    await page.waitForTimeout(4000);  // a crash loop would say more
    await steps.shot('wrong-interpreter');
    assert.equal(await workbench.toasts.count(), 1);
    const said = plain(await toast.innerText());
    assert.match(said, /This interpreter has no mnemolens: \S*python/);
    assert.match(said, /Open Settings/);
    await workbench.statusBar.getByText('Mnemolens: no server').waitFor();
    return JSON.stringify(said);
  });
}

async function install() {
  await step('without a server the extension asks before it installs one', async () => {
    await workbench.open(url);
    const toast = workbench.toasts.filter({ hasText: 'Mnemolens' }).first();
    await toast.waitFor({ timeout: 60000 });
    await steps.shot('install-question');
    const said = plain(await toast.innerText());
    await toast.getByRole('button', { name: 'Install', exact: true }).click();
    await page.waitForTimeout(1500);
    await steps.shot('installing');
    return JSON.stringify(said);
  });
  await step('and the memories are there once it is installed', async () => {
    await workbench.statusBar.getByText('Mnemolens', { exact: true }).waitFor({ timeout: 400000 });
    const code = await workbench.openFile('shop/payments.py', 36, 10);
    await workbench.lensesAre(code, { 'def charge(': '1 memory', 'def refund(': '1 memory' }, 30000);
    await workbench.hover(code, 'def charge(', 'charge', 'one key for all attempts');
    await steps.shot('installed');
    await nothingInterrupts();
  });
}

async function sample() {
  await step('the address that make run prints opens the sample, with no question of trust', async () => {
    await workbench.open(url);
    assert.ok(!(await workbench.opensRestricted(3000)));
  });
  await step('it already holds memories: lens and hover', async () => {
    const code = await workbench.openFile('shop/payments.py', 42, 1);
    await workbench.lensesAre(code, { 'def charge(': '1 memory', 'def refund(': '1 memory' }, 30000);
    await steps.shot('sample-lenses');
    const checkout = await workbench.openFile('shop/checkout.py', 38, 1);
    const { text } = await workbench.hover(checkout, 'return charge(', 'charge', 'Retry must stay idempotent');
    await steps.shot('sample-hover');
    return JSON.stringify(text);
  });
  await step('and on its TypeScript', async () => {
    const cart = await workbench.openFile('web/src/cart.ts', 12, 1);
    await workbench.lensesAre(cart, { 'export function cartTotal': '1 memory' });
    await nothingInterrupts(500);
  });
}

try {
  await { first, again, worktree, folders, notes, reclone, wrong, install, sample }[phase]();
  await step('no request left the machine', () => assert.deepEqual([...workbench.outside], []));
} finally {
  steps.finish();
  await workbench.close();
}
