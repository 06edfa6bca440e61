import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainSearch, findPython, isAtLeast, parseVersion, pythonCandidates, type Run } from '../src/core/python';

/** A machine on which only the programs named here exist, each printing its answer. */
function machine(answers: Record<string, string>): Run {
  return async (program, args) => {
    const key = [program, ...args.filter((arg) => /^-\d/u.test(arg))].join(' ');
    const answer = answers[key];
    const result =
      answer === undefined
        ? { code: null, stdout: '', stderr: `spawn ${program} ENOENT` }
        : { code: 0, stdout: answer, stderr: '' };
    return Promise.resolve(result);
  };
}

describe('parseVersion', () => {
  it('reads versions as Python prints them', () => {
    assert.deepEqual(parseVersion('3.11\n'), { major: 3, minor: 11 });
    assert.deepEqual(parseVersion('Python 3.13.0rc2\r\n'), { major: 3, minor: 13 });
    assert.deepEqual(parseVersion('Python 3.12.4+'), { major: 3, minor: 12 });
  });

  it('takes nothing else for a version', () => {
    for (const text of ['', 'Python', '3', 'no 3.11 here', 'Python was not found; run without arguments to install']) {
      assert.equal(parseVersion(text), undefined);
    }
  });

  it('compares by number, not by text', () => {
    assert.equal(isAtLeast({ major: 3, minor: 9 }, { major: 3, minor: 11 }), false);
    assert.equal(isAtLeast({ major: 3, minor: 11 }, { major: 3, minor: 11 }), true);
    assert.equal(isAtLeast({ major: 4, minor: 0 }, { major: 3, minor: 11 }), true);
    assert.equal(isAtLeast({ major: 2, minor: 99 }, { major: 3, minor: 11 }), false);
  });
});

describe('findPython', () => {
  it('takes the first that is new enough', async () => {
    const found = await findPython(machine({ python3: '3.9', 'python3.12': '3.12' }), false);
    assert.equal(found.kind, 'found');
    assert.equal(found.interpreter.program, 'python3.12');
  });

  it('takes one that is newer than all packages only where no other fits', async () => {
    const both = await findPython(machine({ python3: '3.15', 'python3.13': '3.13' }), false);
    assert.equal(both.kind, 'found');
    assert.equal(both.interpreter.program, 'python3.13');
    const alone = await findPython(machine({ python3: '3.9', python: '3.15' }), false);
    assert.equal(alone.kind, 'found');
    assert.equal(alone.interpreter.program, 'python');
  });

  it('asks the launcher on Windows', async () => {
    const found = await findPython(machine({ 'py -3.11': '3.11' }), true);
    assert.equal(found.kind, 'found');
    assert.deepEqual([found.interpreter.program, ...found.interpreter.args], ['py', '-3.11']);
  });

  it('names the newest that is too old', async () => {
    const found = await findPython(machine({ python3: '3.8', python: '3.10' }), false);
    assert.equal(found.kind, 'tooOld');
    assert.equal(found.newest.program, 'python');
    assert.match(explainSearch(found), /Python 3\.11 or newer is needed; python is 3\.10\./u);
  });

  it('says that there is none, and what to do', async () => {
    const found = await findPython(machine({}), false);
    assert.equal(found.kind, 'missing');
    assert.match(explainSearch(found), /no Python was found\. Install Python 3\.11 or newer .*mnemolens\.server\.command/u);
  });

  it('does not take a program that answers with a sentence', async () => {
    const found = await findPython(machine({ python: 'Python was not found; run without arguments' }), true);
    assert.equal(found.kind, 'missing');
  });

  it('tries each name once', () => {
    for (const windows of [true, false]) {
      const names = pythonCandidates(windows).map(({ program, args }) => [program, ...args].join(' '));
      assert.equal(new Set(names).size, names.length);
    }
  });
});
