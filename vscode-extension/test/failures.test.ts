import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainCrashes, explainFailure, Tail, type ServerEnd } from '../src/core/failures';

const base: ServerEnd = {
  command: { program: '/usr/bin/python3', args: ['-m', 'mnemolens', 'serve'] },
  managed: false,
  stderr: '',
};

describe('explainFailure', () => {
  it('says that an interpreter has no mnemolens', () => {
    for (const stderr of [
      '/usr/bin/python3: No module named mnemolens\n',
      "Traceback (most recent call last):\nModuleNotFoundError: No module named 'mnemolens'\n",
    ]) {
      const message = explainFailure({ ...base, exitCode: 1, stderr });
      assert.match(message, /This interpreter has no mnemolens: \/usr\/bin\/python3/u);
      assert.match(message, /mnemolens\.server\.command/u);
    }
  });

  it('does not take another missing module for mnemolens', () => {
    const message = explainFailure({ ...base, exitCode: 1, stderr: "ModuleNotFoundError: No module named 'pygls'" });
    assert.match(message, /exit code 1: ModuleNotFoundError: No module named 'pygls'/u);
  });

  it('says that the program is missing or can not be started', () => {
    assert.match(explainFailure({ ...base, spawnError: 'ENOENT' }), /python3 does not exist.*mnemolens\.server\.command/u);
    assert.match(explainFailure({ ...base, spawnError: 'EACCES' }), /can't be started \(EACCES\)/u);
  });

  it('says that Python is too old', () => {
    assert.match(explainFailure({ ...base, exitCode: 1, stderr: 'SyntaxError: invalid syntax' }), /too old.*3\.11/u);
  });

  it('says that a program is no language server', () => {
    const message = explainFailure({ ...base, timedOut: true, exitCode: null, stderr: '' });
    assert.match(message, /does not answer as a language server: change mnemolens\.server\.command/u);
  });

  it('offers to reinstall a managed server', () => {
    assert.match(explainFailure({ ...base, managed: true, exitCode: 1, stderr: 'boom\n' }), /: boom\. Reinstall it\.$/u);
  });
});

describe('explainCrashes', () => {
  it('tells the exit code and the last words', () => {
    const message = explainCrashes({ ...base, exitCode: 7, stderr: 'one\nFatal: two\n\n' });
    assert.match(message, /keeps ending with exit code 7: Fatal: two\./u);
  });

  it('takes no line of the log for its last words', () => {
    const stderr = '2026-12-01 05:32:22,501 INFO mnemolens.lsp.indexing: 8 files read\n';
    const message = explainCrashes({ ...base, exitCode: null, stderr });
    assert.equal(message, 'The language server keeps ending. The log may say why.');
    assert.match(explainCrashes({ ...base, stderr: `Fatal: two\n${stderr}` }), /: Fatal: two\./u);
  });
});

describe('Tail', () => {
  it('keeps the end', () => {
    const tail = new Tail(4);
    tail.add('abc');
    tail.add('def');
    assert.equal(tail.toString(), 'cdef');
  });
});
