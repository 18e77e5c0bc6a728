// The server is killed under the window, then the window itself is closed: what
// waits for review waits on.

import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { State } from 'vscode-languageclient/node';
import { changed, count, extension, inState, proposed, shown, type Test } from './editor';
import { until } from './wait';

export const restart: Test[] = [
  ['a killed server is started again and goes on with a pending proposal', async () => {
    const { client } = await extension();
    const { editor, hunks } = await proposed('Restart.java');
    const { pid } = await client.sendRequest<{ pid: number }>('kaiak/server/status', {});
    let starts = 0;
    const states = client.onDidChangeState((e) => { if (e.newState === State.Starting) starts++; });
    process.kill(pid, 'SIGKILL');
    await until('the next server', () => starts === 1 && client.state === State.Running, client.onDidChangeState);
    states.dispose();
    assert.notEqual((await client.sendRequest<{ pid: number }>('kaiak/server/status', {})).pid, pid);
    const again = await shown(editor, 3);
    assert.equal(again[0]!.proposal.proposal_id, hunks[0]!.proposal.proposal_id);
    await vscode.commands.executeCommand('kaiak.acceptProposal', again[0]!.proposal.proposal_id);
    await changed('the accepted text', () => count(editor.document, 'import jakarta.') === 3);
    await inState(again[0]!.proposal.proposal_id, 'applied', 'applied_unsaved');
  }],
  ['a proposal is left for the next window', async () => {
    await proposed('Left.java');
  }],
];
