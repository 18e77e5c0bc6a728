// The kaiak/* wire as this extension uses it: the shapes of docs/protocol.md,
// and one typed function per operation. Lines are 1-based where the name says
// line_number, ranges are LSP's (0-based lines, UTF-16 code units).

import type { LanguageClient } from 'vscode-languageclient/node';

export interface Position { line: number; character: number }
export interface Range { start: Position; end: Position }
export interface TextEdit { range: Range; new_text: string }

export type Severity = 'error' | 'warning' | 'info' | 'hint';

export interface Incident {
  id: string;
  rule_id: string;
  file_path: string;
  line_number: number;
  severity: Severity;
  description: string;
  message: string;
  category: string;
  uri?: string;
  range?: Range;
  source?: string;
  effort?: number;
}

export interface Hunk {
  index: number;
  file_path: string;
  edits: TextEdit[];
  incident_ids: string[];
  rule_id: string;
}

export type ProposalStatus =
  | 'pending' | 'applying' | 'applied' | 'applied_unsaved' | 'rejected' | 'stale' | 'superseded' | 'reverted';

/** One file of a proposal: the content of kaiak/stream/file_modification. */
export interface ProposalFile {
  file_path: string;
  uri: string;
  change_type: 'edit' | 'create' | 'delete';
  base_sha256: string;
  proposed_sha256: string;
  original_content?: string;
  proposed_content?: string;
  diff?: string;
  hunks: Hunk[];
}

export interface Proposal {
  proposal_id: string;
  session_id: string;
  request_id: string;
  status: ProposalStatus;
  /** Every file still is what the proposal was made for. */
  current: boolean;
  description: string;
  confidence: number;
  source: 'recipe' | 'model';
  rule_ids: string[];
  incident_ids: string[];
  file_paths: string[];
  reason?: string;
  /** Only of proposal/get. */
  files?: ProposalFile[];
}

export interface Verdict {
  incident_id: string;
  rule_id: string;
  file_path: string;
  line_number: number;
  state: string;
  reason?: string;
}

export interface StreamEvent<C = Record<string, unknown>> {
  session_id: string;
  request_id?: string;
  message_id: string;
  timestamp: string;
  interaction_id?: string;
  proposal_id?: string;
  sequence: number;
  content: C;
}

export interface InteractionContent {
  interaction_type: 'approval' | 'choice' | 'input' | 'confirmation';
  prompt: string;
  proposal_id?: string;
  timeout: number;
  choices?: string[];
}

export interface SystemContent {
  event: string;
  request_id?: string;
  status?: string;
  summary?: Record<string, number>;
  proposal_id?: string;
  reason?: string;
  results?: Verdict[];
  data?: Record<string, unknown>;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  /** Counted here because the endpoint did not say. */
  estimated: boolean;
  /** null where the price is not known. */
  cost_usd: number | null;
}

export interface SessionRow {
  session_id: string;
  session_name?: string;
  workspace_path?: string;
  status: string;
  created_at: string;
  updated_at: string;
}

/** A failure as the wire tells it; data.kind tells numbers apart. */
export interface WireError extends Error { code: number; data?: { kind: string; retryable?: boolean } }

/** kind returns the error's kind, or '' for what did not come from the server. */
export function kind(err: unknown): string {
  const data = (err as { data?: { kind?: unknown } } | undefined)?.data;
  return typeof data?.kind === 'string' ? data.kind : '';
}

/** message returns what an error says to a person. */
export function message(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}

/** Api calls the operations; every method rejects with a WireError. */
export class Api {
  constructor(private readonly client: LanguageClient) {}

  private call<R>(method: string, params: object): Promise<R> {
    return this.client.sendRequest<R>(`kaiak/${method}`, params);
  }

  createSession(workspace_path: string, session_name: string) {
    return this.call<{ session_id: string; status: string }>('session/create', { workspace_path, session_name });
  }
  resumeSession(session_id: string) {
    return this.call<{ session_id: string; status: string; active_request_ids: string[]; resumed_request_ids: string[]; pending_proposals: number }>('session/resume', { session_id });
  }
  listSessions(workspace_path: string) {
    return this.call<{ sessions: SessionRow[] }>('session/list', { workspace_path, status: 'open', limit: 100 });
  }
  sessionEvents(session_id: string, after_sequence: number) {
    return this.call<{ events: { method: string; params: StreamEvent }[] }>('session/events', { session_id, after_sequence, limit: 1000 });
  }
  /** What the model's turns of a request have used. */
  usage(session_id: string, request_id: string) {
    return this.call<{ turns: number; models: string[]; usage: Usage }>('session/context', { session_id, request_id });
  }
  scan(workspace_path: string) {
    return this.call<{ files: number; notes: string[]; problems: string[] }>('incident/scan', { workspace_path });
  }
  listIncidents(workspace_path: string, cursor?: string) {
    return this.call<{ incidents: Incident[]; total: number; cursor?: string }>('incident/list', {
      workspace_path, limit: 1000, ...(cursor ? { cursor } : {}),
    });
  }
  ingest(workspace_path: string, file_path: string) {
    return this.call<{ count: number; problems: string[] }>('incident/ingest', { workspace_path, file_path });
  }
  generate(session_id: string, incidents: { id: string }[], engines: string[]) {
    return this.call<{ request_id: string }>('fix/generate', { session_id, incidents, approval: 'defer', engines });
  }
  cancel(request_id: string) {
    return this.call<{ status: string }>('fix/cancel', { request_id });
  }
  /** Every proposal of a session, without their files. */
  async listProposals(session_id: string): Promise<Proposal[]> {
    const all: Proposal[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.call<{ proposals: Proposal[]; cursor?: string }>('proposal/list', { session_id, limit: 1000, ...(cursor ? { cursor } : {}) });
      all.push(...page.proposals);
      cursor = page.cursor;
    } while (cursor);
    return all;
  }
  async hasPending(session_id: string): Promise<boolean> {
    const page = await this.call<{ proposals: Proposal[] }>('proposal/list', { session_id, status: 'pending', limit: 1 });
    return page.proposals.length > 0;
  }
  getProposal(proposal_id: string) {
    return this.call<Proposal>('proposal/get', { proposal_id });
  }
  /** Approves the bytes that the user saw: of all hunks, of some, or as the user edited them. */
  apply(proposal: Proposal, hunks: number[] | undefined, edited: ReadonlyMap<string, string>) {
    const files = (proposal.files ?? []).map((f) => ({
      file_path: f.file_path,
      base_sha256: f.base_sha256,
      // Of some hunks the outcome is another text than the proposed one.
      ...(hunks ? {} : edited.has(f.file_path) ? { proposed_content: edited.get(f.file_path) } : { proposed_sha256: f.proposed_sha256 }),
    }));
    return this.call<{ status: ProposalStatus; verdicts: Verdict[]; rest_proposal_id?: string; rest_problem?: string }>('proposal/apply', {
      proposal_id: proposal.proposal_id, files, ...(hunks ? { hunks, rest: 'keep' } : {}),
    });
  }
  reject(proposal_id: string, hunks?: number[]) {
    return this.call<{ status: ProposalStatus; rest_proposal_id?: string }>('proposal/reject', { proposal_id, ...(hunks ? { hunks } : {}) });
  }
  revert(proposal_id: string) {
    return this.call<{ status: ProposalStatus }>('proposal/revert', { proposal_id });
  }
  refine(proposal_id: string, comment: string) {
    return this.call<{ request_id: string }>('proposal/refine', { proposal_id, comment });
  }
  respond(interaction_id: string, response_type: string, response_data: object) {
    return this.call<{ status: string }>('interaction/respond', { interaction_id, response_type, response_data });
  }
}
