// Writes ../dist/mnemolens-<version>.vsix: bundles, and takes the wheels of ../dist and the licences along.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(here);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const dist = join('..', 'dist');

execFileSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });

rmSync('server', { recursive: true, force: true });
const wheels = existsSync(dist) ? readdirSync(dist).filter((name) => /^mnemolens-.*\.whl$/u.test(name)) : [];
for (const wheel of wheels) {
  mkdirSync('server', { recursive: true });
  copyFileSync(join(dist, wheel), join('server', wheel));
}
if (wheels.length === 0) {
  console.warn('No wheel in dist/: this .vsix needs mnemolens.server.command to be set.');
}

// The licences of what the bundle holds, found through esbuild's list of its inputs.
const { inputs } = JSON.parse(readFileSync('out/metafile.json', 'utf8'));
const packages = new Set(
  Object.keys(inputs).flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(input) ?? []),
);
const notices = [...packages].sort().map((folder) => {
  const { name, version: used, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/iu.test(entry));
  if (file === undefined) {
    throw new Error(`${name} carries no licence file`);
  }
  return `${name} ${used} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
});
writeFileSync('THIRD-PARTY-NOTICES.txt', `The bundle holds these packages.\n\n${notices.join('\n----\n\n')}`);

mkdirSync(dist, { recursive: true });
const vsce = join('node_modules', '@vscode', 'vsce', 'vsce');
const out = join(dist, `mnemolens-${version}.vsix`);
execFileSync(
  process.execPath,
  [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '--out', out],
  { stdio: 'inherit' },
);
