import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import manifest from '../package.json';
import { HOVER_COMMANDS, SERVER_COMMANDS } from '../src/core/protocol';

const { contributes } = manifest;
const contributed = contributes.commands.map((command) => command.command);

describe('the manifest', () => {
  it("contributes the palette's commands and none of the server's", () => {
    assert.deepEqual(contributed.sort(), [
      'mnemolens.capture',
      'mnemolens.contradictions',
      'mnemolens.copyContext',
      'mnemolens.due',
      'mnemolens.forgetHere',
      'mnemolens.openMemory',
      'mnemolens.purge',
      'mnemolens.restartServer',
      'mnemolens.search',
      'mnemolens.showHere',
      'mnemolens.showLogs',
      'mnemolens.undo',
    ]);
    const server: string[] = Object.values(SERVER_COMMANDS);
    assert.deepEqual(contributed.filter((id) => server.includes(id)), []);
  });

  it('is described in the README, command by command', () => {
    const readme = readFileSync('README.md', 'utf8');
    const missing = contributes.commands.filter(({ category, title }) => !readme.includes(`| **${category}: ${title}** |`));
    assert.deepEqual(missing, []);
    const [binding] = contributes.keybindings;
    assert.deepEqual([binding?.key, binding?.mac], ['shift+alt+m', 'ctrl+alt+m']);
    assert.match(readme, /`Shift\+Alt\+M` \(`Ctrl\+Alt\+M` on a Mac\)/u);
  });

  it('names only contributed commands in menus and keys', () => {
    const used = [
      ...contributes.keybindings.map((binding) => binding.command),
      ...Object.values(contributes.menus).flatMap((items) => items.map((item) => item.command)),
    ];
    assert.deepEqual(used.filter((id) => !contributed.includes(id)), []);
  });

  it('runs limited in an untrusted workspace and says why it can not run in a virtual one', () => {
    const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
    assert.equal(untrustedWorkspaces.supported, 'limited');
    assert.deepEqual(untrustedWorkspaces.restrictedConfigurations, ['mnemolens.server.command', 'mnemolens.store.path']);
    assert.equal(virtualWorkspaces.supported, false);
    assert.notEqual(virtualWorkspaces.description, '');
    assert.deepEqual(manifest.extensionKind, ['workspace']);
  });

  it('describes each setting and says whose it is', () => {
    const settings = contributes.configuration.flatMap((group) => Object.entries(group.properties));
    assert.ok(settings.length > 0);
    const machine: string[] = [];
    for (const [key, schema] of settings as [string, { scope: string; markdownDescription: string }][]) {
      assert.match(key, /^mnemolens\./u);
      assert.notEqual(schema.markdownDescription, '', key);
      if (schema.scope === 'machine-overridable') {
        machine.push(key);
      } else if (key.startsWith('mnemolens.search.')) {
        assert.equal(schema.scope, 'machine', key); // no folder may choose where texts are sent
      } else {
        assert.equal(schema.scope, 'resource', key);
      }
    }
    assert.deepEqual(machine.sort(), ['mnemolens.server.command', 'mnemolens.store.path', 'mnemolens.trace.server']);
  });

  it('lets no hover link run a command that stores or exports', () => {
    assert.deepEqual(HOVER_COMMANDS.filter((id) => /capture|purge|export|import|update|rebuild/u.test(id)), []);
  });
});
