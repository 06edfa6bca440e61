// Writes the settings of a workbench's own profile. Usage: profile.mjs USER_DATA_DIR PYTHON [--test]
// PYTHON is the interpreter whose mnemolens serves; --test adds what keeps a driven workbench from moving by itself.
// Settings that are there stay: a user of `make run` may have changed them.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [dataDir, python, mode] = process.argv.slice(2);

const quiet = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.settings.enableNaturalLanguageSearch': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'remote.autoForwardPorts': false,  // else any port that opens on this machine pops up a notification
};
const still = {
  'window.menuBarVisibility': 'compact',
  'workbench.editor.useModal': 'off',
  'files.autoSave': 'off',
  'files.hotExit': 'off',
  'git.enabled': false,
  'git.openRepositoryInParentFolders': 'never',
  'editor.accessibilitySupport': 'off',
  'editor.autoIndent': 'none',
  'editor.hover.delay': 100,
};
// The interpreter is a machine setting: a remote workbench reads it from Machine/, a desktop one from User/.
const machine = { 'mnemolens.server.command': [python, '-m', 'mnemolens', 'serve'] };

const write = (folder, settings) => {
  const file = join(dataDir, folder, 'settings.json');
  if (existsSync(file)) return;
  mkdirSync(join(dataDir, folder), { recursive: true });
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`);
};
write('User', mode === '--test' ? { ...quiet, ...still } : { ...quiet, ...machine });
write('Machine', machine);
