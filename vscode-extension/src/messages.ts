/** How an error reaches the user: one message, in the server's words. */

import * as vscode from 'vscode';

/** An error's message; anything else that was thrown as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Shows one message for an error that a command ended with. */
export function tellError(error: unknown): void {
  void vscode.window.showErrorMessage(`Mnemolens: ${messageOf(error)}`);
}
