// The tree of incidents, grouped and filtered. A group's children are made only
// when it is opened, and in pages, so that 10,000 incidents cost a window nothing.

import * as vscode from 'vscode';
import type { Store } from './store';
import type { Incident } from './wire';

export type Grouping = 'file' | 'rule' | 'severity' | 'category' | 'effort' | 'source';
export const groupings: readonly Grouping[] = ['file', 'rule', 'severity', 'category', 'effort', 'source'];

const pageSize = 200;
const severities = ['error', 'warning', 'info', 'hint'];

interface Group { type: 'group'; key: string; incidents: Incident[] }
interface Leaf { type: 'incident'; incident: Incident; group: Group }
interface More { type: 'more'; group: Group; shown: number }
export type IncidentNode = Group | Leaf | More;

const icons: Record<string, vscode.ThemeIcon> = {
  error: new vscode.ThemeIcon('error', new vscode.ThemeColor('problemsErrorIcon.foreground')),
  warning: new vscode.ThemeIcon('warning', new vscode.ThemeColor('problemsWarningIcon.foreground')),
  info: new vscode.ThemeIcon('info', new vscode.ThemeColor('problemsInfoIcon.foreground')),
  hint: new vscode.ThemeIcon('lightbulb'),
};

export class IncidentTree implements vscode.TreeDataProvider<IncidentNode> {
  private readonly changed = new vscode.EventEmitter<IncidentNode | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private groups: Group[] | undefined;
  private readonly shown = new Map<string, number>();
  grouping: Grouping;
  filter = '';

  constructor(private readonly store: Store, private readonly memory: vscode.Memento) {
    this.grouping = memory.get<Grouping>('kaiak.grouping', 'file');
    store.onIncidents(() => this.refresh());
  }

  refresh(): void {
    this.groups = undefined;
    this.changed.fire(undefined);
  }

  async groupBy(grouping: Grouping): Promise<void> {
    this.grouping = grouping;
    await this.memory.update('kaiak.grouping', grouping);
    this.refresh();
  }

  filterBy(text: string): void {
    this.filter = text.toLowerCase();
    void vscode.commands.executeCommand('setContext', 'kaiak.filtered', text !== '');
    this.refresh();
  }

  more(node: More): void {
    this.shown.set(node.group.key, node.shown + pageSize);
    this.changed.fire(node.group);
  }

  /** incidentsOf returns what a node stands for. */
  incidentsOf(node: IncidentNode): Incident[] {
    switch (node.type) {
      case 'incident': return [node.incident];
      case 'group': return node.incidents;
      case 'more': return node.group.incidents;
    }
  }

  getChildren(node?: IncidentNode): IncidentNode[] {
    if (!node) return this.build();
    if (node.type !== 'group') return [];
    const limit = this.shown.get(node.key) ?? pageSize;
    const leaves: IncidentNode[] = node.incidents.slice(0, limit).map((incident) => ({ type: 'incident', incident, group: node }));
    if (node.incidents.length > limit) leaves.push({ type: 'more', group: node, shown: limit });
    return leaves;
  }

  getParent(node: IncidentNode): IncidentNode | undefined {
    return node.type === 'group' ? undefined : node.group;
  }

  getTreeItem(node: IncidentNode): vscode.TreeItem {
    if (node.type === 'group') return this.groupItem(node);
    if (node.type === 'more') {
      const item = new vscode.TreeItem(`${node.group.incidents.length - node.shown} more…`);
      item.command = { command: 'kaiak.showMore', title: 'Show More', arguments: [node] };
      return item;
    }
    const { incident } = node;
    const item = new vscode.TreeItem(firstLine(incident.message || incident.description || incident.rule_id));
    item.id = incident.id;
    item.iconPath = icons[incident.severity] ?? icons['info']!;
    item.description = this.grouping === 'file' ? `${incident.rule_id} · ${incident.line_number || ''}` : `${incident.file_path}:${incident.line_number || ''}`;
    item.tooltip = `${incident.message}\n\n${incident.rule_id} (${incident.source ?? 'kaiak'})\n${incident.file_path}:${incident.line_number}`;
    item.contextValue = 'incident';
    item.accessibilityInformation = { label: `${incident.severity}: ${item.label as string}, ${incident.file_path} line ${incident.line_number}` };
    item.command = { command: 'kaiak.openIncident', title: 'Open', arguments: [incident] };
    return item;
  }

  private groupItem(group: Group): vscode.TreeItem {
    const item = new vscode.TreeItem(group.key || '(none)', vscode.TreeItemCollapsibleState.Collapsed);
    item.id = `${this.grouping}:${group.key}`;
    item.description = String(group.incidents.length);
    item.contextValue = `group.${this.grouping}`;
    if (this.grouping === 'file') {
      const uri = group.incidents[0]?.uri;
      if (uri) item.resourceUri = vscode.Uri.parse(uri);
      item.iconPath = vscode.ThemeIcon.File;
    } else if (this.grouping === 'severity') {
      item.iconPath = icons[group.key] ?? icons['info']!;
    }
    return item;
  }

  private build(): Group[] {
    if (this.groups) return this.groups;
    const byKey = new Map<string, Incident[]>();
    for (const incident of this.store.incidents.values()) {
      if (this.filter && !matches(incident, this.filter)) continue;
      const key = this.keyOf(incident);
      const list = byKey.get(key);
      if (list) list.push(incident);
      else byKey.set(key, [incident]);
    }
    const order = (a: Group, b: Group) =>
      this.grouping === 'severity' ? severities.indexOf(a.key) - severities.indexOf(b.key)
        : this.grouping === 'effort' ? Number(b.key) - Number(a.key)
          : a.key.localeCompare(b.key);
    this.groups = [...byKey].map(([key, list]): Group => ({
      type: 'group', key,
      incidents: list.sort((a, b) => a.file_path.localeCompare(b.file_path) || a.line_number - b.line_number),
    })).sort(order);
    return this.groups;
  }

  private keyOf(incident: Incident): string {
    switch (this.grouping) {
      case 'file': return incident.file_path;
      case 'rule': return incident.rule_id;
      case 'severity': return incident.severity;
      case 'category': return incident.category;
      case 'effort': return String(incident.effort ?? 0);
      case 'source': return incident.source ?? '';
    }
  }
}

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end);
}

function matches(incident: Incident, text: string): boolean {
  return [incident.file_path, incident.rule_id, incident.message, incident.severity, incident.category, incident.source ?? '']
    .some((field) => field.toLowerCase().includes(text));
}
