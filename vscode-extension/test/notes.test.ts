import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { importLabel, importSaid, noteWords, restoreLabel, secretRefusal, secretsOf, tryLabel } from '../src/core/notes';
import { SERVER_COMMANDS, type FoundNote, type ServerStatus } from '../src/core/protocol';
import { Memories } from '../src/memories';
import { Notes } from '../src/notes';
import { clean, cursorAt, serverOf, settle, undoOf, type Answer } from './editor';
import { opened, Uri, workspace } from './vscode';

const todo: FoundNote = {
  id: 'todo-1',
  action: 'new',
  label: 'TODO',
  title: 'never retry',
  content: 'never retry',
  file: 'shop/billing.py',
  line: 4,
};
const rule: FoundNote = { ...todo, id: 'agents-1', label: 'Money', title: 'Money', content: 'In cents.', file: 'AGENTS.md', line: 3 };

/** Two notes in the folder, one of them in the open file. */
const preview: Answer = ({ uri }) => {
  const items = uri === undefined ? [rule, todo] : [todo];
  return { items, counts: { new: items.length, edited: 0 } };
};
const nothing: Answer = () => ({ items: [], counts: { new: 0, edited: 0 } });
const nobody = (): void => undefined;

beforeEach(() => {
  clean();
  cursorAt('/code/shop/billing.py', 6);
});

describe('the words of an import', () => {
  it('say how many notes there are, and nothing where there are none', () => {
    const counts = { new: 3, edited: 1 };
    assert.equal(importLabel({ counts }), "Import notes from this project's comments and agent files… (4)");
    assert.equal(importLabel({ counts }, '/code/shop'), "Import notes from shop's comments and agent files… (4)");
    assert.equal(tryLabel({ counts }, '/code/billing.py'), 'Try it on billing.py… (4)');
    assert.equal(importLabel({ counts: { new: 0, edited: 0 } }), undefined);
    assert.equal(tryLabel({ counts: { new: 0, edited: 0 } }, 'billing.py'), undefined);
  });

  it('show a note with its place, as inert text', () => {
    assert.deepEqual(noteWords(todo), { label: 'never retry', description: 'TODO', detail: 'shop/billing.py:4' });
    assert.equal(noteWords(rule).description, '');
    const words = noteWords({ ...rule, label: 'Rules / Money', action: 'edited', content: '[x](command:y) $(bug)' });
    assert.equal(words.description, 'Rules / Money · edited since');
    assert.doesNotMatch(words.detail, /\]\(|\$\(/u);
  });

  it('say what was done', () => {
    const said = (stored: number, updated: number, refused: number): string =>
      importSaid({ sessionId: 's', stored, updated, refused: Array.from({ length: refused }) });
    assert.equal(said(1, 0, 0), 'Imported 1 note');
    assert.equal(said(3, 1, 2), 'Imported 3 notes, updated 1 note · left out 2 with a secret');
    assert.equal(said(0, 2, 0), 'Updated 2 notes');
    assert.equal(said(0, 0, 0), 'Nothing new to import');
  });

  it('tell a refused secret from other errors, and name the button', () => {
    const secrets = [{ field: 'content', kind: 'GitHub token', start: 4, end: 44 }];
    const refusal = Object.assign(new Error('content: no'), { data: { field: 'content', reason: 'secret', secrets } });
    assert.deepEqual(secretsOf(refusal), secrets);
    const others = [new Error('content: set allowSecret'), { data: null }, { data: { field: 'content' } }, undefined, 'secret'];
    assert.deepEqual(others.map(secretsOf), others.map(() => undefined));
    assert.match(secretRefusal(secrets), /GitHub token \(characters 5 to 44\)\. Take it out, or press “Store anyway” above$/u);
    assert.match(secretRefusal([...secrets, ...secrets, ...secrets, ...secrets]), /44\) and 1 more\./u);
  });

  it('name the day of a copy', () => {
    assert.equal(restoreLabel({ day: '2026-11-29', path: '/x' }), "Restore this repository's memories (copy of 2026-11-29)");
  });
});

describe('importing notes', () => {
  it("is offered for the folder and the open file, while there is something new", async () => {
    const { server } = serverOf({ [SERVER_COMMANDS.importPreview]: preview });
    const labels = (await new Notes(server, undoOf().undo, nobody).imports()).map(({ label }) => label);
    assert.deepEqual(labels, [
      "$(comment) Import notes from this project's comments and agent files… (2)",
      '$(comment) Try it on billing.py… (1)',
    ]);
    const none = serverOf({ [SERVER_COMMANDS.importPreview]: nothing });
    assert.deepEqual(await new Notes(none.server, undoOf().undo, nobody).imports(), []);
  });

  it('is not offered by a server that does not know of it', async () => {
    const { server } = serverOf({});
    assert.deepEqual(await new Notes(server, undoOf().undo, nobody).imports(), []);
    assert.deepEqual(opened.errors, []);
  });

  it('stores what is ticked, says so in the status bar, and is undone as one', async () => {
    const { undo, offered } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.importPreview]: preview,
      [SERVER_COMMANDS.importRun]: () => ({ sessionId: 'import-1', stored: 1, updated: 0, refused: [] }),
      [SERVER_COMMANDS.importUndo]: () => ({ forgotten: 1, reverted: 0 }),
    });
    const [entry] = await new Notes(server, undo, nobody).imports();
    const done = entry?.act();
    await settle();
    const [asked] = opened.asked;
    assert.deepEqual(asked?.items.map(({ label, picked }) => [label, picked]), [['Money', true], ['never retry', true]]);
    asked.answer(asked.items.slice(1));
    await done;
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.importRun, argument: { ids: ['todo-1'] } });
    assert.deepEqual(offered.map(({ text }) => text), ['Imported 1 note']);
    await offered[0]?.act();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.importUndo, argument: { sessionId: 'import-1' } });
    assert.deepEqual(opened.errors, []);
  });

  it('stores nothing where the list is dismissed', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.importPreview]: preview });
    const [entry] = await new Notes(server, undoOf().undo, nobody).imports();
    const done = entry?.act();
    await settle();
    opened.asked[0]?.answer(undefined);
    await done;
    assert.ok(calls.every(({ command }) => command === SERVER_COMMANDS.importPreview));
  });

  it('names the folder of a file, where several are open, when it is undone', async () => {
    workspace.workspaceFolders = [{ uri: Uri.parse('file:///code') }, { uri: Uri.parse('file:///other') }];
    const { undo, offered } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.importPreview]: preview,
      [SERVER_COMMANDS.importRun]: () => ({ sessionId: 'import-1', stored: 1, updated: 0, refused: [] }),
      [SERVER_COMMANDS.importUndo]: () => ({ forgotten: 1, reverted: 0 }),
    });
    const entries = await new Notes(server, undo, nobody).imports();
    assert.equal(entries.length, 3);
    const done = entries[2]?.act();
    await settle();
    opened.asked[0]?.answer(opened.asked[0].items);
    await done;
    await offered[0]?.act();
    assert.deepEqual(calls.at(-1)?.argument, { sessionId: 'import-1', root: '/code' });
  });

  it('is what a search shows where there is no memory at all', async () => {
    const { server } = serverOf({ [SERVER_COMMANDS.list]: () => ({ memories: [], total: 0 }) });
    let acted = 0;
    const offer = { label: 'Import notes…', act: () => (acted += 1) };
    new Memories(server, undoOf().undo, async () => Promise.resolve([offer])).search();
    await settle();
    const list = opened.lists.at(-1);
    assert.deepEqual(list?.items.map(({ label }) => label), ['Import notes…']);
    list.enter();
    assert.deepEqual([acted, list.disposed], [1, true]);
  });
});

describe('a daily copy', () => {
  it('is restored when asked for', async () => {
    const { undo, said } = undoOf();
    const { server, calls } = serverOf({ [SERVER_COMMANDS.restoreStore]: () => ({ memories: 12 }) });
    const folder = { root: '/code', files: 1, symbols: 1, memories: 0, verdicts: {}, skipped: [], indexing: null };
    const status: ServerStatus = { version: '1', folders: [{ ...folder, restore: { day: '2026-11-29', path: '/x' } }] };
    const notes = new Notes(server, undo, nobody);
    const [entry] = notes.restores(status);
    assert.equal(entry?.label, "$(history) Restore this repository's memories (copy of 2026-11-29)");
    await entry.act();
    assert.deepEqual(calls, [{ command: SERVER_COMMANDS.restoreStore, argument: { root: '/code' } }]);
    assert.deepEqual(said, ['Restored 12 memories']);
    assert.deepEqual(notes.restores({ version: '1', folders: [{ ...folder, restore: null }, folder] }), []);
    assert.deepEqual(notes.restores(undefined), []);
  });
});
