// What the tests do in the editor, again and again.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { KaiakApi } from '../extension';
import type { PendingHunk } from '../review';
import type { Incident, Proposal, ProposalStatus } from '../wire';
import { until } from './wait';

export type Test = readonly [name: string, run: () => Promise<void>];

export async function extension(): Promise<KaiakApi> {
  const found = vscode.extensions.getExtension<KaiakApi>('kaiak.kaiak');
  assert.ok(found, 'the extension is not installed');
  const api = await found.activate();
  assert.ok(api, 'the extension found no server');
  await api.ready;
  return api;
}

/** file names a file of a folder of the workspace, by default of the first. */
export function file(name: string, folder = 0): vscode.Uri {
  const root = vscode.workspace.workspaceFolders?.[folder];
  assert.ok(root, `there is no folder ${folder}`);
  return vscode.Uri.joinPath(root.uri, name);
}

export async function open(name: string, folder = 0): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(file(name, folder)), { preview: false });
}

export async function disk(name: string, folder = 0): Promise<string> {
  return Buffer.from(await vscode.workspace.fs.readFile(file(name, folder))).toString('utf8');
}

export const own = (uri: vscode.Uri) => vscode.languages.getDiagnostics(uri).filter((d) => d.source === 'kaiak');

/** diagnosed waits until a document has at least so many diagnostics of Kaiak. */
export const diagnosed = (uri: vscode.Uri, least = 1) =>
  until(`${least} diagnostics of ${uri.path}`, () => { const d = own(uri); return d.length >= least && d; }, vscode.languages.onDidChangeDiagnostics);

/** known waits until the incidents view has at least so many incidents of a file. */
export async function known(name: string, least = 1): Promise<Incident[]> {
  const { store } = await extension();
  return until(`${least} incidents of ${name}`, () => {
    const list = [...store.incidents.values()].filter((i) => i.file_path === name);
    return list.length >= least && list;
  }, store.onIncidents);
}

/** proposed fixes a file and waits until so many changes of it are shown for review. */
export async function proposed(name: string, changes = 3, folder = 0): Promise<{ editor: vscode.TextEditor; hunks: PendingHunk[] }> {
  const editor = await open(name, folder);
  await diagnosed(editor.document.uri, changes);
  const incidents = await known(name, changes);
  await vscode.commands.executeCommand('kaiak.fixFile', { type: 'incident', incident: incidents[0] });
  return { editor, hunks: await shown(editor, changes) };
}

/** shown waits until so many changes are shown in an editor. */
export async function shown(editor: vscode.TextEditor, changes: number): Promise<PendingHunk[]> {
  const { store, review } = await extension();
  return until(`${changes} pending changes`, () => { const h = review.hunksIn(editor.document); return h.length === changes && h; },
    store.onProposals, vscode.workspace.onDidChangeTextDocument);
}

/** inState waits until a proposal has come to a state. */
export async function inState(id: string, ...states: ProposalStatus[]): Promise<Proposal> {
  const { store } = await extension();
  return until(`proposal ${id} to be ${states.join(' or ')}, not ${store.proposals.get(id)?.status}`, () => {
    const p = store.proposals.get(id);
    return p && states.includes(p.status) && p;
  }, store.onProposals);
}

/** count returns how often a text occurs in a document. */
export const count = (document: vscode.TextDocument, text: string) => document.getText().split(text).length - 1;

/** changed waits until a condition on a document holds. */
export const changed = (what: string, condition: () => boolean) => until(what, condition, vscode.workspace.onDidChangeTextDocument);
