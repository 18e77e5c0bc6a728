// Proposed text that the user changes before accepting it.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { changed, inState, proposed, type Test } from './editor';

export const edited: Test[] = [
  ['what the user made of the proposed text is what is applied', async () => {
    const { editor, hunks } = await proposed('Edited.java');
    const { proposal } = hunks[0]!;
    await vscode.commands.executeCommand('kaiak.diffProposal', proposal.proposal_id);
    const beside = vscode.window.visibleTextEditors.find((e) => e.document.uri.scheme === 'kaiak-proposal');
    assert.ok(beside, 'the proposed text is not shown');
    assert.equal(beside.document.getText(), proposal.files![0]!.proposed_content);
    const insert = new vscode.WorkspaceEdit();
    insert.insert(beside.document.uri, new vscode.Position(0, 0), '// reviewed 😀\n');
    assert.ok(await vscode.workspace.applyEdit(insert));
    const want = beside.document.getText();
    // Not saved yet: accepting takes what is in the editor.
    await vscode.commands.executeCommand('kaiak.acceptProposal', proposal.proposal_id);
    await inState(proposal.proposal_id, 'applied', 'applied_unsaved');
    await changed('the edited text', () => editor.document.getText() === want);
  }],
];
