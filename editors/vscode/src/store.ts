// What the server told: incidents, proposals, running requests. Views show it,
// commands act on it; only the server changes it.

import * as vscode from 'vscode';
import { Api, kind, type Incident, type Proposal, type StreamEvent, type SystemContent, type Verdict } from './wire';

/** A folder of the workspace and the Kaiak session that works in it. */
interface Folder { path: string; session?: Promise<string> }

const sessionKey = (path: string) => `kaiak.session:${path}`;

export class Store {
  readonly incidents = new Map<string, Incident>();
  readonly proposals = new Map<string, Proposal>();
  /** Running requests and the number of incidents of each. */
  readonly running = new Map<string, number>();

  private readonly folders = new Map<string, Folder>();
  private readonly changedIncidents = new vscode.EventEmitter<void>();
  private readonly changedProposals = new vscode.EventEmitter<void>();
  private readonly finished = new vscode.EventEmitter<{ request: string; content: SystemContent }>();
  readonly onIncidents = this.changedIncidents.event;
  readonly onProposals = this.changedProposals.event;
  readonly onFinished = this.finished.event;
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
    const folder = this.folders.get(path) ?? { path };
    this.folders.set(path, folder);
    folder.session ??= this.openSession(path).catch((err: unknown) => {
      delete folder.session;
      throw err;
    });
    return folder.session;
  }

  private async openSession(path: string): Promise<string> {
    const last = this.memory.get<string>(sessionKey(path));
    if (last) {
      try {
        const { session_id } = await this.api.resumeSession(last);
        await this.fetchProposals(session_id);
        return session_id;
      } catch (err) {
        this.log.info(`session ${last} is not taken up again: ${kind(err) || String(err)}`);
      }
    }
    return this.newSession(path);
  }

  private async newSession(path: string): Promise<string> {
    const { session_id } = await this.api.createSession(path, `VS Code ${new Date().toISOString().slice(0, 16)}`);
    await this.memory.update(sessionKey(path), session_id);
    return session_id;
  }

  /** useSession makes another session the folder's own. */
  async useSession(path: string, session: string): Promise<void> {
    await this.api.resumeSession(session);
    this.folders.set(path, { path, session: Promise.resolve(session) });
    await this.memory.update(sessionKey(path), session);
    this.proposals.clear();
    await this.fetchProposals(session);
  }

  /** restore takes up the sessions that earlier windows left, so that pending proposals are shown again. */
  async restore(): Promise<void> {
    for (const path of this.folderPaths()) {
      if (this.memory.get<string>(sessionKey(path))) await this.session(path);
    }
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
    if (content.event === 'request_completed' && request) {
      this.running.delete(request);
      this.finished.fire({ request, content });
    }
    if (content.event.startsWith('proposal_') && (content.proposal_id ?? event.proposal_id)) {
      void this.refetch((content.proposal_id ?? event.proposal_id)!);
      void this.fetchIncidents().catch((err: unknown) => this.log.warn(String(err)));
    }
  }

  forget(verdicts: readonly Verdict[] | undefined): void {
    for (const v of verdicts ?? []) {
      if (v.state === 'fixed') this.incidents.delete(v.incident_id);
    }
    this.changedIncidents.fire();
  }
}
