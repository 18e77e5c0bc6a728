// Bundles the extension into dist/extension.js, and the tests that run inside
// the extension host into dist/test.
import { build } from 'esbuild';

const production = process.argv.includes('--production');
const common = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
  sourcemap: !production,
  minify: production,
  logLevel: 'warning',
};
await build({ ...common, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js' });
if (!production) {
  await build({ ...common, entryPoints: ['src/test/first.ts', 'src/test/second.ts'], outdir: 'dist/test' });
}
