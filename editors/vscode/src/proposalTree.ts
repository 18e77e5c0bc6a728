// The tree of proposals with their state; below each the files it changes.

import * as vscode from 'vscode';
import type { Store } from './store';
import type { Proposal, ProposalFile, ProposalStatus } from './wire';

export type ProposalNode = { type: 'proposal'; proposal: Proposal } | { type: 'file'; proposal: Proposal; file: ProposalFile };

const words: Record<ProposalStatus, string> = {
  pending: 'waits for you',
  applying: 'is being applied',
  applied: 'applied',
  applied_unsaved: 'applied, not saved',
  rejected: 'rejected',
  stale: 'stale: the file changed',
  superseded: 'replaced',
  reverted: 'undone',
};

const icons: Record<ProposalStatus, string> = {
  pending: 'git-pull-request-draft',
  applying: 'sync',
  applied: 'pass',
  applied_unsaved: 'pass',
  rejected: 'circle-slash',
  stale: 'warning',
  superseded: 'history',
  reverted: 'discard',
};

const order: ProposalStatus[] = ['pending', 'applying', 'stale', 'applied_unsaved', 'applied', 'reverted', 'rejected', 'superseded'];

export class ProposalTree implements vscode.TreeDataProvider<ProposalNode> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly store: Store) {
    store.onProposals(() => this.changed.fire(undefined));
  }

  async getChildren(node?: ProposalNode): Promise<ProposalNode[]> {
    if (!node) {
      return [...this.store.proposals.values()]
        .sort((a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.description.localeCompare(b.description))
        .map((proposal) => ({ type: 'proposal', proposal }));
    }
    if (node.type === 'file') return [];
    const proposal = node.proposal.files ? node.proposal : await this.store.withFiles(node.proposal.proposal_id);
    return (proposal?.files ?? []).map((file) => ({ type: 'file', proposal: proposal!, file }));
  }

  getTreeItem(node: ProposalNode): vscode.TreeItem {
    if (node.type === 'file') {
      const item = new vscode.TreeItem(vscode.Uri.parse(node.file.uri));
      item.description = this.store.editsOf(node.proposal).has(node.file.file_path) ? 'edited by you' : node.file.change_type === 'edit' ? true : node.file.change_type;
      item.contextValue = `file.${node.proposal.status}`;
      item.command = { command: 'kaiak.diffProposal', title: 'Show Side by Side', arguments: [node] };
      return item;
    }
    const p = node.proposal;
    const item = new vscode.TreeItem(p.description, p.status === 'pending' ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed);
    item.id = `${p.proposal_id}:${p.status}`;
    item.description = `${words[p.status]} · ${p.source === 'recipe' ? 'by rule' : 'by model'} · ${Math.round(p.confidence * 100)} %`;
    item.iconPath = new vscode.ThemeIcon(icons[p.status]);
    item.contextValue = `proposal.${p.status}`;
    item.tooltip = [p.description, p.rule_ids.join(', '), `${p.incident_ids.length} incidents in ${p.file_paths.length} files`, p.reason ?? ''].filter(Boolean).join('\n');
    item.accessibilityInformation = { label: `${p.description}, ${words[p.status]}` };
    return item;
  }
}
