// Every command: what the user chose becomes one operation of the server.

import * as vscode from 'vscode';
import type { Activity } from './activity';
import { groupings, type IncidentNode, type IncidentTree } from './incidentTree';
import type { Interactions } from './interactions';
import type { ProposalNode } from './proposalTree';
import { toRange, type Review } from './review';
import type { Store } from './store';
import { saveEdited, showDiff } from './proposedText';
import { follow } from './requests';
import { kind, message, type Incident, type Proposal } from './wire';

export interface Parts {
  store: Store;
  incidents: IncidentTree;
  review: Review;
  interactions: Interactions;
  activity: Activity;
  selected: () => readonly IncidentNode[];
  restart: () => Promise<void>;
  output: vscode.LogOutputChannel;
}

/** Who fixes, by the setting kaiak.engine. */
const enginesOf: Record<string, string[]> = { recipes: ['recipe'], auto: ['recipe', 'model'], model: ['model'] };

/** The contract's limit: incidents in one request. */
const maxIncidents = 1000;

export function registerCommands(parts: Parts): vscode.Disposable {
  const { store, incidents, review, interactions, output } = parts;
  const register = (name: string, run: (...args: never[]) => unknown) =>
    vscode.commands.registerCommand(`kaiak.${name}`, async (...args: unknown[]) => {
      try {
        return await run(...(args as never[]));
      } catch (err) {
        output.error(`${name}: ${message(err)}`);
        void vscode.window.showErrorMessage(`Kaiak: ${message(err)}`);
        return undefined;
      }
    });

  const proposal = (arg: ProposalNode | string | undefined): Proposal | undefined =>
    typeof arg === 'string' ? store.proposals.get(arg) : arg?.proposal;

  /** accept applies a proposal or some of its hunks; what became stale is said, not forced. */
  const accept = async (given: Proposal, hunks?: number[]): Promise<void> => {
    const p = (await store.withFiles(given.proposal_id)) ?? given;
    await saveEdited(p);
    const edited = store.editsOf(p);
    try {
      // What the user edited is accepted as it stands, not by the hunks it was made of.
      const result = await store.api.apply(p, edited.size > 0 ? undefined : hunks, edited);
      store.forget(result.verdicts);
      if (result.rest_proposal_id) await store.refetch(result.rest_proposal_id);
      if (result.rest_problem) void vscode.window.showWarningMessage(`Kaiak: the other changes are not kept: ${result.rest_problem}`);
    } catch (err) {
      if (kind(err) !== 'CONTENT_MODIFIED') throw err;
      void vscode.window.showWarningMessage(`Kaiak: ${message(err)}`);
    } finally {
      await store.refetch(p.proposal_id);
    }
  };
  const reject = async (p: Proposal, hunks?: number[]): Promise<void> => {
    const result = await store.api.reject(p.proposal_id, hunks);
    if (result.rest_proposal_id) await store.refetch(result.rest_proposal_id);
    await store.refetch(p.proposal_id);
  };

  const fix = async (list: Incident[]): Promise<void> => {
    if (list.length === 0) {
      void vscode.window.showInformationMessage('Kaiak: there is no incident to fix here.');
      return;
    }
    const engines = enginesOf[vscode.workspace.getConfiguration('kaiak').get<string>('engine', 'recipes')] ?? ['recipe'];
    for (const [folder, own] of byFolder(store, list)) {
      const session = await store.session(folder);
      for (let i = 0; i < own.length; i += maxIncidents) {
        const page = own.slice(i, i + maxIncidents);
        const title = page.length === 1 ? `Kaiak: fixing ${page[0]!.rule_id}` : `Kaiak: fixing ${page.length} incidents`;
        const end = await follow(store, session, title, page.length, () => store.api.generate(session, page.map((one) => ({ id: one.id })), engines));
        const reason = page.length === 1 && end.results?.find((r) => r.reason)?.reason;
        if (reason) void vscode.window.showInformationMessage(`Kaiak made no change: ${reason}`);
      }
    }
  };

  const hunkAt = (id?: string, index?: number): { p: Proposal; index: number } | undefined => {
    if (id !== undefined && index !== undefined) {
      const p = store.proposals.get(id);
      return p && { p, index };
    }
    const editor = vscode.window.activeTextEditor;
    const found = editor && review.hunkAt(editor);
    return found && { p: found.proposal, index: found.hunk.index };
  };
  const hunksOfEditor = (): Map<Proposal, number[]> => {
    const out = new Map<Proposal, number[]>();
    const editor = vscode.window.activeTextEditor;
    for (const { proposal: p, hunk } of editor ? review.hunksIn(editor.document) : []) {
      out.set(p, [...(out.get(p) ?? []), hunk.index]);
    }
    return out;
  };

  return vscode.Disposable.from(
    register('scan', async () => {
      await vscode.window.withProgress({ location: { viewId: 'kaiak.incidents' } }, async () => {
        for (const folder of store.folderPaths()) await store.api.scan(folder);
        await store.fetchIncidents();
      });
    }),
    register('ingest', async (given?: vscode.Uri) => {
      const uri = given ?? (await vscode.window.showOpenDialog({ canSelectMany: false, title: 'SARIF or Konveyor analysis', filters: { Analysis: ['sarif', 'json', 'yaml', 'yml', 'js'] } }))?.[0];
      const folder = uri && (store.folderOf(uri) ?? store.folderPaths()[0]);
      if (!uri || !folder) return;
      const result = await store.api.ingest(folder, uri.fsPath);
      for (const problem of result.problems) output.warn(problem);
      await store.fetchIncidents();
      void vscode.window.showInformationMessage(`Kaiak: ${result.count} incidents loaded${result.problems.length ? `, ${result.problems.length} records left out (see the output)` : ''}.`);
    }),
    register('fixIncident', async (node?: IncidentNode, all?: IncidentNode[]) => {
      const nodes = all?.length ? all : node ? [node] : parts.selected();
      await fix([...new Set(nodes.flatMap((n) => incidents.incidentsOf(n)))]);
    }),
    register('fixFile', async (node?: IncidentNode) => {
      const uri = node?.type === 'incident' ? node.incident.uri : vscode.window.activeTextEditor?.document.uri.toString();
      await fix([...store.incidents.values()].filter((i) => i.uri !== undefined && uri !== undefined && sameUri(i.uri, uri)));
    }),
    register('fixAllOfRule', async (node?: IncidentNode) => {
      const rule = node?.type === 'incident' ? node.incident.rule_id : undefined;
      if (rule) await fix([...store.incidents.values()].filter((i) => i.rule_id === rule));
    }),
    register('fixWorkspace', () => fix([...store.incidents.values()])),
    register('groupBy', async () => {
      const choice = await vscode.window.showQuickPick([...groupings], { title: 'Group incidents by' });
      const grouping = groupings.find((g) => g === choice);
      if (grouping) await incidents.groupBy(grouping);
    }),
    register('filter', async () => {
      const text = await vscode.window.showInputBox({ title: 'Show incidents that contain', value: incidents.filter });
      if (text !== undefined) incidents.filterBy(text);
    }),
    register('clearFilter', () => incidents.filterBy('')),
    register('showMore', (node: IncidentNode) => { if (node.type === 'more') incidents.more(node); }),
    register('openIncident', async (incident: Incident) => {
      if (!incident.uri) return;
      const at = incident.range ? toRange(incident.range) : new vscode.Range(Math.max(0, incident.line_number - 1), 0, Math.max(0, incident.line_number - 1), 0);
      await vscode.window.showTextDocument(vscode.Uri.parse(incident.uri), { selection: at, preview: true });
    }),
    register('reviewProposal', async (arg?: ProposalNode | string) => {
      const p = await store.withFiles(proposal(arg)?.proposal_id ?? '');
      const file = p?.files?.find((f) => f.change_type === 'edit');
      const first = file?.hunks[0]?.edits[0];
      if (!file) return;
      await vscode.window.showTextDocument(vscode.Uri.parse(file.uri), first ? { selection: new vscode.Range(toRange(first.range).start, toRange(first.range).start) } : {});
    }),
    register('diffProposal', async (arg?: ProposalNode | string) => {
      const p = await store.withFiles(proposal(arg)?.proposal_id ?? '');
      const file = typeof arg === 'object' && arg.type === 'file' ? arg.file : p?.files?.[0];
      if (p && file) await showDiff(p, file);
    }),
    register('acceptProposal', async (arg?: ProposalNode | string) => { const p = proposal(arg); if (p) await accept(p); }),
    register('rejectProposal', async (arg?: ProposalNode | string) => { const p = proposal(arg); if (p) await reject(p); }),
    register('refineProposal', async (arg?: ProposalNode | string, given?: string) => {
      const p = proposal(arg);
      const comment = p && (typeof given === 'string' ? given : await vscode.window.showInputBox({ title: `Refine: ${p.description}`, prompt: 'What should be different?' }));
      if (p && comment) await follow(store, p.session_id, `Kaiak: refining ${p.description}`, p.incident_ids.length, () => store.api.refine(p.proposal_id, comment));
    }),
    register('revertProposal', async (arg?: ProposalNode | string) => {
      const p = proposal(arg);
      if (!p) return;
      await store.api.revert(p.proposal_id);
      await store.refetch(p.proposal_id);
      await store.fetchIncidents();
    }),
    register('acceptAll', async () => {
      const list = store.pending();
      const files = new Set(list.flatMap((p) => p.file_paths));
      const yes = await vscode.window.showWarningMessage(`Apply ${list.length} proposals to ${files.size} files?`, { modal: true, detail: 'Each can be undone afterwards.' }, 'Apply');
      if (yes === 'Apply') for (const p of list) await accept(p);
    }),
    register('rejectAll', async () => { for (const p of store.pending()) await reject(p); }),
    register('acceptHunk', async (id?: string, index?: number) => { const h = hunkAt(id, index); if (h) await accept(h.p, [h.index]); }),
    register('rejectHunk', async (id?: string, index?: number) => { const h = hunkAt(id, index); if (h) await reject(h.p, [h.index]); }),
    register('acceptFile', async () => { for (const [p, hunks] of hunksOfEditor()) await accept(p, wholly(p, hunks)); }),
    register('rejectFile', async () => { for (const [p, hunks] of hunksOfEditor()) await reject(p, wholly(p, hunks)); }),
    register('nextHunk', () => review.go(1)),
    register('previousHunk', () => review.go(-1)),
    register('cancel', async () => { for (const request of store.running.keys()) await store.api.cancel(request); }),
    register('answer', () => interactions.answer()),
    register('sessions', async () => {
      const folder = store.folderPaths()[0];
      if (!folder) return;
      const { sessions } = await store.api.listSessions(folder);
      const choice = await vscode.window.showQuickPick(
        sessions.map((s) => ({ label: s.session_name || s.session_id, description: s.status, detail: s.updated_at, id: s.session_id })),
        { title: 'Take up a session', matchOnDescription: true },
      );
      if (choice) await store.useSession(folder, choice.id);
    }),
    register('restart', parts.restart),
    register('showOutput', () => output.show()),
  );
}

function byFolder(store: Store, list: Incident[]): Map<string, Incident[]> {
  const out = new Map<string, Incident[]>();
  for (const incident of list) {
    const folder = incident.uri ? store.folderOf(vscode.Uri.parse(incident.uri)) : undefined;
    if (folder) out.set(folder, [...(out.get(folder) ?? []), incident]);
  }
  return out;
}

function sameUri(a: string, b: string): boolean {
  return a === b || vscode.Uri.parse(a).toString() === vscode.Uri.parse(b).toString();
}

/** wholly returns no hunks when they are all of a proposal's: then it is approved as a whole. */
function wholly(p: Proposal, hunks: number[]): number[] | undefined {
  const own = (p.files ?? []).flatMap((f) => f.hunks).filter((h) => h.incident_ids.length > 0);
  return own.length === hunks.length ? undefined : hunks;
}
