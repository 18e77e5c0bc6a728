// Packs the extension with the server inside, for the platform it is run on:
//
//	KAIAK_BIN=… [KAIAK_VSCE=…] node package.mjs [OUT.vsix]
//
// KAIAK_VSCE is the vsce program; without it npx fetches the pinned one.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, 'dist', 'kaiak.vsix'));
const binary = process.env.KAIAK_BIN;
if (!binary) throw new Error('KAIAK_BIN names no server to pack');

function run(program, ...args) {
  const { status, error } = spawnSync(program, args, { cwd: here, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args[0]} ended with ${status}`);
}

run(process.execPath, 'node_modules/typescript/bin/tsc', '--noEmit');
run(process.execPath, 'esbuild.mjs', '--production');
const server = join(here, 'server');
const program = join(server, process.platform === 'win32' ? 'kaiak.exe' : 'kaiak');
rmSync(server, { recursive: true, force: true });
mkdirSync(server);
mkdirSync(dirname(out), { recursive: true });
copyFileSync(binary, program);
chmodSync(program, 0o755);
const vsce = process.env.KAIAK_VSCE ? [process.execPath, process.env.KAIAK_VSCE] : ['npx', '--yes', '@vscode/vsce@3.9.2'];
run(...vsce, 'package', '--no-dependencies', '--target', `${process.platform}-${process.arch}`, '--out', out);
