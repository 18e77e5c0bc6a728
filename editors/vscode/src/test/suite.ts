// What a user does, done through the real API of the real editor.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { KaiakApi } from '../extension';
import { until } from './wait';

type Test = readonly [name: string, run: () => Promise<void>];

async function extension(): Promise<KaiakApi> {
  const found = vscode.extensions.getExtension<KaiakApi>('kaiak.kaiak');
  assert.ok(found, 'the extension is not installed');
  const api = await found.activate();
  assert.ok(api, 'the extension found no server');
  await api.ready;
  return api;
}

function file(name: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'no folder is open');
  return vscode.Uri.joinPath(folder.uri, name);
}

async function open(name: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(file(name)));
}

async function disk(name: string): Promise<string> {
  return Buffer.from(await vscode.workspace.fs.readFile(file(name))).toString('utf8');
}

const diagnostics = (uri: vscode.Uri) => vscode.languages.getDiagnostics(uri).filter((d) => d.source === 'kaiak');

export const suite: Test[] = [
  ['an incident is a squiggle with its rule', async () => {
    await extension();
    const editor = await open('Quick.java');
    const [first] = await until('a diagnostic', () => { const d = diagnostics(editor.document.uri); return d.length > 0 && d; }, vscode.languages.onDidChangeDiagnostics as vscode.Event<never>);
    assert.equal(editor.document.getText(first!.range).includes('javax'), true, editor.document.getText(first!.range));
    assert.ok(first!.code);
  }],
  ['a recipe is a quick fix that can be undone', async () => {
    await extension();
    const editor = await open('Quick.java');
    const before = editor.document.getText();
    const [d] = await until('a diagnostic', () => { const l = diagnostics(editor.document.uri); return l.length > 0 && l; }, vscode.languages.onDidChangeDiagnostics as vscode.Event<never>);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', editor.document.uri, d!.range, 'quickfix', 10);
    const fix = actions.find((a) => a.isPreferred);
    assert.ok(fix?.edit, `no preferred quick fix with an edit among ${actions.map((a) => a.title).join(', ')}`);
    await vscode.workspace.applyEdit(fix.edit);
    assert.ok(editor.document.getText().includes('jakarta.'), editor.document.getText());
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), before);
  }],
  ['a proposal is shown inline and one change of it accepted', async () => {
    const { store, review } = await extension();
    const editor = await open('Review.java');
    const incidents = await until('incidents', () => {
      const list = [...store.incidents.values()].filter((i) => i.file_path === 'Review.java');
      return list.length >= 3 && list;
    }, store.onIncidents as vscode.Event<never>);
    const before = await disk('Review.java');
    await vscode.commands.executeCommand('kaiak.fixFile', { type: 'incident', incident: incidents[0] });
    const hunks = await until('pending changes', () => { const h = review.hunksIn(editor.document); return h.length >= 3 && h; }, store.onProposals as vscode.Event<never>);
    assert.equal(await disk('Review.java'), before, 'something was written before it was approved');
    const first = hunks[0]!;
    await vscode.commands.executeCommand('kaiak.acceptHunk', first.proposal.proposal_id, first.hunk.index);
    await until('the accepted change', () => editor.document.getText().includes('jakarta.'), vscode.workspace.onDidChangeTextDocument as vscode.Event<never>);
    assert.equal(editor.document.getText().match(/jakarta\./g)?.length, 1, editor.document.getText());
  }],
];
