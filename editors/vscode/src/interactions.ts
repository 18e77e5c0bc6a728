// The agent's questions as native input. A question is shown when the user
// asks for it (status bar, notification button); nothing pops up over the work.

import * as vscode from 'vscode';
import { kind, message, type Api, type InteractionContent, type StreamEvent } from './wire';

interface Question { id: string; content: InteractionContent }

export class Interactions {
  private readonly open: Question[] = [];
  private readonly changed = new vscode.EventEmitter<number>();
  readonly onChange = this.changed.event;

  constructor(private readonly api: Api) {}

  dispose(): void {
    this.changed.dispose();
  }

  hear(method: string, event: StreamEvent): void {
    if (method === 'kaiak/stream/user_interaction' && event.interaction_id) {
      const content = event.content as unknown as InteractionContent;
      // An approval is given where its proposal is shown.
      if (content.interaction_type !== 'approval') this.open.push({ id: event.interaction_id, content });
    } else if (method === 'kaiak/stream/system') {
      const c = event.content as { event?: string; interaction_id?: string };
      if (c.event?.startsWith('interaction_') && c.interaction_id) this.drop(c.interaction_id);
    } else {
      return;
    }
    this.tell();
  }

  /** waiting returns the open questions, the oldest first. */
  waiting(): InteractionContent[] {
    return this.open.map((q) => q.content);
  }

  /** answer asks the oldest open question. A dismissed one stays open. */
  async answer(): Promise<void> {
    const q = this.open[0];
    const data = q && await ask(q.content);
    if (data) await this.respond(data, q);
  }

  /** respond answers a question, by default the oldest that is open. */
  async respond(data: object, q = this.open[0]): Promise<void> {
    if (!q) return;
    try {
      await this.api.respond(q.id, q.content.interaction_type, data);
    } catch (err) {
      if (kind(err) === 'RESPONSE_VALIDATION_FAILED') {
        void vscode.window.showWarningMessage(message(err));
        return;
      }
      void vscode.window.showInformationMessage(message(err));
    }
    this.drop(q.id);
    this.tell();
  }

  private drop(id: string): void {
    const at = this.open.findIndex((q) => q.id === id);
    if (at >= 0) this.open.splice(at, 1);
  }

  private tell(): void {
    void vscode.commands.executeCommand('setContext', 'kaiak.asking', this.open.length > 0);
    this.changed.fire(this.open.length);
  }
}

async function ask(content: InteractionContent): Promise<object | undefined> {
  switch (content.interaction_type) {
    case 'choice': {
      const choice = await vscode.window.showQuickPick(content.choices ?? [], { title: content.prompt, ignoreFocusOut: true });
      return choice === undefined ? undefined : { choice };
    }
    case 'input': {
      const input = await vscode.window.showInputBox({ title: 'Kaiak', prompt: content.prompt, ignoreFocusOut: true });
      return input === undefined ? undefined : { input };
    }
    default: {
      const answer = await vscode.window.showQuickPick(['Yes', 'No'], { title: content.prompt, ignoreFocusOut: true });
      return answer === undefined ? undefined : { confirmed: answer === 'Yes' };
    }
  }
}
