import assert from 'node:assert/strict';
import { beforeEach, describe, it, mock } from 'node:test';
import { Capture } from '../src/capture';
import { SERVER_COMMANDS, type Link, type Memory } from '../src/core/protocol';
import { clean, cursorAt, serverOf, settle, undoOf, type Answer } from './editor';
import { opened, Uri, workspace, type InputBox } from './vscode';

const charge: Link = {
  target: { kind: 'function', file: 'shop/billing.py', qualname: 'charge', ordinal: 0, id: 'shop/billing.py::charge' },
  relevance: 1,
  context: 'captured_here',
};

function stored(content: string): Memory {
  return {
    id: 'M1',
    type: 'semantic',
    title: content,
    content,
    status: 'active',
    verdict: 'fresh',
    createdAt: '2026-11-30T10:00:00Z',
  };
}

function refusal(kind: string): Error {
  const secrets = [{ field: 'content', kind, start: 4, end: 24 }];
  return Object.assign(new Error('content: refused'), { data: { field: 'content', reason: 'secret', secrets } });
}

const preview: Answer = () => ({ links: [charge], warnings: [] });
const capture: Answer = ({ content }) => ({ memory: stored(String(content)), links: [charge], warnings: [] });

function box(): InputBox {
  const last = opened.inputs.at(-1);
  assert.ok(last !== undefined);
  return last;
}

beforeEach(() => {
  clean();
  cursorAt('/code/shop/billing.py', 6);
});

describe('the capture input', () => {
  it('shows the target before anything is typed', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.preview]: preview });
    new Capture(server, undoOf().undo).open();
    await settle();
    assert.equal(box().prompt, 'on charge() in billing.py');
    const { uri, position } = calls[0]?.argument ?? {};
    assert.deepEqual([uri, position], ['file:///code/shop/billing.py', { line: 6, character: 4 }]);
  });

  it('asks for a preview once the typing pauses', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const { server, calls } = serverOf({ [SERVER_COMMANDS.preview]: preview });
      new Capture(server, undoOf().undo).open();
      for (const text of ['R', 'Re', 'Retry']) {
        box().type(text);
      }
      mock.timers.tick(1000);
      assert.deepEqual(calls.slice(1).map(({ argument }) => argument['content']), ['Retry']);
    } finally {
      mock.timers.reset();
    }
  });

  it('saves by Enter, and offers to undo in the status bar', async () => {
    const { undo, offered } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.preview]: preview,
      [SERVER_COMMANDS.capture]: capture,
      [SERVER_COMMANDS.forget]: () => ({}),
    });
    new Capture(server, undo).open();
    box().type('Retry must stay idempotent');
    box().enter();
    await settle();
    assert.equal(box().visible, false);
    assert.deepEqual(offered.map(({ text }) => text), ['Remembered on charge()']);
    await offered[0]?.act();
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.forget, argument: { id: 'M1' } });
    assert.deepEqual(opened.errors, []);
  });

  it('saves once, however often Enter is pressed', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.preview]: preview, [SERVER_COMMANDS.capture]: capture });
    new Capture(server, undoOf().undo).open();
    box().type('once');
    box().enter();
    box().enter();
    await settle();
    assert.equal(calls.filter(({ command }) => command === SERVER_COMMANDS.capture).length, 1);
  });

  it('keeps the text of a dismissed input for the next one, selected', async () => {
    const { server } = serverOf({ [SERVER_COMMANDS.preview]: preview, [SERVER_COMMANDS.capture]: capture });
    const captures = new Capture(server, undoOf().undo);
    captures.open();
    box().type('half a thought');
    box().hide();
    captures.open();
    assert.equal(box().value, 'half a thought');
    assert.deepEqual(box().valueSelection, [0, 14]);
    box().enter();
    await settle();
    captures.open();
    assert.equal(box().value, '');
  });

  it('keeps an error in the box, with the text', async () => {
    const { undo, offered } = undoOf();
    const { server } = serverOf({
      [SERVER_COMMANDS.preview]: preview,
      [SERVER_COMMANDS.capture]: () => {
        throw new Error('content: holds an [AWS](command:x) key');
      },
    });
    new Capture(server, undo).open();
    box().type('key AKIA…');
    box().enter();
    await settle();
    assert.equal(box().visible, true);
    assert.equal(box().enabled, true);
    assert.equal(box().value, 'key AKIA…');
    assert.match(box().validationMessage ?? '', /^content: holds an \[AWS\]/u);
    assert.doesNotMatch(box().validationMessage ?? '', /\]\(/u);
    assert.deepEqual([offered, opened.errors], [[], []]);
    box().type('key');
    assert.equal(box().validationMessage, undefined);
  });

  it('offers to store a text that was refused for a secret', async () => {
    const { undo, offered } = undoOf();
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.preview]: preview,
      [SERVER_COMMANDS.capture]: (argument) => {
        if (argument['allowSecret'] !== true) {
          throw refusal('AWS key');
        }
        return capture(argument);
      },
    });
    new Capture(server, undo).open();
    box().type('key AKIA…');
    assert.deepEqual(box().buttons, []);
    box().enter();
    await settle();
    assert.match(box().validationMessage ?? '', /AWS key \(characters 5 to 24\)/u);
    assert.match(box().validationMessage ?? '', /Store anyway/u);
    box().click('Store anyway');
    await settle();
    const { content, allowSecret } = calls.at(-1)?.argument ?? {};
    assert.deepEqual([content, allowSecret], ['key AKIA…', true]);
    assert.equal(offered.length, 1);
    assert.equal(box().visible, false);
  });

  it('takes the offer to store a secret back when the text changes', async () => {
    const { server } = serverOf({
      [SERVER_COMMANDS.preview]: preview,
      [SERVER_COMMANDS.capture]: () => {
        throw refusal('token');
      },
    });
    new Capture(server, undoOf().undo).open();
    box().type('token');
    box().enter();
    await settle();
    assert.equal(box().buttons.length, 1);
    box().type('no more');
    assert.deepEqual(box().buttons, []);
  });

  it('does not store blank text', async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.preview]: preview });
    new Capture(server, undoOf().undo).open();
    box().type('   ');
    box().enter();
    await settle();
    assert.equal(box().visible, true);
    assert.ok(box().validationMessage !== undefined);
    assert.ok(calls.every(({ command }) => command === SERVER_COMMANDS.preview));
  });

  it('offers no undo for a duplicate: it would forget the earlier memory', async () => {
    const { undo, said, offered } = undoOf();
    const { server } = serverOf({
      [SERVER_COMMANDS.preview]: preview,
      [SERVER_COMMANDS.capture]: () => ({ memory: stored('same'), links: [charge], duplicateOf: 'M1', warnings: [] }),
    });
    new Capture(server, undo).open();
    box().type('same');
    box().enter();
    await settle();
    assert.deepEqual(offered, []);
    assert.deepEqual(said, ['Already remembered: same']);
  });

  it('says that an earlier memory is much like it, and opens that one', async () => {
    const { undo, offered } = undoOf();
    const similar = [{ id: 'M0', title: 'Retries must be idempotent' }];
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.preview]: () => ({ links: [charge], warnings: [], similar }),
      [SERVER_COMMANDS.capture]: (argument) => ({ ...(capture(argument) as object), similar }),
      [SERVER_COMMANDS.open]: () => ({ uris: [] }),
    });
    new Capture(server, undo).open();
    box().type('Retry must be idempotent');
    box().enter();
    await settle();
    assert.equal(offered[0]?.next?.text, 'Almost the same as “Retries must be idempotent” · Open the earlier one');
    assert.equal(await offered[0].next.act(), undefined);
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.open, argument: { id: 'M0' } });
  });

  it('offers to link code that it may be about, found from the file it was written in', async () => {
    const { undo, offered } = undoOf();
    workspace.workspaceFolders = [{ uri: Uri.parse('file:///code/shop') }]; // the work tree's top is above
    const start = { line: 46, character: 4 };
    const target = { ...charge.target, file: 'web/pay.ts', qualname: 'refund', range: { start, end: start } };
    const { server, calls } = serverOf({
      [SERVER_COMMANDS.preview]: preview,
      [SERVER_COMMANDS.capture]: (argument) => ({ ...(capture(argument) as object), suggestion: { target } }),
      [SERVER_COMMANDS.link]: () => ({ links: [], edges: [] }),
    });
    const captures = new Capture(server, undo);
    captures.open();
    box().type('Money goes back by the same card');
    box().enter();
    await settle();
    assert.equal(offered[0]?.next?.text, 'May be about refund() in pay.ts · Link');
    assert.equal(await offered[0].next.act(), 'Linked to refund()');
    const argument = { id: 'M1', uri: 'file:///code/web/pay.ts', position: start };
    assert.deepEqual(calls.at(-1), { command: SERVER_COMMANDS.link, argument });
    clean();
    workspace.workspaceFolders = [{ uri: Uri.parse('file:///code') }]; // no file is open
    captures.open();
    box().type('Money goes back by the same card');
    box().enter();
    await settle();
    await offered[1]?.next?.act();
    assert.equal(calls.at(-1)?.argument['uri'], 'file:///code/web/pay.ts');
  });

  it("takes a code action's target, and no menu's file for one", async () => {
    const { server, calls } = serverOf({ [SERVER_COMMANDS.preview]: preview });
    const captures = new Capture(server, undoOf().undo);
    captures.open({ uri: 'file:///code/other.py', position: { line: 1, character: 0 } });
    captures.open(Uri.parse('file:///code/menu.py'));
    await settle();
    assert.deepEqual(calls.map(({ argument }) => argument['uri']), ['file:///code/other.py', 'file:///code/shop/billing.py']);
  });

  it('names the folder where several are open and no file is', async () => {
    clean();
    workspace.workspaceFolders = [{ uri: Uri.parse('file:///one') }, { uri: Uri.parse('file:///two') }];
    const { server, calls } = serverOf({ [SERVER_COMMANDS.preview]: () => ({ links: [], warnings: [] }) });
    new Capture(server, undoOf().undo).open();
    await settle();
    assert.equal(calls[0]?.argument['root'], '/one');
    assert.equal(box().prompt, 'on no code in particular');
  });
});
