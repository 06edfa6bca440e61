// Bundles the extension into out/extension.js; with --tests, the tests into out/test/.
import { rmSync, readdirSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const common = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20', // what VS Code 1.91 brings
  external: ['vscode'],
  logLevel: 'warning',
};

if (process.argv.includes('--tests')) {
  rmSync('out/test', { recursive: true, force: true });
  const tests = readdirSync('test').filter((name) => name.endsWith('.test.ts'));
  await build({
    ...common,
    external: [],
    alias: { vscode: './test/vscode.ts' }, // the few parts of the editor that the tests drive
    entryPoints: tests.map((name) => `test/${name}`),
    outdir: 'out/test',
    outExtension: { '.js': '.cjs' },
    sourcemap: 'inline',
  });
} else {
  const { metafile } = await build({
    ...common,
    entryPoints: ['src/extension.ts'],
    outfile: 'out/extension.js',
    minify: true, // read at every start of a window
    legalComments: 'none', // THIRD-PARTY-NOTICES.txt has the licences in full
    metafile: true,
  });
  writeFileSync('out/metafile.json', JSON.stringify(metafile));
}
