// What the server told: incidents, proposals, running requests. Views show it,
// commands act on it; only the server changes it.

import * as vscode from 'vscode';
import { Api, kind, type Incident, type Proposal, type ProposalFile, type StreamEvent, type SystemContent, type Verdict } from './wire';

/** How many of a folder's latest sessions are asked whether something is pending in them. */
const recentSessions = 10;

const sessionKey = (path: string) => `kaiak.session:${path}`;

export class Store {
  readonly incidents = new Map<string, Incident>();
  readonly proposals = new Map<string, Proposal>();
  /** Running requests and the number of incidents of each. */
  readonly running = new Map<string, number>();

  /** The session of each folder. */
  private readonly sessions = new Map<string, Promise<string>>();
  /** Texts of pending proposals that the user edited, by proposal and file. */
  private readonly edits = new Map<string, Map<string, string>>();
  private readonly changedIncidents = new vscode.EventEmitter<void>();
  private readonly changedProposals = new vscode.EventEmitter<void>();
  private readonly finished = new vscode.EventEmitter<{ session: string; request: string; content: SystemContent }>();
  readonly onIncidents = this.changedIncidents.event;
  readonly onProposals = this.changedProposals.event;
  readonly onFinished = this.finished.event;
  /** Requests of a server that is gone, as long as it is not known whether the new one goes on with them. */
  private lost = new Set<string>();
  private readonly refetching = new Map<string, Promise<void>>();

  constructor(readonly api: Api, private readonly memory: vscode.Memento, private readonly log: vscode.LogOutputChannel) {}

  dispose(): void {
    this.changedIncidents.dispose();
    this.changedProposals.dispose();
    this.finished.dispose();
  }

  folderOf(uri: vscode.Uri): string | undefined {
    return vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
  }

  folderPaths(): string[] {
    return (vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === 'file').map((f) => f.uri.fsPath);
  }

  /** session returns the folder's session: the one of the last window where it still is, else a new one. */
  session(path: string): Promise<string> {
    const known = this.sessions.get(path);
    if (known) return known;
    const opened = this.openSession(path);
    this.sessions.set(path, opened);
    opened.catch(() => { if (this.sessions.get(path) === opened) this.sessions.delete(path); });
    return opened;
  }

  private async openSession(path: string): Promise<string> {
    const last = this.memory.get<string>(sessionKey(path)) ?? await this.leftSession(path);
    if (last) {
      try {
        await this.resume(last);
        return last;
      } catch (err) {
        this.log.info(`session ${last} is not taken up again: ${kind(err) || String(err)}`);
      }
    }
    const { session_id } = await this.api.createSession(path, `VS Code ${new Date().toISOString().slice(0, 16)}`);
    await this.memory.update(sessionKey(path), session_id);
    return session_id;
  }

  /** leftSession returns the latest session of a folder in which something waits for review. */
  private async leftSession(path: string): Promise<string | undefined> {
    const { sessions } = await this.api.listSessions(path);
    for (const { session_id } of sessions.slice(0, recentSessions)) {
      if (await this.api.hasPending(session_id)) return session_id;
    }
    return undefined;
  }

  /** resume hears a session again; requests that did not outlive their server are over. */
  private async resume(session: string): Promise<void> {
    const resumed = await this.api.resumeSession(session);
    for (const id of [...resumed.active_request_ids, ...resumed.resumed_request_ids]) this.lost.delete(id);
    await this.fetchProposals(session);
  }

  /** useSession makes another session the folder's own. */
  async useSession(path: string, session: string): Promise<void> {
    this.proposals.clear();
    await this.resume(session);
    this.sessions.set(path, Promise.resolve(session));
    await this.memory.update(sessionKey(path), session);
  }

  /** restore takes up what earlier windows, or an earlier server, left: pending proposals are shown again. */
  async restore(): Promise<void> {
    this.sessions.clear();
    this.lost = new Set(this.running.keys());
    for (const path of this.folderPaths()) {
      if (this.memory.get<string>(sessionKey(path)) ?? await this.leftSession(path)) await this.session(path);
    }
    for (const request of this.lost) this.finish('', request, { event: 'request_completed', status: 'interrupted' });
    this.lost.clear();
  }

  /** fetchIncidents reads all pages of every folder's incidents. */
  async fetchIncidents(): Promise<void> {
    const found = new Map<string, Incident>();
    for (const path of this.folderPaths()) {
      let cursor: string | undefined;
      do {
        const page = await this.api.listIncidents(path, cursor);
        for (const incident of page.incidents) found.set(incident.id, incident);
        cursor = page.cursor;
      } while (cursor);
    }
    this.incidents.clear();
    for (const [id, incident] of found) this.incidents.set(id, incident);
    this.changedIncidents.fire();
  }

  async fetchProposals(session: string): Promise<void> {
    for (const p of await this.api.listProposals(session)) {
      // What waits for review is shown in the editor, so its files are needed.
      this.proposals.set(p.proposal_id, p.status === 'pending' ? await this.api.getProposal(p.proposal_id) : p);
    }
    this.changedProposals.fire();
  }

  /** refetch reads one proposal again; calls for one proposal are joined. */
  refetch(id: string): Promise<void> {
    const running = this.refetching.get(id);
    if (running) return running;
    const work = this.api.getProposal(id).then(
      (p) => {
        this.proposals.set(id, p);
        this.changedProposals.fire();
      },
      (err: unknown) => this.log.warn(`proposal ${id}: ${String(err)}`),
    ).finally(() => this.refetching.delete(id));
    this.refetching.set(id, work);
    return work;
  }

  /** withFiles returns a proposal with the files it changes. */
  async withFiles(id: string): Promise<Proposal | undefined> {
    if (!this.proposals.get(id)?.files) await this.refetch(id);
    return this.proposals.get(id);
  }

  pending(): Proposal[] {
    return [...this.proposals.values()].filter((p) => p.status === 'pending');
  }

  /** hear takes in one stream notification. */
  hear(method: string, event: StreamEvent): void {
    if (method === 'kaiak/stream/file_modification' && event.proposal_id) {
      void this.refetch(event.proposal_id);
      return;
    }
    if (method !== 'kaiak/stream/system') return;
    const content = event.content as unknown as SystemContent;
    const request = content.request_id ?? event.request_id;
    if (content.event === 'request_completed' && request) this.finish(event.session_id, request, content);
    if (content.event.startsWith('proposal_') && (content.proposal_id ?? event.proposal_id)) {
      void this.refetch((content.proposal_id ?? event.proposal_id)!);
      void this.fetchIncidents().catch((err: unknown) => this.log.warn(String(err)));
    }
  }

  /** begin remembers a request that runs. */
  begin(request: string, incidents: number): void {
    this.running.set(request, incidents);
    this.changedProposals.fire();
  }

  /** finish ends a request; session is '' where its server is gone. */
  private finish(session: string, request: string, content: SystemContent): void {
    this.running.delete(request);
    this.finished.fire({ session, request, content });
  }

  /** edit keeps the user's own text for a file of a pending proposal. */
  edit(proposal: Proposal, file: ProposalFile, text: string): void {
    const own = this.edits.get(proposal.proposal_id) ?? new Map<string, string>();
    if (text === file.proposed_content) own.delete(file.file_path);
    else own.set(file.file_path, text);
    if (own.size > 0) this.edits.set(proposal.proposal_id, own);
    else this.edits.delete(proposal.proposal_id);
    this.changedProposals.fire();
  }

  /** editsOf returns the user's own texts for a proposal, by file path. */
  editsOf(proposal: Proposal): ReadonlyMap<string, string> {
    return this.edits.get(proposal.proposal_id) ?? new Map<string, string>();
  }

  forget(verdicts: readonly Verdict[] | undefined): void {
    for (const v of verdicts ?? []) {
      if (v.state === 'fixed') this.incidents.delete(v.incident_id);
    }
    this.changedIncidents.fire();
  }
}
