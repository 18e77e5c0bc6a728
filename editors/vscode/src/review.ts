// Review where the code is: pending hunks as decorations in the real editor,
// accept and reject above each as CodeLens, next and previous by key.

import * as vscode from 'vscode';
import type { Store } from './store';
import type { Hunk, Proposal, Range, TextEdit } from './wire';

/** One pending hunk in one document. */
export interface PendingHunk { proposal: Proposal; hunk: Hunk; range: vscode.Range }

const maxAddedText = 120;

export class Review implements vscode.CodeLensProvider {
  private readonly lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.lensesChanged.event;
  private readonly removed: vscode.TextEditorDecorationType;
  private readonly added: vscode.TextEditorDecorationType;
  private readonly disposables: vscode.Disposable[] = [];

  constructor(private readonly store: Store) {
    this.removed = vscode.window.createTextEditorDecorationType({
      backgroundColor: new vscode.ThemeColor('kaiak.removedBackground'),
      textDecoration: 'line-through',
      border: '1px solid',
      borderColor: new vscode.ThemeColor('kaiak.removedBorder'),
      overviewRulerColor: new vscode.ThemeColor('kaiak.removedBackground'),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    });
    this.added = vscode.window.createTextEditorDecorationType({
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    });
    this.disposables.push(
      this.removed, this.added, this.lensesChanged,
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      store.onProposals(() => this.refresh()),
      vscode.window.onDidChangeActiveTextEditor(() => this.refresh()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.refresh()),
      vscode.window.tabGroups.onDidChangeTabs(() => this.refresh()),
      vscode.workspace.onDidChangeTextDocument((e) => { if (e.contentChanges.length > 0) this.refresh(); }),
      vscode.workspace.onDidChangeConfiguration((e) => { if (e.affectsConfiguration('kaiak.review')) this.refresh(); }),
    );
  }

  dispose(): void {
    for (const d of this.disposables) d.dispose();
  }

  /**
   * hunksIn returns the pending hunks of a document that can be decided, in the
   * order of their lines. What has no incident is upkeep (imports): it comes
   * with the others.
   */
  hunksIn(document: vscode.TextDocument): PendingHunk[] {
    return this.changesIn(document).filter((h) => h.hunk.incident_ids.length > 0);
  }

  /** changesIn returns all pending hunks of a document, upkeep among them. */
  private changesIn(document: vscode.TextDocument): PendingHunk[] {
    const uri = document.uri.toString();
    const out: PendingHunk[] = [];
    for (const proposal of this.store.pending()) {
      const file = proposal.files?.find((f) => vscode.Uri.parse(f.uri).toString() === uri);
      if (!file || file.change_type !== 'edit') continue;
      // A proposal is made for exact bytes: over any other text its ranges
      // would point at the wrong place.
      if (file.original_content !== undefined && file.original_content !== document.getText()) continue;
      for (const hunk of file.hunks) {
        const first = hunk.edits[0];
        if (first) out.push({ proposal, hunk, range: toRange(first.range) });
      }
    }
    return out.sort((a, b) => a.range.start.compareTo(b.range.start));
  }

  /** hunkAt returns the hunk under the cursor, else the nearest one below, else the last. */
  hunkAt(editor: vscode.TextEditor): PendingHunk | undefined {
    const hunks = this.hunksIn(editor.document);
    const at = editor.selection.active;
    return hunks.find((h) => h.range.end.line >= at.line) ?? hunks.at(-1);
  }

  /** go moves the cursor to the next (+1) or previous (-1) pending hunk, around the end. */
  go(step: 1 | -1): void {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return;
    const hunks = this.hunksIn(editor.document);
    if (hunks.length === 0) return;
    const at = editor.selection.active;
    const next = step > 0
      ? hunks.find((h) => h.range.start.isAfter(at)) ?? hunks[0]!
      : hunks.filter((h) => h.range.start.isBefore(at)).at(-1) ?? hunks.at(-1)!;
    editor.selection = new vscode.Selection(next.range.start, next.range.start);
    editor.revealRange(next.range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  refresh(): void {
    const inline = vscode.workspace.getConfiguration('kaiak').get<boolean>('review.inline', true);
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== 'file') continue;
      this.decorate(editor, inline && !besideProposed(editor) ? this.changesIn(editor.document) : []);
    }
    const active = vscode.window.activeTextEditor;
    const pending = active !== undefined && inline && this.hunksIn(active.document).length > 0;
    void vscode.commands.executeCommand('setContext', 'kaiak.pendingInEditor', pending);
    void vscode.commands.executeCommand('setContext', 'kaiak.pending', this.store.pending().length > 0);
    this.lensesChanged.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (!vscode.workspace.getConfiguration('kaiak').get<boolean>('review.inline', true)) return [];
    const lenses: vscode.CodeLens[] = [];
    for (const pending of this.hunksIn(document)) {
      const at = new vscode.Range(pending.range.start.line, 0, pending.range.start.line, 0);
      const args = [pending.proposal.proposal_id, pending.hunk.index];
      const accept = this.store.editsOf(pending.proposal).size > 0 ? 'Accept as Edited' : 'Accept';
      lenses.push(
        new vscode.CodeLens(at, { command: 'kaiak.acceptHunk', title: `$(check) ${accept}`, tooltip: preview(pending.hunk), arguments: args }),
        new vscode.CodeLens(at, { command: 'kaiak.rejectHunk', title: '$(close) Reject', arguments: args }),
        new vscode.CodeLens(at, { command: 'kaiak.diffProposal', title: pending.hunk.rule_id || 'Show side by side', arguments: [pending.proposal.proposal_id] }),
      );
    }
    return lenses;
  }

  private decorate(editor: vscode.TextEditor, hunks: PendingHunk[]): void {
    const removed: vscode.DecorationOptions[] = [];
    const added: vscode.DecorationOptions[] = [];
    for (const { hunk } of hunks) {
      for (const edit of hunk.edits) {
        const range = toRange(edit.range);
        const hoverMessage = hover(editor.document, hunk, edit);
        if (!range.isEmpty) removed.push({ range, hoverMessage });
        if (edit.new_text !== '') {
          added.push({
            range: new vscode.Range(range.end, range.end),
            hoverMessage,
            renderOptions: {
              after: {
                contentText: shown(edit.new_text),
                backgroundColor: new vscode.ThemeColor('kaiak.addedBackground'),
                border: '1px solid',
                borderColor: new vscode.ThemeColor('kaiak.addedBorder'),
                color: new vscode.ThemeColor('kaiak.addedForeground'),
                margin: '0 0.3em',
              },
            },
          });
        }
      }
    }
    editor.setDecorations(this.removed, removed);
    editor.setDecorations(this.added, added);
  }
}

/** besideProposed reports whether an editor is one side of a diff, which shows the changes itself. */
function besideProposed(editor: vscode.TextEditor): boolean {
  const uri = editor.document.uri.toString();
  return vscode.window.tabGroups.all.some(({ viewColumn, activeTab }) =>
    activeTab?.input instanceof vscode.TabInputTextDiff && activeTab.input.original.toString() === uri
    && (editor.viewColumn === undefined || editor.viewColumn === viewColumn));
}

export function toRange(r: Range): vscode.Range {
  return new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
}

/** shown is what of the added text fits beside the code. */
function shown(text: string): string {
  const lines = text.replace(/\r\n/g, '\n').split('\n').filter((l) => l.trim() !== '');
  const first = (lines[0] ?? '⏎').trim();
  const cut = first.length > maxAddedText ? first.slice(0, maxAddedText) + '…' : first;
  return lines.length > 1 ? `${cut} … (${lines.length} lines)` : cut;
}

function preview(hunk: Hunk): string {
  return hunk.edits.map((e) => e.new_text).join('\n');
}

function hover(document: vscode.TextDocument, hunk: Hunk, edit: TextEdit): vscode.MarkdownString {
  const old = document.getText(toRange(edit.range));
  const md = new vscode.MarkdownString();
  md.appendMarkdown('**Kaiak** ');
  md.appendText(hunk.rule_id);
  md.appendCodeblock([...prefixed('- ', old), ...prefixed('+ ', edit.new_text)].join('\n'), 'diff');
  return md;
}

function prefixed(prefix: string, text: string): string[] {
  return text === '' ? [] : text.split('\n').map((line) => prefix + line);
}
