// The tree of proposals with their state; below each the files it changes.

import * as vscode from 'vscode';
import type { Store } from './store';
import type { Proposal, ProposalFile, ProposalState } from './wire';

export type ProposalNode = { type: 'proposal'; proposal: Proposal } | { type: 'file'; proposal: Proposal; file: ProposalFile };

const words: Record<ProposalState, string> = {
  pending: 'waits for you',
  applied: 'applied',
  applied_unsaved: 'applied, not saved',
  rejected: 'rejected',
  stale: 'stale: the file changed',
  superseded: 'replaced',
  reverted: 'undone',
};

const icons: Record<ProposalState, string> = {
  pending: 'git-pull-request-draft',
  applied: 'pass',
  applied_unsaved: 'pass',
  rejected: 'circle-slash',
  stale: 'warning',
  superseded: 'history',
  reverted: 'discard',
};

const order: ProposalState[] = ['pending', 'stale', 'applied_unsaved', 'applied', 'reverted', 'rejected', 'superseded'];

export class ProposalTree implements vscode.TreeDataProvider<ProposalNode> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly store: Store) {
    store.onProposals(() => this.changed.fire(undefined));
  }

  getChildren(node?: ProposalNode): ProposalNode[] {
    if (!node) {
      return [...this.store.proposals.values()]
        .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || a.description.localeCompare(b.description))
        .map((proposal) => ({ type: 'proposal', proposal }));
    }
    if (node.type === 'file') return [];
    return node.proposal.files.map((file) => ({ type: 'file', proposal: node.proposal, file }));
  }

  getTreeItem(node: ProposalNode): vscode.TreeItem {
    if (node.type === 'file') {
      const item = new vscode.TreeItem(vscode.Uri.parse(node.file.uri));
      item.description = node.file.change_type === 'edit' ? true : node.file.change_type;
      item.contextValue = `file.${node.proposal.state}`;
      item.command = { command: 'kaiak.diffProposal', title: 'Show Side by Side', arguments: [node] };
      return item;
    }
    const p = node.proposal;
    const item = new vscode.TreeItem(p.description, p.state === 'pending' ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed);
    item.id = `${p.proposal_id}:${p.state}`;
    item.description = `${words[p.state]} · ${p.source === 'recipe' ? 'by rule' : 'by model'} · ${Math.round(p.confidence * 100)} %`;
    item.iconPath = new vscode.ThemeIcon(icons[p.state]);
    item.contextValue = `proposal.${p.state}`;
    item.tooltip = [p.description, p.rule_ids.join(', '), `${p.incident_ids.length} incidents in ${p.files.length} files`, p.reason ?? ''].filter(Boolean).join('\n');
    item.accessibilityInformation = { label: `${p.description}, ${words[p.state]}` };
    return item;
  }
}
