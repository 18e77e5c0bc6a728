// The proposed text of a file as a read-only document, for the diff editor.

import * as vscode from 'vscode';
import type { Store } from './store';
import type { Proposal, ProposalFile } from './wire';

const scheme = 'kaiak-proposal';

export class ProposedText implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly store: Store) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  }

  /** uri names one side of one file of a proposal; its path keeps the file's name, so that the language is right. */
  static uri(proposal: Proposal, file: ProposalFile, side: 'original' | 'proposed'): vscode.Uri {
    return vscode.Uri.from({ scheme, path: '/' + file.file_path, query: new URLSearchParams({ id: proposal.proposal_id, side }).toString() });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const query = new URLSearchParams(uri.query);
    const id = query.get('id') ?? '';
    let proposal = this.store.proposals.get(id);
    let file = proposal?.files?.find((f) => '/' + f.file_path === uri.path);
    if (!file || file.proposed_content === undefined) {
      await this.store.refetch(id);
      proposal = this.store.proposals.get(id);
      file = proposal?.files?.find((f) => '/' + f.file_path === uri.path);
    }
    return (query.get('side') === 'original' ? file?.original_content : file?.proposed_content) ?? '';
  }
}

/** showDiff opens the file beside what it would be. */
export async function showDiff(proposal: Proposal, file: ProposalFile): Promise<void> {
  const proposed = ProposedText.uri(proposal, file, 'proposed');
  // A pending edit is compared with the live document; what was applied or is
  // stale, with the text it was made for.
  const left = proposal.status === 'pending' && file.change_type === 'edit'
    ? vscode.Uri.parse(file.uri)
    : ProposedText.uri(proposal, file, 'original');
  await vscode.commands.executeCommand('vscode.diff', left, proposed, `${file.file_path} ↔ proposed`, { preview: true });
}
