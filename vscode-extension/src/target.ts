/** Where a command acts: the cursor of the active editor, or what a code action or menu says. */

import * as vscode from 'vscode';
import type { Position, Range } from './core/protocol';

/** The arguments that name a place to the server. */
export interface Target {
  uri?: string;
  position?: Position;
  range?: Range;
  root?: string;
}

/** The folder's path when several are open, so that a command without a URI knows which store it means. */
export function rootOf(uri: vscode.Uri | undefined): { root?: string } {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length < 2) {
    return {};
  }
  const folder = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(uri);
  return { root: (folder ?? folders[0])?.uri.fsPath ?? '' };
}

/** One argument for each open folder's store; a single folder needs none. */
export function storeRoots(): { root?: string }[] {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
  return folders.length < 2 ? [{}] : folders.map((folder) => ({ root: folder.uri.fsPath }));
}

/** The cursor and selection of the active editor; without a file on disk only the root. */
export function cursorTarget(asUri: (uri: vscode.Uri) => string): Target {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') {
    return rootOf(undefined);
  }
  const { active, start, end } = editor.selection;
  const target: Target = { uri: asUri(editor.document.uri), position: place(active) };
  if (!editor.selection.isEmpty) {
    target.range = { start: place(start), end: place(end) };
  }
  return target;
}

/**
 * A file by its path in the work tree, whose top may lie above the opened folder: what another file of it shows.
 *
 * @param known another file, and its path in the tree; without them the folder is taken for the top
 */
export function fileInTree(file: string, known: string | undefined, path: string | undefined): vscode.Uri {
  const other = known === undefined || path === undefined ? undefined : vscode.Uri.parse(known);
  if (other?.path.endsWith(`/${path}`) === true) {
    return other.with({ path: other.path.slice(0, other.path.length - (path ?? '').length) + file });
  }
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  return vscode.Uri.joinPath(folder?.uri ?? vscode.Uri.file('/'), file);
}

/** A target given by a code action: `{uri, position?, range?}`; undefined for anything else (a menu gives a Uri). */
export function givenTarget(argument: unknown): Target | undefined {
  if (typeof argument !== 'object' || argument === null || argument instanceof vscode.Uri) {
    return undefined;
  }
  const { uri, position, range, root } = argument as Target;
  if (typeof uri !== 'string') {
    return undefined;
  }
  return {
    uri,
    ...(position === undefined ? {} : { position }),
    ...(range === undefined ? {} : { range }),
    ...(root === undefined ? {} : { root }),
  };
}

function place(position: vscode.Position): Position {
  return { line: position.line, character: position.character };
}
