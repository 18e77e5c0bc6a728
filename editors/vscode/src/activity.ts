// What the agent says, thinks and does, as a list that grows while it works; the newest is on top.

import * as vscode from 'vscode';
import type { StreamEvent, SystemContent, Usage } from './wire';

interface Entry { id: number; icon: string; label: string; detail: string; tooltip: string }

const keep = 500; // entries; older ones are in the session on the server

export class Activity implements vscode.TreeDataProvider<Entry> {
  private readonly entries: Entry[] = [];
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private next = 0;
  private partial: Entry | undefined;
  private partialKind = '';

  getChildren(node?: Entry): Entry[] {
    return node ? [] : this.entries.toReversed();
  }

  getTreeItem(entry: Entry): vscode.TreeItem {
    const item = new vscode.TreeItem(entry.label);
    item.id = String(entry.id);
    item.description = entry.detail;
    item.tooltip = entry.tooltip;
    item.iconPath = new vscode.ThemeIcon(entry.icon);
    return item;
  }

  hear(method: string, event: StreamEvent): void {
    const c = event.content as Record<string, unknown>;
    const text = (key: string) => (typeof c[key] === 'string' ? (c[key] as string) : '');
    switch (method) {
      case 'kaiak/stream/progress':
        this.add('sync', text('description') || text('phase'), `${String(c['percentage'])} %`);
        break;
      case 'kaiak/stream/ai_response':
        this.stream('comment', method, text('text'), c['partial'] === true);
        break;
      case 'kaiak/stream/thinking':
        this.stream('lightbulb-sparkle', method, text('text'), true);
        break;
      case 'kaiak/stream/tool_call':
        this.add('tools', text('tool_name'), text('operation'), JSON.stringify(c['parameters'] ?? {}, null, 2));
        break;
      case 'kaiak/stream/file_modification':
        this.add('diff', text('description'), text('file_path'));
        break;
      case 'kaiak/stream/error':
        this.add('error', text('message'), text('error_code'), text('details'));
        break;
      case 'kaiak/stream/system': {
        const s = c as unknown as SystemContent;
        if (s.event === 'context_snapshot') return; // told once, when the request has ended
        this.add('info', s.event.replaceAll('_', ' '), s.status ?? '', JSON.stringify(s.summary ?? s.data ?? {}, null, 2));
        break;
      }
      default:
        return;
    }
    this.changed.fire(undefined);
  }

  /** spent tells what the turns of a request have used. */
  spent(turns: number, models: string[], usage: Usage): void {
    const tokens = (usage.input_tokens + usage.output_tokens).toLocaleString('en');
    const cost = usage.cost_usd === null ? 'price unknown' : `$${usage.cost_usd.toFixed(4)}`;
    this.add('graph', `${usage.estimated ? 'about ' : ''}${tokens} tokens`, `${cost} · ${models.join(', ')}`,
      `${turns} turns, ${usage.input_tokens} tokens in, ${usage.output_tokens} out`);
    this.changed.fire(undefined);
  }

  private add(icon: string, label: string, detail: string, tooltip = label): Entry {
    this.partial = undefined;
    const entry: Entry = { id: this.next++, icon, label, detail, tooltip };
    this.entries.push(entry);
    if (this.entries.length > keep) this.entries.splice(0, this.entries.length - keep);
    return entry;
  }

  /** stream appends text to the entry that is being written, or begins one. */
  private stream(icon: string, method: string, text: string, partial: boolean): void {
    const goesOn = this.partial !== undefined && this.partialKind === method;
    if (text === '' && !goesOn) return;
    if (this.partial && goesOn) {
      const all = partial ? this.partial.tooltip + text : text;
      this.partial.tooltip = all;
      this.partial.label = all.split('\n')[0] ?? '';
    } else {
      const entry = this.add(icon, text.split('\n')[0] ?? '', '', text);
      if (partial) {
        this.partial = entry;
        this.partialKind = method;
        return;
      }
    }
    if (!partial) this.partial = undefined;
  }
}
