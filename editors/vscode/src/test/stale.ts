// A file that changes while its proposal is being reviewed.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { changed, disk, file, inState, proposed, shown, type Test } from './editor';

export const stale: Test[] = [
  ['an edit in the buffer hides the proposal, and accepting it is refused', async () => {
    const { editor, hunks } = await proposed('Buffer.java');
    await editor.edit((e) => e.insert(new vscode.Position(0, 0), '// mine\n'));
    const mine = editor.document.getText();
    await shown(editor, 0);
    await vscode.commands.executeCommand('kaiak.acceptProposal', hunks[0]!.proposal.proposal_id);
    await inState(hunks[0]!.proposal.proposal_id, 'stale');
    assert.equal(editor.document.getText(), mine);
  }],
  ['a change on disk does the same', async () => {
    const { editor, hunks } = await proposed('Disk.java');
    const mine = `// from outside\n${editor.document.getText()}`;
    await vscode.workspace.fs.writeFile(file('Disk.java'), Buffer.from(mine));
    await changed('the text from outside', () => editor.document.getText() === mine);
    await shown(editor, 0);
    await vscode.commands.executeCommand('kaiak.acceptProposal', hunks[0]!.proposal.proposal_id);
    await inState(hunks[0]!.proposal.proposal_id, 'stale');
    assert.equal(await disk('Disk.java'), mine);
  }],
];
