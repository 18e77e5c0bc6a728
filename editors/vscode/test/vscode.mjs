// A real VS Code on loopback, and a browser to look at it.
//
// KAIAK_VSCODE     the folder lib/vscode of a code-server package
// KAIAK_CHROMIUM   a Chromium program
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const here = dirname(fileURLToPath(import.meta.url));
export const extension = dirname(here);
const repository = dirname(dirname(extension));

/** missing says which tool the tests lack, or ''. */
export function missing() {
  for (const name of ['KAIAK_VSCODE', 'KAIAK_CHROMIUM', 'KAIAK_BIN', 'KAIAK_WIRERECORD']) {
    if (!process.env[name]) return name;
  }
  return '';
}

const freePort = () =>
  new Promise((resolve, reject) => {
    const s = createServer().once('error', reject);
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => resolve(port));
    });
  });

/** start runs VS Code over a fresh copy of the fixtures; stop() ends everything. */
export async function start(logName) {
  const base = mkdtempSync(join(tmpdir(), 'kaiak-vscode-'));
  const workspace = join(base, 'workspace');
  cpSync(join(here, 'fixtures'), workspace, { recursive: true });
  // The extension as it is installed, with a server that records its traffic.
  const installed = join(base, 'extension');
  mkdirSync(join(installed, 'server'), { recursive: true });
  for (const name of ['package.json', 'dist', 'media']) symlinkSync(join(extension, name), join(installed, name));
  const log = join(repository, 'build', 'wire', logName);
  mkdirSync(dirname(log), { recursive: true });
  rmSync(log, { force: true });
  const wrapper = join(installed, 'server', 'kaiak');
  writeFileSync(wrapper, `#!/bin/sh\nexec "${process.env.KAIAK_WIRERECORD}" "${log}" "${process.env.KAIAK_BIN}" "$@"\n`);
  chmodSync(wrapper, 0o755);

  const data = join(base, 'data');
  const settings = {
    'files.autoSave': 'off',
    'security.workspace.trust.enabled': false,
    'workbench.startupEditor': 'none',
    'git.enabled': false,
    'editor.minimap.enabled': false,
    'workbench.tips.enabled': false,
    'extensions.ignoreRecommendations': true,
  };
  mkdirSync(join(data, 'Machine'), { recursive: true });
  writeFileSync(join(data, 'Machine', 'settings.json'), JSON.stringify(settings));
  mkdirSync(join(workspace, '.vscode'), { recursive: true });
  writeFileSync(join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings, null, 2));

  const port = await freePort();
  const server = spawn(process.execPath, [
    'out/server-main.js', '--host', '127.0.0.1', '--port', String(port), '--without-connection-token',
    '--accept-server-license-terms', '--telemetry-level', 'off', '--user-data-dir', data, '--server-data-dir', data,
    '--extensions-dir', join(data, 'extensions'), '--disable-workspace-trust', '--enable-smoke-test-driver',
  ], { cwd: process.env.KAIAK_VSCODE, stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, KAIAK_STATE_DIR: join(base, 'state') } });
  await new Promise((resolve, reject) => {
    server.once('exit', (code) => reject(new Error(`VS Code ended with ${code}`)));
    server.stdout.on('data', (d) => { if (String(d).includes('listening on')) resolve(); });
  });
  const browser = await chromium.launch({
    executablePath: process.env.KAIAK_CHROMIUM,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });

  const remote = (path) => `vscode-remote://127.0.0.1:${port}${path}`;
  return {
    workspace, log, browser, remote, installed,
    /** page opens a window on the workspace with the given payload entries. */
    async page(payload, prepare) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      await prepare?.(page);
      const all = [['extensionDevelopmentPath', remote(installed)], ...payload];
      await page.goto(`http://127.0.0.1:${port}/?folder=${workspace}&payload=${encodeURIComponent(JSON.stringify(all))}`);
      return page;
    },
    async stop() {
      await browser.close();
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await ended;
      rmSync(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
