// Activation: starts the server, connects what it tells to the views, and
// offers what the tests need.

import * as vscode from 'vscode';
import { State, type LanguageClient } from 'vscode-languageclient/node';
import { Activity } from './activity';
import { registerCommands } from './commands';
import { IncidentTree } from './incidentTree';
import { Interactions } from './interactions';
import { ProposalTree } from './proposalTree';
import { ProposedText } from './proposedText';
import { Review } from './review';
import { newClient, serverPath, settings } from './server';
import { Status } from './status';
import { Store } from './store';
import { Api, message, type StreamEvent } from './wire';

const streams = ['progress', 'ai_response', 'tool_call', 'thinking', 'user_interaction', 'file_modification', 'error', 'system'];

/** What other extensions, and the tests, may use. */
export interface KaiakApi { store: Store; incidents: IncidentTree; review: Review; activity: Activity; interactions: Interactions; client: LanguageClient; ready: Promise<void> }

let client: LanguageClient | undefined;

export function activate(context: vscode.ExtensionContext): KaiakApi | undefined {
  const output = vscode.window.createOutputChannel('Kaiak', { log: true });
  context.subscriptions.push(output);
  if (!vscode.workspace.getConfiguration('kaiak').get<boolean>('enable', true)) {
    output.info('Kaiak is switched off by kaiak.enable.');
    return undefined;
  }
  const program = serverPath(context);
  if (!program) {
    const item = vscode.window.createStatusBarItem('kaiak', vscode.StatusBarAlignment.Left, 10);
    item.text = '$(error) Kaiak';
    item.tooltip = 'The kaiak program was not found. Install it, or set kaiak.server.path.';
    item.command = { command: 'workbench.action.openSettings', title: 'Settings', arguments: ['kaiak.server.path'] };
    item.show();
    output.error(item.tooltip);
    context.subscriptions.push(item);
    return undefined;
  }

  client = newClient(program, output);
  const api = new Api(client);
  const store = new Store(api, context.workspaceState, output);
  const incidents = new IncidentTree(store, context.workspaceState);
  const review = new Review(store);
  const interactions = new Interactions(api);
  const activity = new Activity();
  const status = new Status(store, interactions);
  const view = vscode.window.createTreeView('kaiak.incidents', { treeDataProvider: incidents, canSelectMany: true, showCollapseAll: true });

  for (const name of streams) {
    const method = `kaiak/stream/${name}`;
    client.onNotification(method, (event: StreamEvent) => {
      activity.hear(method, event);
      interactions.hear(method, event);
      store.hear(method, event);
      status.show();
    });
  }
  context.subscriptions.push(store.onFinished(({ session, request }) => {
    if (!session) return;
    api.usage(session, request).then(
      ({ turns, models, usage }) => { if (turns > 0) activity.spent(turns, models, usage); },
      (err: unknown) => output.info(`tokens of ${request}: ${message(err)}`),
    );
  }));
  // The trees follow the server's own diagnostics, gathered while events come in bursts.
  let fetching: Promise<void> | undefined;
  let again = false;
  const follow = () => {
    if (fetching) {
      again = true;
      return;
    }
    fetching = store.fetchIncidents()
      .catch((err: unknown) => output.warn(`incidents: ${message(err)}`))
      .finally(() => {
        fetching = undefined;
        if (again) {
          again = false;
          follow();
        }
      });
  };

  const restart = async (): Promise<void> => {
    await client?.restart(); // what follows from it is done by the change of state below
  };
  context.subscriptions.push(
    view, review, interactions, status, store,
    vscode.window.createTreeView('kaiak.proposals', { treeDataProvider: new ProposalTree(store) }),
    vscode.window.createTreeView('kaiak.activity', { treeDataProvider: activity }),
    new ProposedText(store).register(),
    registerCommands({ store, incidents, review, interactions, activity, output, restart, selected: () => view.selection }),
    vscode.languages.onDidChangeDiagnostics(() => follow()),
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (e.affectsConfiguration('kaiak')) void client?.sendNotification('workspace/didChangeConfiguration', { settings: { kaiak: settings() } });
    }),
    client.onDidChangeState((e) => {
      status.fail(e.newState === State.Stopped ? 'The server stopped; choose to see why' : '');
      if (e.oldState === State.Starting && e.newState === State.Running) void store.restore().then(follow, (err: unknown) => output.warn(message(err)));
    }),
  );

  const ready = client.start().then(
    () => { review.refresh(); },
    (err: unknown) => {
      output.error(`The server ${program} did not start: ${message(err)}`);
      status.fail(`The server did not start: ${message(err)}`);
      throw err;
    },
  );
  ready.catch(() => undefined); // told above; who needs it awaits api.ready
  return { store, incidents, review, activity, interactions, client, ready };
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
