// Requests that make proposals: each is followed with progress that can be
// cancelled, until the server says that it ended.

import * as vscode from 'vscode';
import type { Store } from './store';
import type { SystemContent } from './wire';

/** follow starts a request and shows its progress; it returns how the request ended. */
export async function follow(store: Store, session: string, title: string, incidents: number, start: () => Promise<{ request_id: string }>): Promise<SystemContent> {
  const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title };
  return vscode.window.withProgress(options, async (_progress, token) => {
    // The listener stands before the request is sent: a recipe may be done before its answer is read.
    const ended = new Map<string, SystemContent>();
    let wake: () => void = () => undefined;
    const listener = store.onFinished(({ request, content }) => {
      ended.set(request, content);
      wake();
    });
    try {
      const { request_id } = await start();
      if (!ended.has(request_id)) store.begin(request_id, incidents);
      const cancel = token.onCancellationRequested(() => void store.api.cancel(request_id).then(undefined, () => undefined));
      while (!ended.has(request_id)) await new Promise<void>((next) => { wake = next; });
      cancel.dispose();
      await store.fetchProposals(session);
      return ended.get(request_id)!;
    } finally {
      listener.dispose();
    }
  });
}
