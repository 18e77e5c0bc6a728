// The model, played by the scripted endpoint of test/model.yaml: cancelled in
// the middle of an answer, and with a question of its own.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { changed, count, diagnosed, disk, extension, inState, known, open, type Test } from './editor';
import { until } from './wait';

const useModel = (engine: 'auto' | undefined) =>
  vscode.workspace.getConfiguration('kaiak').update('engine', engine, vscode.ConfigurationTarget.Workspace);

async function fix(name: string): Promise<{ editor: vscode.TextEditor; done: Thenable<unknown> }> {
  const editor = await open(name);
  await diagnosed(editor.document.uri);
  const [incident] = await known(name);
  return { editor, done: vscode.commands.executeCommand('kaiak.fixFile', { type: 'incident', incident }) };
}

export const models: Test[] = [
  ['a model is stopped in the middle of its answer', async () => {
    const { store, activity } = await extension();
    await useModel('auto');
    const before = await disk('stream.go');
    const { done } = await fix('stream.go');
    await until('the begin of the answer', () => activity.getChildren().some((e) => e.label.startsWith('I read stream.go')), activity.onDidChangeTreeData);
    assert.equal(store.running.size, 1);
    await vscode.commands.executeCommand('kaiak.cancel');
    await done;
    assert.equal(store.running.size, 0);
    assert.equal(await disk('stream.go'), before);
    assert.ok(store.pending().every((p) => !p.file_paths.includes('stream.go')));
  }],
  ['a model asks, is answered, and its proposal is refined and applied', async () => {
    const { store, interactions } = await extension();
    const { editor, done } = await fix('ask.go');
    const question = await until('the question', () => interactions.waiting()[0], interactions.onChange);
    assert.deepEqual(question.choices, ['Write it out', 'Keep a function']);
    await interactions.respond({ choice: 'Write it out' });
    await done;
    const made = await until('the proposal', () => store.pending().find((p) => p.file_paths.includes('ask.go')), store.onProposals);
    assert.equal(made.source, 'model');

    await vscode.commands.executeCommand('kaiak.refineProposal', made.proposal_id, 'say total, not sum');
    const refined = await until('the refined proposal', () => store.pending().find((p) => p.file_paths.includes('ask.go') && p.proposal_id !== made.proposal_id), store.onProposals);
    await inState(made.proposal_id, 'superseded');
    await vscode.commands.executeCommand('kaiak.acceptProposal', refined.proposal_id);
    await changed('the refined text', () => count(editor.document, 'total := price * float64(n)') === 1);
    await useModel(undefined);
  }],
];
