// A real VS Code on loopback, and a browser to look at it.
//
// KAIAK_VSCODE     the folder lib/vscode of a code-server package
// KAIAK_CHROMIUM   a Chromium program
// KAIAK_BIN        the server, KAIAK_WIRERECORD the recorder before it,
// KAIAK_MODELSERVER the scripted endpoint
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const here = dirname(fileURLToPath(import.meta.url));
export const extension = dirname(here);
const patience = Number(process.env.KAIAK_TEST_PATIENCE ?? 30_000); // ms; only a hang comes this far
const repository = dirname(dirname(extension));

/** missing says which tool the tests lack, or ''. */
export function missing() {
  for (const name of ['KAIAK_VSCODE', 'KAIAK_CHROMIUM', 'KAIAK_BIN', 'KAIAK_WIRERECORD', 'KAIAK_MODELSERVER']) {
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

/** endpoint plays test/model.yaml; stop() ends it and tells whether it saw anything it does not know. */
async function endpoint() {
  const child = spawn(process.env.KAIAK_MODELSERVER, ['-script', join(here, 'model.yaml')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout.once('data', (d) => resolve(JSON.parse(String(d)).url));
  });
  return {
    url,
    async stop() {
      child.stdin.end();
      return await ended;
    },
  };
}

/** many fills a folder with files of a hundred incidents each. */
function many(folder, files) {
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < files; i++) {
    const lines = Array.from({ length: 100 }, (_, n) => `    @javax.inject.Named("n${n}") Object f${n};`);
    writeFileSync(join(folder, `Many${i}.java`), `package many;\n\nclass Many${i} {\n${lines.join('\n')}\n}\n`);
  }
}

/**
 * start runs VS Code over a fresh copy of the fixtures; stop() ends everything.
 * Every server process records its traffic in a file of its own in build/wire,
 * LOGNAME-PID.jsonl. options: manyFiles, how many files of a hundred incidents.
 */
export async function start(logName, options = {}) {
  const base = mkdtempSync(join(tmpdir(), 'kaiak-vscode-'));
  const workspace = join(base, 'workspace');
  const second = join(base, 'second');
  cpSync(join(here, 'fixtures'), workspace, { recursive: true });
  cpSync(join(here, 'second'), second, { recursive: true });
  if (options.manyFiles) many(join(workspace, 'many'), options.manyFiles);
  // The extension as it is installed, with a server that records its traffic.
  const installed = join(base, 'extension');
  mkdirSync(join(installed, 'server'), { recursive: true });
  for (const name of ['package.json', 'dist', 'media']) symlinkSync(join(extension, name), join(installed, name));
  const logs = join(repository, 'build', 'wire');
  mkdirSync(logs, { recursive: true });
  for (const name of readdirSync(logs)) if (name.startsWith(`${logName}-`)) rmSync(join(logs, name));
  const wrapper = join(installed, 'server', 'kaiak');
  writeFileSync(wrapper, `#!/bin/sh\nexec "${process.env.KAIAK_WIRERECORD}" "${join(logs, logName)}-$$.jsonl" "${process.env.KAIAK_BIN}" "$@"\n`);
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
    ...options.settings,
  };
  mkdirSync(join(data, 'Machine'), { recursive: true });
  writeFileSync(join(data, 'Machine', 'settings.json'), JSON.stringify(settings));
  mkdirSync(join(workspace, '.vscode'), { recursive: true });
  writeFileSync(join(workspace, '.vscode', 'settings.json'), JSON.stringify(settings, null, 2));

  const both = join(base, 'both.code-workspace');
  writeFileSync(both, JSON.stringify({ folders: [{ path: workspace }, { path: second }], settings: {} }));

  const model = await endpoint();
  const port = await freePort();
  const server = spawn(process.execPath, [
    'out/server-main.js', '--host', '127.0.0.1', '--port', String(port), '--without-connection-token',
    '--accept-server-license-terms', '--telemetry-level', 'off', '--user-data-dir', data, '--server-data-dir', data,
    '--extensions-dir', join(data, 'extensions'), '--disable-workspace-trust', '--enable-smoke-test-driver',
  ], { cwd: process.env.KAIAK_VSCODE, stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, KAIAK_STATE_DIR: join(base, 'state'), OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: 'scripted' } });
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
    workspace, remote, installed,
    /** page opens a window with the given payload entries: on the first folder, or on both. */
    async page(payload, prepare, folders = 1) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      page.setDefaultTimeout(patience);
      await prepare?.(page);
      const all = [['extensionDevelopmentPath', remote(installed)], ...payload];
      await page.goto(`http://127.0.0.1:${port}/?${folders === 1 ? `folder=${workspace}` : `workspace=${both}`}&payload=${encodeURIComponent(JSON.stringify(all))}`);
      return page;
    },
    async stop() {
      await browser.close();
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await ended;
      if (await model.stop() !== 0) throw new Error('the scripted endpoint was asked for what it does not know');
      rmSync(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
