import assert from 'node:assert/strict';
import { beforeEach, describe, it, mock } from 'node:test';
import { Undo } from '../src/undo';
import { clean } from './editor';
import { opened, type StatusBarItem } from './vscode';

function shown(): string[] {
  return opened.statusItems.filter((item) => item.visible).map((item) => item.text);
}

function item(text: string): StatusBarItem {
  const found = opened.statusItems.find((each) => each.visible && each.text.includes(text));
  assert.ok(found !== undefined);
  return found;
}

beforeEach(clean);

describe('the status bar', () => {
  it('offers to take back, and what comes next beside it, for ten seconds', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      new Undo().offer('Remembered', async () => Promise.resolve('Taken back'), {
        text: 'May be about $(x) charge() · Link',
        tooltip: 'Link it',
        act: async () => Promise.resolve('Linked'),
      });
      mock.timers.tick(9999);
      assert.deepEqual(shown().map((text) => text.replace(/\u2060/gu, '')), [
        '$(check) Remembered · $(discard) Undo',
        '$(arrow-right) May be about $(x) charge() · Link',
      ]);
      assert.doesNotMatch(item('Link').text, /\$\(x\)/u);
      mock.timers.tick(1);
      assert.deepEqual(shown(), []);
    } finally {
      mock.timers.reset();
    }
  });

  it('does what was clicked, once, and says so', async () => {
    const undo = new Undo();
    let times = 0;
    undo.offer('Remembered', async () => Promise.resolve('Taken back'), {
      text: 'Link',
      tooltip: 'Link it',
      act: async () => Promise.resolve(`Linked ${(times += 1)}`),
    });
    const next = item('Link');
    await next.click();
    await next.click();
    assert.deepEqual(shown(), ['$(check) Linked 1']);
    undo.dispose();
  });

  it('offers nothing of what was before', async () => {
    const undo = new Undo();
    undo.offer('Remembered', async () => Promise.resolve('Taken back'), {
      text: 'Link',
      tooltip: 'Link it',
      act: async () => Promise.resolve('Linked'),
    });
    undo.offer('Forgot', async () => Promise.resolve('Remembered again'));
    assert.deepEqual(shown(), ['$(check) Forgot · $(discard) Undo']);
    await item('Undo').click();
    assert.deepEqual(shown(), ['$(check) Remembered again']);
    undo.dispose();
  });

  it('is taken back by the palette too, once, when the item has gone', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const undo = new Undo();
      let times = 0;
      undo.offer('Remembered', async () => Promise.resolve(`Taken back ${(times += 1)}`));
      mock.timers.tick(10_000);
      assert.deepEqual(shown(), []);
      await undo.takeBack();
      assert.deepEqual(shown(), ['$(check) Taken back 1']);
      await undo.takeBack();
      assert.deepEqual(shown(), ['$(check) Nothing to undo']);
    } finally {
      mock.timers.reset();
    }
  });

  it('does not take back what came before something that can not be undone', async () => {
    const undo = new Undo();
    undo.offer('Remembered', async () => Promise.resolve('Taken back'));
    undo.say('Still true');
    await undo.takeBack();
    assert.deepEqual(shown(), ['$(check) Nothing to undo']);
    undo.dispose();
  });

  it('tells what went wrong', async () => {
    const undo = new Undo();
    undo.offer('Forgot', async () => Promise.reject(new Error('id: no memory has the id a')));
    await item('Undo').click();
    assert.deepEqual([shown(), opened.errors], [[], ['Mnemolens: id: no memory has the id a']]);
    undo.dispose();
  });
});
