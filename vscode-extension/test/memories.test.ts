import assert from 'node:assert/strict';
import { beforeEach, describe, it, mock } from 'node:test';
import { Clicks } from '../src/clicks';
import { SERVER_COMMANDS, type Memory } from '../src/core/protocol';
import { Memories } from '../src/memories';
import { clean, cursorAt, serverOf, settle, undoOf, type Answer } from './editor';
import { opened, Uri, workspace, type QuickPick } from './vscode';

function memory(id: string, fields: Partial<Memory> = {}): Memory {
  return {
    id,
    type: 'semantic',
    title: `title ${id}`,
    content: `content ${id}`,
    status: 'active',
    verdict: 'fresh',
    createdAt: '2026-11-30T10:00:00Z',
    ...fields,
  };
}

const charge = { kind: 'function', file: 'shop/billing.py', qualname: 'charge', ordinal: 0, id: 'shop/billing.py::charge' };
const get: Answer = ({ id }) => ({
  memory: memory(String(id)),
  links: [{ target: charge, relevance: 1, context: 'captured_here' }],
  anchors: [],
});

function listOf(...memories: Memory[]): Answer {
  return () => ({ memories, total: memories.length });
}

function list(): QuickPick {
  const last = opened.lists.at(-1);
  assert.ok(last !== undefined);
  return last;
}

beforeEach(() => {
  clean();
  cursorAt('/code/shop/billing.py', 6);
});

describe('search', () => {
  it('shows verdict and place, and opens by Enter', async () => {
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a'), memory('b', { verdict: 'drifted' })),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.open]: () => ({ uris: [] }),
    });
    new Memories(server, undoOf().undo).search();
    await settle();
    assert.deepEqual(
      list().items.map(({ label, detail }) => [label, detail]),
      [
        ['title a', 'fresh · on charge() in shop/billing.py · content a'],
        ['title b', 'the code has changed since · on charge() in shop/billing.py · content b'],
      ],
    );
    list().enter();
    await settle();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.open, argument: { id: 'a' } });
    assert.equal(list().disposed, true);
  });

  it('asks the server as one types, and shows all that it answers', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { server, calls } = serverOf({ [SERVER_COMMANDS.list]: listOf(memory('a')), [SERVER_COMMANDS.get]: get });
      new Memories(server, undoOf().undo).search();
      list().type('dou');
      list().type('double charge');
      mock.timers.tick(1000);
      await settle();
      const texts = calls.filter(({ command }) => command === SERVER_COMMANDS.list).map(({ argument }) => argument['text']);
      assert.deepEqual(texts, [undefined, 'double charge']);
      assert.ok(list().items.every((item) => item.alwaysShow));
    } finally {
      mock.timers.reset();
    }
  });

  it('searches every open folder, and opens in the right one', async () => {
    workspace.workspaceFolders = [{ uri: Uri.parse('file:///one') }, { uri: Uri.parse('file:///two') }];
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: ({ root }) => ({ memories: root === '/two' ? [memory('b')] : [], total: 1 }),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.open]: () => ({ uris: [] }),
    });
    new Memories(server, undoOf().undo).search();
    await settle();
    list().enter();
    await settle();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.open, argument: { id: 'b', root: '/two' } });
  });

  it('still shows a memory whose place can not be read', async () => {
    const { server } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a')),
      [SERVER_COMMANDS.get]: () => {
        throw new Error('id: no memory has the id a');
      },
    });
    new Memories(server, undoOf().undo).search();
    await settle();
    assert.equal(list().items[0]?.detail, 'fresh · content a');
    assert.deepEqual(opened.errors, []);
  });

  it('says without jargon that no folder is open', async () => {
    const { server } = serverOf({
      [SERVER_COMMANDS.list]: () => {
        throw new Error('root: no folder is open; open one first');
      },
    });
    new Memories(server, undoOf().undo).search();
    await settle();
    assert.deepEqual(opened.errors, ['Mnemolens: no folder is open; open one first']);
  });

  it('tells an error once and leaves', async () => {
    const { server } = serverOf({
      [SERVER_COMMANDS.list]: () => {
        throw new Error('text: is too long');
      },
    });
    new Memories(server, undoOf().undo).search();
    await settle();
    assert.deepEqual(opened.errors, ['Mnemolens: text: is too long']);
    assert.equal(list().visible, false);
  });
});

describe('what can be done with a memory in a list', () => {
  const done = { memory: memory('a') };

  it('forget, and bring back', async () => {
    const { undo, offered } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a')),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.forget]: () => done,
      [SERVER_COMMANDS.restore]: () => done,
    });
    new Memories(server, undo).search();
    await settle();
    list().press(0, 'Forget');
    await settle();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.forget, argument: { id: 'a' } });
    assert.deepEqual(offered.map(({ text }) => text), ['Forgot “title a”']);
    await offered[0]?.act();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.restore, argument: { id: 'a' } });
  });

  it('copy, which counts as a use', async () => {
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a')),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.access]: () => ({ memories: [] }),
    });
    new Memories(server, undoOf().undo).search();
    await settle();
    list().press(0, 'Copy');
    await settle();
    assert.deepEqual(opened.clipboard, ['content a']);
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.access, argument: { ids: ['a'] } });
  });

  it('depends on its verdict and type', async () => {
    const tooltips = async (fields: Partial<Memory>): Promise<string[]> => {
      const { server } = serverOf({ [SERVER_COMMANDS.list]: listOf(memory('a', fields)), [SERVER_COMMANDS.get]: get });
      new Memories(server, undoOf().undo).search();
      await settle();
      return list().items[0]?.buttons.map(({ tooltip }) => tooltip) ?? [];
    };
    const linkable = 'Link to the code at the cursor too';
    assert.deepEqual(await tooltips({}), [linkable, 'Remind me of it', 'Copy', 'Forget']);
    assert.deepEqual(await tooltips({ verdict: 'drifted' }), ['Still true', linkable, 'Remind me of it', 'Copy', 'Forget']);
    assert.deepEqual(await tooltips({ verdict: 'moved' }), ['It moved here', 'Undo the move', linkable, 'Remind me of it', 'Copy', 'Forget']);
    const lost = ['Pick where its code is now', 'Attach to the code at the cursor', 'Remind me of it', 'Copy', 'Forget'];
    assert.deepEqual(await tooltips({ verdict: 'lost' }), lost);
    assert.deepEqual(await tooltips({ status: 'done' }), [linkable, 'Copy', 'Forget']);
    assert.deepEqual(await tooltips({ type: 'prospective' }), ['Done', linkable, 'Remind me of it', 'Copy', 'Forget']);
    clean();
    assert.deepEqual(await tooltips({}), ['Remind me of it', 'Copy', 'Forget']);
  });

  it('be reminded of it, and take that back', async () => {
    const { undo, offered } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a', { type: 'episodic' })),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.update]: () => done,
    });
    new Memories(server, undo).search();
    await settle();
    list().press(0, 'Remind me of it');
    const [asked] = opened.asked;
    const choice = asked?.items.find(({ label }) => label === 'When its file is opened');
    asked?.answer(choice);
    await settle();
    const opens = { id: 'a', type: 'prospective', dueAt: null, trigger: { on: 'open' } };
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.update, argument: opens });
    assert.deepEqual(offered.map(({ text }) => text), ['Due when its file is opened']);
    assert.equal(await offered[0]?.act(), 'No reminder any more');
    const before = { id: 'a', type: 'episodic', dueAt: null, trigger: null };
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.update, argument: before });
  });

  it('be reminded of it on a day that is typed', async () => {
    const { undo, offered } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a')),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.update]: () => done,
    });
    new Memories(server, undo).search();
    await settle();
    list().press(0, 'Remind me of it');
    opened.asked[0]?.answer(opened.asked[0].items.find(({ label }) => label.startsWith('On a day')));
    await settle();
    const [text] = opened.texts;
    assert.equal(text?.options.validateInput('2999-02-30'), 'A day to come, written as 2027-01-31');
    assert.equal(text.options.validateInput('2999-12-24'), undefined);
    text.answer('2999-12-24');
    await settle();
    assert.equal(calls.at(-1)?.argument['dueAt'], new Date(2999, 11, 24, 9).toISOString());
    assert.deepEqual(offered.map(({ text: said }) => said), ['Due 2999-12-24']);
  });

  it('not be reminded after all', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.list]: listOf(memory('a')), [SERVER_COMMANDS.get]: get });
    new Memories(server, undoOf().undo).search();
    await settle();
    list().press(0, 'Remind me of it');
    opened.asked[0]?.answer(opened.asked[0].items.find(({ label }) => label.startsWith('On a day')));
    await settle();
    opened.texts[0]?.answer(undefined);
    await settle();
    assert.deepEqual(calls.filter(({ command }) => command === SERVER_COMMANDS.update), []);
  });

  it('attach a lost one to the code at the cursor', async () => {
    const { undo, said } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a', { verdict: 'lost' })),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.reanchor]: () => done,
    });
    new Memories(server, undo).search();
    await settle();
    list().press(0, 'Attach to the code at the cursor');
    await settle();
    assert.deepEqual(calls.at(-1), {
      command: SERVER_COMMANDS.reanchor,
      argument: { id: 'a', uri: 'file:///code/shop/billing.py', position: { line: 6, character: 4 } },
    });
    assert.deepEqual(said, ['Attached here']);
  });
});

describe('memories that are due', () => {
  it('are listed, and put off', async () => {
    const { undo, said } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.due]: () => ({ due: [{ memory: memory('a'), why: 'its time has come' }] }),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.snooze]: () => ({ memory: memory('a') }),
    });
    await new Memories(server, undo).due();
    await settle();
    assert.match(list().items[0]?.detail ?? '', / · its time has come$/u);
    const tooltips = list().items[0]?.buttons.map(({ tooltip }) => tooltip);
    assert.deepEqual(tooltips, ['Done', 'Snooze until tomorrow', 'Not now']);
    list().press(0, 'Snooze until tomorrow');
    await settle();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.snooze, argument: { id: 'a' } });
    assert.deepEqual(said, ['Due again tomorrow']);
  });

  it('may be none', async () => {
    const { undo, said } = undoOf();
    await new Memories(serverOf({ [SERVER_COMMANDS.due]: () => ({ due: [] }) }).server, undo).due();
    assert.deepEqual([said, opened.lists], [['No memory is due'], []]);
  });
});

describe('memories that contradict each other', () => {
  it('are listed side by side, each once', async () => {
    const edges = [
      { sourceId: 'a', targetId: 'b' },
      { sourceId: 'c', targetId: 'a' },
    ];
    const { server } = serverOf({ [SERVER_COMMANDS.conflicts]: () => ({ edges }), [SERVER_COMMANDS.get]: get });
    await new Memories(server, undoOf().undo).conflicts();
    await settle();
    assert.equal(list().title, 'Memories that contradict each other');
    assert.deepEqual(list().items.map(({ label }) => label), ['title a', 'title b', 'title c']);
  });

  it('may be none', async () => {
    const { undo, said } = undoOf();
    await new Memories(serverOf({ [SERVER_COMMANDS.conflicts]: () => ({ edges: [] }) }).server, undo).conflicts();
    assert.deepEqual([said, opened.lists], [['No memories contradict each other'], []]);
  });
});

describe('the context for an agent', () => {
  it('is copied, which counts as a use', async () => {
    const { undo, said } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.context]: () => ({ markdown: '# charge()', memories: ['a'], tokensUsed: 120 }),
    });
    const memories = new Memories(server, undo);
    await memories.copyContext();
    assert.deepEqual(opened.clipboard, ['# charge()']);
    const argument = { uri: 'file:///code/shop/billing.py', position: { line: 6, character: 4 }, record: true };
    assert.deepEqual(calls, [{ command: SERVER_COMMANDS.context, argument }]);
    clean();
    await memories.copyContext();
    assert.deepEqual(said, ['Copied for an agent: 1 memory, 120 tokens', 'No file is open here']);
  });
});

describe('removing a memory for good', () => {
  const answers = (pending: string[]): Record<string, Answer> => ({
    [SERVER_COMMANDS.list]: listOf(memory('a', { status: 'forgotten' })),
    [SERVER_COMMANDS.get]: get,
    [SERVER_COMMANDS.purge]: () => ({ removed: ['x.jsonl'], pending }),
  });

  it('asks first, in words that say what happens', async () => {
    const { undo, said, offered } = undoOf();
    const { server, calls } = serverOf(answers([]));
    new Memories(server, undo).purge();
    await settle();
    assert.equal(calls[0]?.argument['includeForgotten'], true);
    assert.match(list().items[0]?.detail ?? '', /^forgotten · /u);
    list().enter();
    await settle();
    const [question] = opened.questions;
    assert.deepEqual([question?.message, question?.modal], ['Remove “title a” for good?', true]);
    assert.ok(calls.every(({ command }) => command !== SERVER_COMMANDS.purge));
    question?.answer('Remove for Good');
    await settle();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.purge, argument: { id: 'a' } });
    assert.deepEqual([said, offered], [['Removed for good'], []]);
  });

  it('removes nothing where the question is dismissed', async () => {
    const { undo, said } = undoOf();
    const { server, calls } = serverOf(answers([]));
    new Memories(server, undo).purge();
    await settle();
    list().enter();
    await settle();
    opened.questions[0]?.answer(undefined);
    await settle();
    assert.ok(calls.every(({ command }) => command !== SERVER_COMMANDS.purge));
    assert.deepEqual(said, []);
  });

  it('says where its text is still to be removed', async () => {
    const { undo, said } = undoOf();
    new Memories(serverOf(answers(['y.jsonl'])).server, undo).purge();
    await settle();
    list().enter();
    await settle();
    opened.questions[0]?.answer('Remove for Good');
    await settle();
    assert.match(said[0] ?? '', /another window still holds its text/u);
  });
});

describe('memories at the cursor', () => {
  it('are filtered by the list itself, and picked to be forgotten', async () => {
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.list]: listOf(memory('a'), memory('b')),
      [SERVER_COMMANDS.get]: get,
      [SERVER_COMMANDS.forget]: () => ({ memory: memory('a') }),
    });
    await new Memories(server, undoOf().undo).forgetHere();
    await settle();
    assert.deepEqual(calls[0]?.argument, { uri: 'file:///code/shop/billing.py', position: { line: 6, character: 4 } });
    assert.ok(list().items.every((item) => !item.alwaysShow));
    list().enter();
    await settle();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.forget, argument: { id: 'a' } });
  });

  it('need a file, and may be none', async () => {
    const { undo, said } = undoOf();
    const { server } = serverOf({ [SERVER_COMMANDS.list]: listOf() });
    await new Memories(server, undo).showHere();
    clean();
    await new Memories(server, undo).showHere();
    assert.deepEqual(said, ['No memories here', 'No file is open here']);
    assert.deepEqual(opened.lists, []);
  });
});

describe('a click', () => {
  const quiet = (): void => undefined;

  it('on a lens of several memories lets the user pick one of them', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.get]: get, [SERVER_COMMANDS.open]: () => ({ uris: [] }) });
    const { undo } = undoOf();
    const clicks = new Clicks(server, new Memories(server, undo), undo, quiet);
    await clicks.run(SERVER_COMMANDS.open, { ids: ['a', 'b'], root: '/two' });
    await settle();
    assert.deepEqual(list().items.map(({ label }) => label), ['title a', 'title b']);
    list().enter();
    await settle();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.open, argument: { id: 'a', root: '/two' } });
  });

  it('on a lens of one memory opens it', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.open]: () => ({ uris: [] }) });
    const { undo } = undoOf();
    await new Clicks(server, new Memories(server, undo), undo, quiet).run(SERVER_COMMANDS.open, { ids: ['a'] });
    assert.deepEqual(calls, [{ command: SERVER_COMMANDS.open, argument: { ids: ['a'] } }]);
    assert.deepEqual(opened.lists, []);
  });

  it('on Forget offers to undo, in the same store', async () => {
    const answer: Answer = () => ({ memory: memory('a') });
    const { server, calls } = serverOf({ [SERVER_COMMANDS.forget]: answer, [SERVER_COMMANDS.restore]: answer });
    const { undo, offered } = undoOf();
    let changes = 0;
    const clicks = new Clicks(server, new Memories(server, undo), undo, () => (changes += 1));
    await clicks.run(SERVER_COMMANDS.forget, { id: 'a', root: '/two' });
    await offered[0]?.act();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.restore, argument: { id: 'a', root: '/two' } });
    assert.equal(changes, 1);
  });

  it('on an offer links the memory, which can be undone, or never offers it again', async () => {
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.link]: () => ({ links: [], edges: [] }),
      [SERVER_COMMANDS.unlink]: () => ({ links: [], edges: [] }),
      [SERVER_COMMANDS.refuse]: () => ({ refused: true }),
    });
    const { undo, said, offered } = undoOf();
    const clicks = new Clicks(server, new Memories(server, undo), undo, quiet);
    const there = { id: 'a', uri: 'file:///code/a.py', position: { line: 1, character: 0 } };
    await clicks.run(SERVER_COMMANDS.link, there);
    assert.equal(offered[0]?.text, 'Linked here');
    await offered[0].act();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.unlink, argument: there });
    await clicks.run(SERVER_COMMANDS.unlink, there);
    assert.equal(offered[1]?.text, 'Not linked here any more');
    await offered[1].act();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.link, argument: there });
    await clicks.run(SERVER_COMMANDS.refuse, there);
    assert.deepEqual(said, ['Not offered here again']);
  });

  it('that fails is told in one message', async () => {
    const { server } = serverOf({
      [SERVER_COMMANDS.confirm]: () => {
        throw new Error('id: no memory has the id a');
      },
    });
    const { undo, said } = undoOf();
    await new Clicks(server, new Memories(server, undo), undo, quiet).run(SERVER_COMMANDS.confirm, { id: 'a' });
    assert.deepEqual(opened.errors, ['Mnemolens: id: no memory has the id a']);
    assert.deepEqual(said, []);
  });
});

describe('opening by id', () => {
  it('takes an id, alone or with its root', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.open]: () => ({ uris: [] }) });
    const memories = new Memories(server, undoOf().undo);
    await memories.open('a');
    await memories.open({ id: 'b', root: '/two' });
    assert.deepEqual(calls.map(({ argument }) => argument), [{ id: 'a' }, { id: 'b', root: '/two' }]);
  });

  it('lets the user pick where none is given', async () => {
    const { server } = serverOf({ [SERVER_COMMANDS.list]: listOf() });
    await new Memories(server, undoOf().undo).open(undefined);
    assert.equal(list().title, 'Search memories');
  });
});
