// A small runner for tests inside the extension host: each test is a name and
// a function; the first line that fails is what the report shows.

import * as vscode from 'vscode';
import type { Test } from './editor';
import { until } from './wait';

export async function runAll(suite: Test[]): Promise<void> {
  const failures: string[] = [];
  // VS Code in a browser may read the workspace file before its file system is
  // there; a setting that is written makes it read the file again.
  if (!vscode.workspace.workspaceFolders) {
    await vscode.workspace.getConfiguration('kaiak').update('review.inline', true, vscode.ConfigurationTarget.Workspace);
  }
  await until('the folders', () => vscode.workspace.workspaceFolders?.length === 2, vscode.workspace.onDidChangeWorkspaceFolders);
  for (const [name, test] of suite) {
    const start = Date.now();
    try {
      await test();
      console.log(`ok    ${name} (${Date.now() - start} ms)`);
    } catch (err) {
      failures.push(name);
      console.error(`FAIL  ${name}: ${err instanceof Error ? err.stack ?? err.message : String(err)}`);
    }
  }
  console.log(`${suite.length - failures.length} passed, ${failures.length} failed`);
  if (failures.length > 0) throw new Error(`failed: ${failures.join(', ')}`);
}
