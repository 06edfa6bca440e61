import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Drafts } from '../src/core/drafts';
import { RestartBudget } from '../src/core/restarts';
import { chosen, explicitSettings, subtree } from '../src/core/settings';

describe('Drafts', () => {
  it('keeps what was typed until it is saved or cleared', () => {
    const drafts = new Drafts();
    assert.equal(drafts.current, '');
    drafts.keep(' half a thought');
    assert.equal(drafts.current, ' half a thought');
    drafts.keep('   ');
    assert.equal(drafts.current, '');
    drafts.keep('again');
    drafts.clear();
    assert.equal(drafts.current, '');
  });
});

describe('RestartBudget', () => {
  it('allows three restarts in three minutes', () => {
    const budget = new RestartBudget();
    assert.deepEqual([0, 1000, 2000, 3000].map((now) => budget.allow(now)), [true, true, true, false]);
    assert.equal(budget.allow(179_999), false);
    assert.equal(budget.allow(180_000), true);
    assert.equal(budget.allow(180_001), false);
  });

  it('starts afresh when the user restarts', () => {
    const budget = new RestartBudget(1);
    assert.equal(budget.allow(0), true);
    budget.reset();
    assert.equal(budget.allow(1), true);
    assert.equal(budget.allow(2), false);
  });
});

describe('settings that are sent', () => {
  it('are only those the user has set, the narrowest scope first', () => {
    assert.equal(chosen(undefined), undefined);
    assert.equal(chosen({ globalValue: 1 }), 1);
    assert.equal(chosen({ globalValue: 1, workspaceValue: 2 }), 2);
    assert.equal(chosen({ globalValue: 1, workspaceValue: 2, workspaceFolderValue: 0 }), 0);
  });

  it('form a tree without defaults', () => {
    const values: Record<string, object> = {
      'mnemolens.hover.enabled': { defaultValue: true, globalValue: false },
      'mnemolens.hover.maxItems': { defaultValue: 3, workspaceValue: 5 },
      'mnemolens.lens.enabled': { defaultValue: true },
      'mnemolens.store.path': { globalValue: '' },
      'mnemolens.memory.decay.half_life': { workspaceValue: null },
    };
    const tree = explicitSettings(Object.keys(values), (key) => values[key]);
    assert.deepEqual(tree, { mnemolens: { hover: { enabled: false, maxItems: 5 } } });
    assert.deepEqual(subtree(tree, 'mnemolens.hover'), { enabled: false, maxItems: 5 });
    assert.equal(subtree(tree, 'mnemolens.hover.enabled'), false);
    assert.equal(subtree(tree, 'mnemolens.lens'), null);
    assert.equal(subtree(tree, 'mnemolens.toString'), null);
  });
});
