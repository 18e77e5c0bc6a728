// The window that is opened after the first one was closed.

import assert from 'node:assert/strict';
import { extension, inState, open, shown, type Test } from './editor';
import { runAll } from './runner';
import { until } from './wait';

const reopened: Test[] = [
  ['a pending proposal survives closing the window', async () => {
    const { store } = await extension();
    const left = await until('the proposal that was left', () => store.pending().find((p) => p.file_paths.includes('Left.java')), store.onProposals);
    const editor = await open('Left.java');
    const hunks = await shown(editor, 3);
    assert.equal(hunks[0]!.proposal.proposal_id, left.proposal_id);
    await store.api.apply(hunks[0]!.proposal, undefined, new Map());
    await inState(left.proposal_id, 'applied', 'applied_unsaved');
  }],
];

export const run = () => runAll(reopened);
