// Many incidents: the view is built in pages and the editor stays responsive.

import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import * as vscode from 'vscode';
import { extension, type Test } from './editor';
import { until } from './wait';

export const scale: Test[] = [
  ['2,000 incidents in the view', async () => {
    const { store, incidents } = await extension();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await vscode.commands.executeCommand('kaiak.scan');
    await until('2,000 incidents', () => store.incidents.size >= 2000, store.onIncidents);
    await vscode.commands.executeCommand('kaiak.incidents.focus');
    await incidents.groupBy('rule');
    const groups = incidents.getChildren();
    const biggest = groups.reduce((a, b) => (incidents.incidentsOf(b).length > incidents.incidentsOf(a).length ? b : a));
    assert.ok(incidents.incidentsOf(biggest).length >= 2000, 'the group of the rule is not whole');
    const page = incidents.getChildren(biggest);
    assert.equal(page.length, 201, 'the group is not shown in pages');
    assert.equal(page.at(-1)!.type, 'more');
    for (const node of page) incidents.getTreeItem(node);
    await incidents.groupBy('file');
    delay.disable();
    console.log(`note  ${store.incidents.size} incidents: the extension host was blocked for ${Math.round(delay.max / 1e6)} ms at most`);
  }],
];
