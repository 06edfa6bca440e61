import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandError, parseServerCommand, splitCommandLine, type CommandContext } from '../src/core/command';

const posix: CommandContext = { folder: '/code', home: '/home/ana', windows: false };
const windows: CommandContext = { folder: 'C:\\code', home: 'C:\\Users\\ana', windows: true };

describe('splitCommandLine', () => {
  it('splits at blanks and groups by quotes', () => {
    assert.deepEqual(splitCommandLine('  python -m  mnemolens serve ', false), ['python', '-m', 'mnemolens', 'serve']);
    assert.deepEqual(splitCommandLine(`"/my python/bin" 'a "b"' c"d e"f`, false), ['/my python/bin', 'a "b"', 'cd ef']);
    assert.deepEqual(splitCommandLine(`a "" b`, false), ['a', '', 'b']);
  });

  it('takes a backslash as an escape, but as a separator of folders on Windows', () => {
    assert.deepEqual(splitCommandLine('/my\\ python "a\\"b"', false), ['/my python', 'a"b']);
    assert.deepEqual(splitCommandLine('"C:\\Program Files\\py.exe" C:\\x', true), ['C:\\Program Files\\py.exe', 'C:\\x']);
  });

  it('names a quote that is never closed', () => {
    assert.throws(() => splitCommandLine(`python 'serve`, false), /mnemolens\.server\.command.*'/u);
  });
});

describe('parseServerCommand', () => {
  it('takes emptiness as the managed server', () => {
    for (const empty of [undefined, null, [], '', '  ', [''], ['  ']]) {
      assert.equal(parseServerCommand(empty, posix), undefined);
    }
  });

  it('takes a list as it stands, and splits a string', () => {
    const expected = { program: '/py', args: ['-m', 'mnemolens', 'serve'] };
    assert.deepEqual(parseServerCommand(['/py', '-m', 'mnemolens', 'serve'], posix), expected);
    assert.deepEqual(parseServerCommand('/py -m mnemolens serve', posix), expected);
    assert.deepEqual(parseServerCommand(['/my py'], posix), { program: '/my py', args: [] });
  });

  it('replaces home and folder, and makes a relative program absolute', () => {
    assert.equal(parseServerCommand(['~/venv/bin/python'], posix)?.program, '/home/ana/venv/bin/python');
    assert.deepEqual(parseServerCommand(['${workspaceFolder}/py', '${workspaceFolder}'], posix), {
      program: '/code/py',
      args: ['/code'],
    });
    assert.equal(parseServerCommand(['.venv/bin/python'], posix)?.program, '/code/.venv/bin/python');
    assert.equal(parseServerCommand(['.venv\\python.exe'], windows)?.program, 'C:\\code\\.venv\\python.exe');
    assert.equal(parseServerCommand(['python3'], posix)?.program, 'python3');
  });

  it('refuses what it can not use, naming the setting', () => {
    for (const wrong of [5, {}, [1], ['a', null], ['', 'serve'], true]) {
      assert.throws(() => parseServerCommand(wrong, posix), (error: unknown) => {
        assert.ok(error instanceof CommandError);
        assert.match(error.message, /mnemolens\.server\.command/u);
        return true;
      });
    }
    const nowhere = { ...posix, folder: undefined };
    assert.throws(() => parseServerCommand(['${workspaceFolder}/py'], nowhere), /open folder/u);
    assert.throws(() => parseServerCommand(['bin/py'], nowhere), /no folder is open/u);
  });
});
