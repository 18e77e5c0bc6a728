// The server: which program it is, how it is started, and the connection to it.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';
import { LanguageClient, RevealOutputChannelOn, TransportKind, type StaticFeature } from 'vscode-languageclient/node';

/** serverPath returns the program to run: the setting, the bundled one, the one on PATH. */
export function serverPath(context: vscode.ExtensionContext): string | undefined {
  const configured = vscode.workspace.getConfiguration('kaiak').get<string>('server.path', '');
  if (configured) return configured;
  const name = process.platform === 'win32' ? 'kaiak.exe' : 'kaiak';
  const bundled = context.asAbsolutePath(join('server', name));
  if (existsSync(bundled)) return bundled;
  for (const dir of (process.env['PATH'] ?? '').split(delimiter)) {
    if (dir && existsSync(join(dir, name))) return join(dir, name);
  }
  return undefined;
}

/** The server's own keys; the others of this extension stay here. */
const serverKeys = ['rules', 'disabled_rules', 'severity', 'baseline', 'analysis_files'] as const;
const trustedKeys = ['engine', 'model'] as const;

/** settings are what the user set of the server's keys, as .kaiak/config.yaml has them. */
export function settings(): Record<string, unknown> {
  const c = vscode.workspace.getConfiguration('kaiak');
  const out: Record<string, unknown> = {};
  for (const key of vscode.workspace.isTrusted ? [...serverKeys, ...trustedKeys] : serverKeys) {
    const set = c.inspect(key);
    const value = set?.workspaceFolderValue ?? set?.workspaceValue ?? set?.globalValue;
    if (value !== undefined) out[key] = value;
  }
  if (vscode.workspace.isTrusted) out['trusted'] = true;
  return out;
}

/** interactive tells the server that this client answers its questions itself. */
const interactive: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { ...(capabilities.experimental as object | undefined), kaiak: { interactive: true } };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

/** newClient makes the connection; the caller starts and stops it. */
export function newClient(program: string, output: vscode.LogOutputChannel): LanguageClient {
  const run = { command: program, args: ['serve'], transport: TransportKind.stdio };
  const client = new LanguageClient('kaiak', 'Kaiak', { run, debug: run }, {
    documentSelector: [{ scheme: 'file' }],
    initializationOptions: settings(),
    outputChannel: output,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    progressOnInitialization: false,
    middleware: { workspace: { configuration: (params) => params.items.map(() => settings()) } },
    markdown: { isTrusted: false, supportHtml: false },
  });
  client.registerFeature(interactive);
  return client;
}
