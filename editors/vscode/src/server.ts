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

/** settings are the server's own keys, as .kaiak/config.yaml has them. */
export function settings(): Record<string, unknown> {
  const c = vscode.workspace.getConfiguration('kaiak');
  const out: Record<string, unknown> = {};
  const put = (key: string, value: unknown) => {
    if (Array.isArray(value) ? value.length > 0 : Boolean(value)) out[key] = value;
  };
  put('rules', c.get<string[]>('rules'));
  put('disabled_rules', c.get<string[]>('disabledRules'));
  put('analysis_files', c.get<string[]>('analysisFiles'));
  if (vscode.workspace.isTrusted) {
    put('engine', c.get<string>('engine'));
    put('model_profile', c.get<string>('model.profile'));
  }
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
    markdown: { isTrusted: false, supportHtml: false },
  });
  client.registerFeature(interactive);
  return client;
}
