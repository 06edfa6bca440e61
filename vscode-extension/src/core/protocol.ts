/**
 * The server's commands and the shapes that travel on the wire, as far as the extension reads them.
 *
 * Owns names and types only. The ids below are registered by the language client from what the server
 * advertises: the extension must never register them itself.
 */

export const SERVER_COMMANDS = {
  capture: 'mnemolens.memory.capture',
  preview: 'mnemolens.memory.preview',
  get: 'mnemolens.memory.get',
  list: 'mnemolens.memory.list',
  update: 'mnemolens.memory.update',
  forget: 'mnemolens.memory.forget',
  restore: 'mnemolens.memory.restore',
  done: 'mnemolens.memory.done',
  due: 'mnemolens.memory.due',
  snooze: 'mnemolens.memory.snooze',
  notNow: 'mnemolens.memory.notNow',
  access: 'mnemolens.memory.access',
  confirm: 'mnemolens.memory.confirm',
  undoMove: 'mnemolens.memory.undoMove',
  reanchor: 'mnemolens.memory.reanchor',
  link: 'mnemolens.memory.link',
  unlink: 'mnemolens.memory.unlink',
  open: 'mnemolens.memory.open',
  importPreview: 'mnemolens.import.preview',
  importRun: 'mnemolens.import.run',
  importUndo: 'mnemolens.import.undo',
  restoreStore: 'mnemolens.store.restore',
  purge: 'mnemolens.memory.purge',
  refuse: 'mnemolens.suggestion.refuse',
  context: 'mnemolens.context',
  conflicts: 'mnemolens.conflicts',
  rebuild: 'mnemolens.index.rebuild',
  resumeLinking: 'mnemolens.linking.resume',
  status: 'mnemolens.status',
} as const;

/** Commands that a link in a hover may run; any other command link in a hover is dead. */
export const HOVER_COMMANDS: readonly string[] = [
  SERVER_COMMANDS.open,
  SERVER_COMMANDS.confirm,
  SERVER_COMMANDS.undoMove,
  SERVER_COMMANDS.reanchor,
  SERVER_COMMANDS.done,
  SERVER_COMMANDS.forget,
];

export type Verdict = 'fresh' | 'moved' | 'drifted' | 'ambiguous' | 'unanchored' | 'lost';

/** An LSP position: 0-based line and UTF-16 column. */
export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Place {
  kind: string;
  file: string;
  qualname: string;
  ordinal: number;
  id: string;
  range?: Range | null;
}

export interface Link {
  target: Place;
  relevance: number;
  context: string;
  candidate?: boolean;
}

/** What another memory says of one. */
export interface Relation {
  kind: 'supersededBy' | 'contradicts';
  id: string;
  title: string;
}

export interface Memory {
  id: string;
  type: string;
  title: string;
  content: string;
  status: string;
  verdict: Verdict;
  author?: string | null;
  createdAt: string;
  /** The branch it was written on, where that is not part of what is checked out. */
  fromBranch?: string;
  relations?: Relation[];
  dueAt?: string | null;
  trigger?: { on: 'change' | 'open' | 'merge'; branch?: string } | null;
}

export interface Anchor {
  id: string;
  at: Place | null;
  verdict: Verdict;
  /** Where its code may have gone. */
  candidates?: (Place & { score: number })[];
}

/** A memory that is due, and why, in words. */
export interface DueNote {
  memory: Memory;
  why: string;
}

export interface PreviewResult {
  links: Link[];
  duplicateOf?: string | null;
  warnings: string[];
  /** Earlier memories that say almost the same, the most alike first. */
  similar?: { id: string; title: string }[];
  /** Code that the text may be about although it names none. */
  suggestion?: { target: Place };
}

export interface CaptureResult extends PreviewResult {
  memory: Memory;
}

/** What an agent should know at a place. */
export interface ContextResult {
  markdown: string;
  memories: string[];
  tokensUsed: number;
}

/** One memory that contradicts another. */
export interface Conflict {
  sourceId: string;
  targetId: string;
}

export interface MemoryDetail {
  memory: Memory;
  links: Link[];
  anchors: Anchor[];
}

/** Why a search found a memory: a piece of its text, with code point offsets of what was looked for. */
export interface Match {
  snippet: { text: string; spans: [number, number][] };
}

export interface MemoryPage {
  memories: Memory[];
  total: number;
  /** One for each memory, where a text was searched. */
  matches?: Match[];
}

export interface FolderStatus {
  root: string;
  files: number;
  symbols: number;
  memories: number;
  verdicts: Record<string, number>;
  skipped: { file: string; reason: string }[];
  skippedTotal?: number;
  /** Some of the files with a syntax error, or with syntax that their grammar does not know. */
  partial?: string[];
  partialTotal?: number;
  indexing: { done: number; total: number } | null;
  /** Reading the code was stopped: what was not read shows no memories. */
  indexStopped?: boolean;
  /** Memories that still have the links of earlier rules. */
  linksDue?: number;
  graph?: { state: string; reason?: string | null } | null;
  restore?: RestoreOffer | null;
}

/** A daily copy that a clone without memories could take in. */
export interface RestoreOffer {
  day: string;
  path: string;
}

export interface RestoreResult {
  memories: number;
}

/** Something in the code or an agent file that may become a memory; `line` counts from 1. */
export interface FoundNote {
  id: string;
  action: 'new' | 'edited';
  label: string;
  title: string;
  content: string;
  file: string;
  line: number;
}

export interface ImportPreview {
  items: FoundNote[];
  counts: { new: number; edited: number };
}

export interface ImportResult {
  sessionId: string | null;
  stored: number;
  updated: number;
  refused: unknown[];
}

/** What purging did; `pending` names what another process still holds. */
export interface PurgeResult {
  removed: string[];
  pending: string[];
}

/** Where a text that was refused holds a secret, and of what kind; offsets are code points. */
export interface SecretPlace {
  field: string;
  kind: string;
  start: number;
  end: number;
}

export interface ServerStatus {
  version: string;
  folders: FolderStatus[];
}
