/** How an error reaches the user: one message, in the server's words. */

import * as vscode from 'vscode';

/** An error's message; anything else that was thrown as text. `root` is a field that no user of the editor fills in. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/^root: /u, '');
}

/** Shows one message for an error that a command ended with. */
export function tellError(error: unknown): void {
  void vscode.window.showErrorMessage(`Mnemolens: ${messageOf(error)}`);
}
