// Waiting for conditions, driven by events: never by a fixed time.

import * as vscode from 'vscode';

/** An event of the editor or the extension; what it tells is not looked at. */
type Listen = (listener: () => void) => vscode.Disposable;

const patience = 30_000; // ms; only a hang comes this far

/** until resolves when the condition holds, asked again after each of the events. */
export function until<T>(what: string, condition: () => T | undefined | false, ...events: Listen[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const subscriptions: vscode.Disposable[] = [];
    const finish = (act: () => void) => {
      clearTimeout(timer);
      subscriptions.forEach((s) => s.dispose());
      act();
    };
    const check = () => {
      const value = condition();
      if (value !== undefined && value !== false) finish(() => resolve(value));
    };
    const timer = setTimeout(() => finish(() => reject(new Error(`waited in vain for ${what}`))), patience);
    for (const event of events) subscriptions.push(event(check));
    check();
  });
}
