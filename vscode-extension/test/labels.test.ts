import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  capturePrompt,
  indexingTotals,
  memoryDetail,
  memoryPlace,
  memoryTitle,
  placeInFile,
  placeLabel,
  plain,
  statusText,
  statusTooltip,
  verdictLabel,
} from '../src/core/labels';
import type { FolderStatus, Link, Memory, Place } from '../src/core/protocol';

function place(kind: string, file: string, qualname: string): Place {
  return { kind, file, qualname, ordinal: 0, id: qualname === '' ? file : `${file}::${qualname}`, range: null };
}

const charge = place('function', 'src/billing.py', 'charge');
const retry = place('function', 'src/retry.py', 'retry');
const billing = place('file', 'src/billing.py', '');

function link(target: Place, context: string, candidate = false): Link {
  return { target, context, candidate, relevance: candidate ? 0.3 : 0.8 };
}

function memory(fields: Partial<Memory>): Memory {
  return {
    id: '1',
    type: 'semantic',
    title: '',
    content: '',
    status: 'active',
    verdict: 'fresh',
    createdAt: '2026-11-30T10:00:00Z',
    ...fields,
  };
}

describe('plain', () => {
  it('makes one line', () => {
    assert.equal(plain('  a\r\n\tb\u2028c '), 'a b c');
  });

  it('shortens to the limit, never inside an emoji', () => {
    assert.equal(plain('abcdef', 4), 'abc…');
    assert.equal(plain('😀😀😀', 2), '😀…');
    assert.equal(plain('😀😀', 2), '😀😀');
  });

  it('leaves no live command link and no icon', () => {
    assert.doesNotMatch(plain('[click](command:evil)'), /\]\(/u);
    assert.doesNotMatch(plain('$(trash) gone'), /\$\(/u);
    assert.doesNotMatch(plain('[a](\u0000command:x)'), /\]\(/u);
    assert.doesNotMatch(plain('[a]\u202e(command:x)'), /\]\(/u);
  });

  it('removes marks that reorder text', () => {
    assert.equal(plain('abc\u202edef'), 'abc def');
  });

  it('keeps what is harmless', () => {
    assert.equal(plain('f(x)[0] costs $5 — naïve 漢字'), 'f(x)[0] costs $5 — naïve 漢字');
  });
});

describe('places', () => {
  it('calls functions with parentheses, classes and files without', () => {
    assert.equal(placeLabel(charge), 'charge()');
    assert.equal(placeLabel(place('method', 'a.py', 'Payment.charge')), 'Payment.charge()');
    assert.equal(placeLabel(place('class', 'a.py', 'Payment')), 'Payment');
    assert.equal(placeLabel(billing), 'billing.py');
  });

  it('names the file once', () => {
    assert.equal(placeInFile(charge), 'charge() in billing.py');
    assert.equal(placeInFile(billing), 'billing.py');
  });
});

describe('capturePrompt', () => {
  it('shows the target and what it will link to', () => {
    const links = [
      link(charge, 'captured_here'),
      link(retry, 'content_name_match'),
      link(billing, 'content_file_match'),
    ];
    assert.equal(
      capturePrompt({ links, warnings: [] }, 'billing.py'),
      'on charge() in billing.py · also links retry(), billing.py',
    );
  });

  it('does not name the target twice, nor mere candidates', () => {
    const links = [
      link(charge, 'captured_here'),
      link(charge, 'content_name_match'),
      link(retry, 'content_name_match', true),
    ];
    assert.equal(capturePrompt({ links, warnings: [] }, undefined), 'on charge() in billing.py');
  });

  it('counts what does not fit', () => {
    const links = ['a', 'b', 'c', 'd', 'e'].map((name) => link(place('function', 'm.py', name), 'content_name_match'));
    assert.equal(capturePrompt({ links, warnings: [] }, 'm.py'), 'on m.py · also links a(), b(), c() and 2 more');
  });

  it('says a duplicate', () => {
    const links = [link(charge, 'captured_here')];
    assert.equal(
      capturePrompt({ links, duplicateOf: '1', warnings: [] }, undefined),
      'on charge() in billing.py · already remembered',
    );
    assert.equal(
      capturePrompt({ links, duplicateOf: '1', warnings: ['the same text stands on retry()'] }, undefined),
      'on charge() in billing.py · the same text stands on retry()',
    );
  });

  it('says what is much like it, and what it may be about', () => {
    const similar = [{ id: '1', title: 'Retry once' }];
    assert.equal(
      capturePrompt({ links: [], warnings: [], similar, suggestion: { target: charge } }, 'm.py'),
      'on m.py · almost the same as “Retry once” · may be about charge() in billing.py',
    );
  });

  it('says when there is no place', () => {
    assert.equal(capturePrompt({ links: [], warnings: [] }, undefined), 'on no code in particular');
  });

  it("keeps a symbol's name inert", () => {
    const hostile = place('function', 'a.ts', '[x](command:evil)');
    assert.doesNotMatch(capturePrompt({ links: [link(hostile, 'captured_here')], warnings: [] }, undefined), /\]\(/u);
  });
});

describe('memories in a list', () => {
  it('take the first line where there is no title', () => {
    assert.equal(memoryTitle(memory({ title: 'Retry', content: 'x' })), 'Retry');
    assert.equal(memoryTitle(memory({ content: '\n\nfirst line\r\nsecond' })), 'first line');
  });

  it('show verdict and place, and content only when it says more', () => {
    assert.equal(
      memoryDetail(memory({ title: 'Retry', content: 'Retry', verdict: 'drifted' }), charge),
      'the code has changed since · on charge() in src/billing.py',
    );
    assert.equal(memoryDetail(memory({ title: 'Retry', content: 'must be safe' }), billing), 'fresh · on billing.py · must be safe');
    assert.equal(memoryDetail(memory({ content: 'x', verdict: 'unanchored' }), undefined), 'on no code');
    assert.equal(memoryDetail(memory({ title: 'Retry', content: 'long' }), billing, '… is safe'), 'fresh · on billing.py · … is safe');
    assert.equal(memoryDetail(memory({ title: 'Retry twice', content: 'Retry twice: no more' }), billing), 'fresh · on billing.py · no more');
  });

  it('say where they are from, what others say of them, and when they are due', () => {
    const detail = (fields: Partial<Memory>): string => memoryDetail(memory({ content: 'x', ...fields }), undefined);
    assert.equal(detail({ fromBranch: 'hotfix' }), 'fresh · from branch hotfix');
    const relations = [
      { kind: 'supersededBy' as const, id: 'b', title: 'Retries are safe' },
      { kind: 'contradicts' as const, id: 'c', title: 'Never retry' },
    ];
    assert.equal(detail({ relations }), 'fresh · superseded by “Retries are safe” · contradicts “Never retry”');
    const reminder = { type: 'prospective', dueAt: '2026-12-24T12:00:00Z' };
    assert.equal(detail(reminder), 'fresh · due 2026-12-24');
    assert.equal(detail({ ...reminder, status: 'done' }), 'done');
    assert.equal(detail({ type: 'prospective', trigger: { on: 'change' } }), 'fresh · due when its code changes');
    assert.equal(detail({ type: 'prospective', trigger: { on: 'merge', branch: 'next' } }), 'fresh · due when next is merged');
    assert.equal(detail({ dueAt: '2026-12-24T12:00:00Z' }), 'fresh');
  });

  it('stand where they were captured, else where an anchor or a link is', () => {
    const anchors = [
      { id: 'a', at: null, verdict: 'lost' as const },
      { id: 'b', at: retry, verdict: 'fresh' as const },
    ];
    assert.equal(memoryPlace({ anchors, links: [link(charge, 'captured_here')] }), charge);
    assert.equal(memoryPlace({ anchors, links: [] }), retry);
    assert.equal(memoryPlace({ anchors: [], links: [link(charge, 'content_name_match', true)] }), undefined);
  });

  it('show a verdict that is not known yet as it came', () => {
    assert.equal(verdictLabel('toString'), 'toString');
    assert.equal(verdictLabel('lost'), 'its code is gone');
  });
});

describe('status', () => {
  const folder: FolderStatus = {
    root: '/code',
    files: 1,
    symbols: 2,
    memories: 3,
    verdicts: { fresh: 2, drifted: 1 },
    skipped: [],
    skippedTotal: 120,
    indexing: null,
  };

  it('shows how far the index is', () => {
    const busy = { ...folder, indexing: { done: 2, total: 10 } };
    assert.deepEqual(indexingTotals([busy, folder, busy]), { done: 4, total: 20 });
    assert.equal(indexingTotals([folder]), undefined);
    assert.equal(statusText({ kind: 'indexing', done: 4, total: 20 }), '$(sync~spin) Mnemolens 4/20');
  });

  it('tells the figures of each folder', () => {
    assert.equal(
      statusTooltip({ kind: 'ready' }, { version: '0.1.0', folders: [folder] }),
      'Mnemolens 0.1.0\n/code: 3 memories · 2 symbols · 1 file · 1 drifted · 120 files skipped',
    );
  });

  it('tells where reading the code was stopped', () => {
    const tooltip = statusTooltip({ kind: 'ready' }, { version: '0.1.0', folders: [{ ...folder, indexStopped: true }] });
    assert.match(tooltip, /1 drifted · reading the code was stopped · 120 files skipped$/u);
  });

  it('tells how many memories still have the links of earlier rules', () => {
    const due = (linksDue: number): string => statusTooltip({ kind: 'ready' }, { version: '0.1.0', folders: [{ ...folder, linksDue }] });
    assert.match(due(2), /1 drifted · 2 memories to be linked by the new rules · 120 files skipped$/u);
    assert.match(due(1), / · 1 memory to be linked by the new rules · /u);
    assert.doesNotMatch(due(0), /linked/u);
  });

  it('tells which files were read in part only', () => {
    const read = (partial: string[], partialTotal: number): string =>
      statusTooltip({ kind: 'ready' }, { version: '0.1.0', folders: [{ ...folder, partial, partialTotal }] });
    assert.match(read(['src/a.kt'], 1), / · 120 files skipped · 1 file read in part \(src\/a\.kt\)$/u);
    assert.match(read(['a.ts', 'b.ts', 'c.ts', 'd.ts'], 250), / · 250 files read in part \(a\.ts, b\.ts, c\.ts, …\)$/u);
    assert.match(read(['a\nb.ts'], 1), /\(a b\.ts\)$/u);
    assert.doesNotMatch(read([], 0), /in part/u);
  });

  it('says why there is no server', () => {
    assert.equal(statusTooltip({ kind: 'none', reason: 'Python is missing' }, undefined), 'Mnemolens: Python is missing');
  });
});
