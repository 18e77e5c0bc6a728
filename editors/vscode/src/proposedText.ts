// The proposed text of a file as a document beside the file. While the proposal
// is pending it can be edited and saved: what is saved is what an approval of
// the whole proposal then means, to the byte.

import * as vscode from 'vscode';
import type { Store } from './store';
import type { Proposal, ProposalFile } from './wire';

const scheme = 'kaiak-proposal';

type Side = 'original' | 'proposed';

interface Shown { proposal: Proposal; file: ProposalFile; side: Side }

export class ProposedText implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  private readonly written = new Map<string, number>(); // when, by URI

  constructor(private readonly store: Store) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerFileSystemProvider(scheme, this, { isCaseSensitive: true });
  }

  /** uri names one side of one file of a proposal; its path keeps the file's name, so that the language is right. */
  static uri(proposal: Proposal, file: ProposalFile, side: Side): vscode.Uri {
    return vscode.Uri.from({ scheme, path: '/' + file.file_path, query: new URLSearchParams({ id: proposal.proposal_id, side }).toString() });
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const shown = await this.find(uri);
    const at = this.written.get(uri.toString()) ?? 0;
    const stat = { type: vscode.FileType.File, ctime: 0, mtime: at, size: Buffer.byteLength(this.text(shown)) };
    return writable(shown) ? stat : { ...stat, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return Buffer.from(this.text(await this.find(uri)));
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const shown = await this.find(uri);
    if (!writable(shown)) throw vscode.FileSystemError.NoPermissions('the proposal is no longer pending');
    this.store.edit(shown.proposal, shown.file, Buffer.from(content).toString('utf8'));
    this.written.set(uri.toString(), Date.now());
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  private async find(uri: vscode.Uri): Promise<Shown> {
    const query = new URLSearchParams(uri.query);
    const side: Side = query.get('side') === 'original' ? 'original' : 'proposed';
    const proposal = await this.store.withFiles(query.get('id') ?? '');
    const file = proposal?.files?.find((f) => '/' + f.file_path === uri.path);
    if (!proposal || !file) throw vscode.FileSystemError.FileNotFound(uri);
    return { proposal, file, side };
  }

  private text({ proposal, file, side }: Shown): string {
    if (side === 'original') return file.original_content ?? '';
    return this.store.editsOf(proposal).get(file.file_path) ?? file.proposed_content ?? '';
  }
}

function writable({ proposal, file, side }: Shown): boolean {
  return side === 'proposed' && proposal.status === 'pending' && file.change_type !== 'delete';
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

/** saveEdited saves what the user is still writing into a proposal. */
export async function saveEdited(proposal: Proposal): Promise<void> {
  for (const document of vscode.workspace.textDocuments) {
    const own = document.uri.scheme === scheme && new URLSearchParams(document.uri.query).get('id') === proposal.proposal_id;
    if (own && document.isDirty && !(await document.save())) throw new Error(`the edited text of ${document.uri.path.slice(1)} could not be saved`);
  }
}
