import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Memory } from '../src/core/protocol';
import { onDay, reminderChoices } from '../src/core/reminders';

const NOW = new Date(2026, 11, 31, 22, 15);
const note = { type: 'semantic' } as Memory;

describe('the choices of a reminder', () => {
  it('are days in the morning, and events', () => {
    const choices = reminderChoices(note, NOW);
    assert.deepEqual(choices.map(({ label }) => label), [
      'Tomorrow',
      'In a week',
      'On a day…',
      'When its code changes',
      'When its file is opened',
    ]);
    assert.deepEqual(choices[0]?.when, { type: 'prospective', dueAt: new Date(2027, 0, 1, 9).toISOString(), trigger: null });
    assert.equal(choices[1]?.when?.dueAt, new Date(2027, 0, 7, 9).toISOString());
    assert.deepEqual(choices[3]?.when, { type: 'prospective', dueAt: null, trigger: { on: 'change' } });
  });

  it('can end a reminder', () => {
    const last = reminderChoices({ ...note, type: 'prospective' }, NOW).at(-1);
    assert.deepEqual([last?.label, last?.when], ['Not at all', { type: 'semantic', dueAt: null, trigger: null }]);
  });
});

describe('a day that is written', () => {
  it('is taken in the morning', () => {
    assert.equal(onDay(' 2027-1-2 ', NOW)?.when.dueAt, new Date(2027, 0, 2, 9).toISOString());
    assert.equal(onDay('2028-02-29', NOW)?.said, 'Due 2028-02-29');
  });

  it('must exist, and be to come', () => {
    for (const text of ['', 'tomorrow', '2027-02-29', '2027-13-01', '2026-12-31', '0000-00-00', '27-01-02', '2027-01-02x']) {
      assert.equal(onDay(text, NOW), undefined, text);
    }
  });
});
