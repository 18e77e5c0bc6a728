// Review: one change of several, the rest, rejection, undo, side by side.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { changed, count, disk, extension, inState, open, proposed, shown, type Test } from './editor';

export const review: Test[] = [
  ['nothing is written before it is approved', async () => {
    const before = await disk('Review.java');
    const { editor } = await proposed('Review.java');
    assert.equal(await disk('Review.java'), before);
    assert.equal(editor.document.getText(), before);
    assert.equal(editor.document.isDirty, false);
  }],
  ['one change of three is accepted, one rejected, the last accepted', async () => {
    const editor = await open('Review.java');
    let hunks = await shown(editor, 3);
    const { proposal_id: id } = hunks[1]!.proposal;
    await vscode.commands.executeCommand('kaiak.acceptHunk', id, hunks[1]!.hunk.index);
    await changed('the accepted change', () => count(editor.document, 'import jakarta.persistence.Id;') === 1);
    assert.equal(count(editor.document, 'import jakarta.'), 1, editor.document.getText());

    hunks = await shown(editor, 2);
    assert.notEqual(hunks[0]!.proposal.proposal_id, id, 'the rest is no proposal of its own');
    await vscode.commands.executeCommand('kaiak.rejectHunk', hunks[1]!.proposal.proposal_id, hunks[1]!.hunk.index);
    hunks = await shown(editor, 1);
    await vscode.commands.executeCommand('kaiak.acceptHunk', hunks[0]!.proposal.proposal_id, hunks[0]!.hunk.index);
    await changed('the last change', () => count(editor.document, 'import jakarta.') === 2);
    assert.equal(count(editor.document, 'import javax.validation.constraints.NotNull;'), 1);
    await shown(editor, 0);
  }],
  ['an applied proposal is undone', async () => {
    const { store } = await extension();
    const editor = await open('Review.java');
    const applied = [...store.proposals.values()].filter((p) => p.file_paths.includes('Review.java') && p.status.startsWith('applied'));
    assert.equal(applied.length, 2);
    // The later one first, as one undoes edits.
    for (const p of applied.reverse()) await vscode.commands.executeCommand('kaiak.revertProposal', p.proposal_id);
    await changed('the text of before', () => count(editor.document, 'import javax.') === 3);
    for (const p of applied) await inState(p.proposal_id, 'reverted');
  }],
  ['a rejected proposal changes nothing and is not shown again', async () => {
    const { editor, hunks } = await proposed('Rejected.java');
    const before = editor.document.getText();
    await vscode.commands.executeCommand('kaiak.rejectProposal', hunks[0]!.proposal.proposal_id);
    await inState(hunks[0]!.proposal.proposal_id, 'rejected');
    await shown(editor, 0);
    assert.equal(editor.document.getText(), before);
    assert.equal(await disk('Rejected.java'), before);
  }],
];
