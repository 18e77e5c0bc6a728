// One item in the status bar: what runs, what waits, what was found.

import * as vscode from 'vscode';
import type { Interactions } from './interactions';
import type { Store } from './store';

export class Status {
  private readonly item = vscode.window.createStatusBarItem('kaiak', vscode.StatusBarAlignment.Left, 10);
  private questions = 0;
  private problem = '';

  constructor(private readonly store: Store, interactions: Interactions) {
    this.item.name = 'Kaiak';
    store.onIncidents(() => this.show());
    store.onProposals(() => this.show());
    store.onFinished(() => this.show());
    interactions.onChange((n) => { this.questions = n; this.show(); });
    this.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  /** fail shows that there is no server; '' takes it back. */
  fail(problem: string): void {
    this.problem = problem;
    this.show();
  }

  show(): void {
    const pending = this.store.pending().length;
    if (this.problem) this.set('$(error) Kaiak', this.problem, 'kaiak.showOutput');
    else if (this.questions > 0) this.set(`$(question) Kaiak: ${this.questions} to answer`, 'Kaiak has a question', 'kaiak.answer');
    else if (this.store.running.size > 0) this.set('$(sync~spin) Kaiak', 'Kaiak prepares fixes; choose to cancel', 'kaiak.cancel');
    else if (pending > 0) this.set(`$(git-pull-request-draft) Kaiak: ${pending} to review`, 'Proposals wait for your review', 'kaiak.proposals.focus');
    else this.set(`$(checklist) Kaiak: ${this.store.incidents.size}`, `${this.store.incidents.size} incidents`, 'kaiak.incidents.focus');
    this.item.show();
  }

  private set(text: string, tooltip: string, command: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
  }
}
