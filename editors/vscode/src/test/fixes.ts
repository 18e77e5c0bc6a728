// Finding and fixing: squiggles, quick fixes, several problems at once, two
// folders, and text in which bytes, UTF-16 units and characters differ.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { changed, count, diagnosed, disk, extension, known, open, proposed, shown, type Test } from './editor';

const quickFixes = (uri: vscode.Uri, range: vscode.Range) =>
  vscode.commands.executeCommand<vscode.CodeAction[]>('vscode.executeCodeActionProvider', uri, range, 'quickfix', 10);

export const fixes: Test[] = [
  ['an incident is a squiggle with its rule', async () => {
    await extension();
    const editor = await open('Quick.java');
    const [first] = await diagnosed(editor.document.uri);
    assert.ok(editor.document.getText(first!.range).includes('javax'), editor.document.getText(first!.range));
    assert.ok(first!.code);
  }],
  ['a recipe is a quick fix that can be undone', async () => {
    const editor = await open('Quick.java');
    const before = editor.document.getText();
    const [d] = await diagnosed(editor.document.uri);
    const actions = await quickFixes(editor.document.uri, d!.range);
    const fix = actions.find((a) => a.isPreferred);
    assert.ok(fix?.edit, `no preferred quick fix with an edit among ${actions.map((a) => a.title).join(', ')}`);
    await vscode.workspace.applyEdit(fix.edit);
    assert.ok(count(editor.document, 'jakarta.') > 0, editor.document.getText());
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), before);
  }],
  ['ranges are right beside surrogate pairs, and CRLF is kept', async () => {
    const editor = await open('Wide.java');
    const { document } = editor;
    assert.equal(document.eol, vscode.EndOfLine.CRLF);
    for (const d of await diagnosed(document.uri, 4)) {
      assert.ok(/^javax\.inject\b/.test(document.getText(d.range)), `a diagnostic is on "${document.getText(d.range)}"`);
    }
    const want = document.getText().replaceAll('javax.inject', 'jakarta.inject');
    const { hunks } = await proposed('Wide.java', 4);
    await vscode.commands.executeCommand('kaiak.acceptProposal', hunks[0]!.proposal.proposal_id);
    await changed('the accepted text', () => document.getText() === want);
    await document.save();
    assert.equal(await disk('Wide.java'), want);
    assert.ok(want.includes('\r\n') && !/[^\r]\n/.test(want));
  }],
  ['several selected problems are fixed together', async () => {
    const { store, incidents } = await extension();
    const editor = await open('Bulk.java');
    await diagnosed(editor.document.uri, 3);
    const two = (await known('Bulk.java', 3)).slice(0, 2);
    const group = incidents.getChildren().find((n) => n.type === 'group' && n.key === 'Bulk.java');
    assert.ok(group, 'the view has no group of the file');
    const nodes = incidents.getChildren(group).filter((n) => n.type === 'incident' && two.includes(n.incident));
    assert.equal(nodes.length, 2);
    await vscode.commands.executeCommand('kaiak.fixIncident', nodes[0], nodes);
    const hunks = await shown(editor, 2);
    assert.deepEqual(hunks.flatMap((h) => h.hunk.incident_ids).sort(), two.map((i) => i.id).sort());
    for (const id of new Set(hunks.map((h) => h.proposal.proposal_id))) await vscode.commands.executeCommand('kaiak.acceptProposal', id);
    await changed('two accepted changes', () => count(editor.document, 'import jakarta.') === 2);
    assert.equal(count(editor.document, 'import javax.'), 1);
    assert.ok(store.pending().every((p) => !p.file_paths.includes('Bulk.java')));
  }],
  ['a second folder has incidents, a session and proposals of its own', async () => {
    const { store } = await extension();
    const { editor, hunks } = await proposed('Other.java', 3, 1);
    const first = vscode.workspace.workspaceFolders![0]!.uri.fsPath;
    assert.notEqual(hunks[0]!.proposal.session_id, await store.session(first));
    await vscode.commands.executeCommand('kaiak.acceptProposal', hunks[0]!.proposal.proposal_id);
    await changed('the accepted text', () => count(editor.document, 'import jakarta.') === 3);
  }],
];
