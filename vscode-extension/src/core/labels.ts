/**
 * What the user reads: prompt lines, pick labels, status texts.
 *
 * Owns the wording and makes foreign text safe to show. VS Code gives `$(icon)` and `[text](command:…)` a
 * meaning in labels, prompts and validation messages, so everything that comes from a memory, a symbol's name
 * or a server message passes through `plain` first.
 */

import type { FolderStatus, Link, Memory, MemoryDetail, Place, PreviewResult, PurgeResult, ServerStatus, Verdict } from './protocol';

const CALLABLE: ReadonlySet<string> = new Set(['function', 'method', 'method_sig', 'overload', 'lambda']);
const INERT = '\u2060'; // word joiner: invisible, and enough to keep the markup from being recognised

/** One line of inert text, at most `limit` characters. */
export function plain(text: string, limit = 200): string {
  const line = text
    // controls, line separators, and the marks that reorder text on screen
    .replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  const characters = Array.from(line);
  const short = characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : line;
  return short.replace(/\$\(/gu, `$${INERT}(`).replace(/\]\(/gu, `]${INERT}(`);
}

/** The last part of a POSIX path. */
export function baseName(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** What a person calls a place: `Payment.charge()`, `Payment`, `billing.py`. */
export function placeLabel(place: Place): string {
  if (place.qualname === '') {
    return plain(baseName(place.file));
  }
  return plain(place.qualname) + (CALLABLE.has(place.kind) ? '()' : '');
}

/** A place and the file it is in: `charge() in billing.py`; a file stands alone. */
export function placeInFile(place: Place): string {
  return place.qualname === '' ? placeLabel(place) : `${placeLabel(place)} in ${plain(baseName(place.file))}`;
}

function listed(labels: readonly string[], most: number): string {
  const shown = labels.slice(0, most).join(', ');
  return labels.length > most ? `${shown} and ${labels.length - most} more` : shown;
}

/** The target of a capture: the place that the cursor stands on, else undefined. */
export function captureTarget(links: readonly Link[]): Place | undefined {
  return links.find((link) => link.context === 'captured_here')?.target;
}

/**
 * The prompt of the capture input: `on charge() in billing.py · also links retry(), billing.py`.
 *
 * `fallback` names the target when the preview knows none (a file's name, or nothing when no file is open).
 */
export function capturePrompt(preview: PreviewResult, fallback: string | undefined): string {
  const target = captureTarget(preview.links);
  const parts: string[] = [];
  if (target !== undefined) {
    parts.push(`on ${placeInFile(target)}`);
  } else if (fallback !== undefined) {
    parts.push(`on ${plain(fallback)}`);
  } else {
    parts.push('on no code in particular');
  }
  const others = preview.links.filter((link) => link.context !== 'captured_here' && link.candidate !== true);
  const names = [...new Set(others.filter((link) => link.target.id !== target?.id).map((link) => placeLabel(link.target)))];
  if (names.length > 0) {
    parts.push(`also links ${listed(names, 3)}`);
  }
  if (preview.warnings.length > 0) {
    parts.push(...preview.warnings.map((warning) => plain(warning, 120)));
  } else if (preview.duplicateOf !== undefined && preview.duplicateOf !== null) {
    parts.push('already remembered');
  }
  const [similar] = preview.similar ?? [];
  if (similar !== undefined) {
    parts.push(`almost the same as “${plain(similar.title, 60)}”`);
  }
  if (preview.suggestion !== undefined) {
    parts.push(`may be about ${placeInFile(preview.suggestion.target)}`);
  }
  return parts.join(' · ');
}

/** The first line that says something, for memories without a title of their own. */
export function memoryTitle(memory: Pick<Memory, 'title' | 'content'>): string {
  const title = plain(memory.title, 80);
  return title === '' ? plain(memory.content.trimStart().split(/\r\n|\r|\n/u, 1)[0] ?? '', 80) : title;
}

const VERDICT_WORDS: Record<Verdict, string> = {
  fresh: 'fresh',
  moved: 'moved, please confirm',
  drifted: 'the code has changed since',
  ambiguous: 'several places match',
  unanchored: 'on no code',
  lost: 'its code is gone',
};

/** A verdict in words; an unknown one stands as it came. */
export function verdictLabel(verdict: string): string {
  return Object.hasOwn(VERDICT_WORDS, verdict) ? VERDICT_WORDS[verdict as Verdict] : plain(verdict, 40);
}

/** Where a memory stands now: its best placed anchor, else its best link, else nothing. */
export function memoryPlace(detail: Pick<MemoryDetail, 'anchors' | 'links'>): Place | undefined {
  return (
    captureTarget(detail.links) ??
    detail.anchors.find((anchor) => anchor.at !== null)?.at ??
    detail.links.find((link) => link.candidate !== true)?.target
  );
}

/** What other memories say of one, in words. */
function relationLabels(memory: Memory): string[] {
  return (memory.relations ?? []).map(
    ({ kind, title }) => `${kind === 'contradicts' ? 'contradicts' : 'superseded by'} “${plain(title, 60)}”`,
  );
}

/** When a memory wants to be seen again; undefined where it does not. */
function dueLabel({ type, dueAt, trigger }: Memory): string | undefined {
  if (type !== 'prospective') {
    return undefined;
  }
  if (dueAt !== undefined && dueAt !== null) {
    return `due ${new Date(dueAt).toLocaleDateString('sv')}`; // Sweden writes 2026-12-01
  }
  switch (trigger?.on) {
    case 'change':
      return 'due when its code changes';
    case 'open':
      return 'due when its file is opened';
    case 'merge':
      return `due when ${plain(trigger.branch ?? 'its branch', 60)} is merged`;
    case undefined:
      return undefined;
  }
}

/**
 * The second line of a pick: verdict, place and more, and the content's beginning where the title does not say it.
 *
 * @param besides what to show instead of the beginning: the piece that a search found, or why it is due
 */
export function memoryDetail(memory: Memory, place: Place | undefined, besides?: string): string {
  const active = memory.status === 'active';
  const parts = [active ? verdictLabel(memory.verdict) : plain(memory.status, 40)];
  if (memory.fromBranch !== undefined) {
    parts.push(`from ${memory.fromBranch.includes(' ') ? '' : 'branch '}${plain(memory.fromBranch, 60)}`);
  }
  if (place !== undefined) {
    parts.push(`on ${placeLabel(place)}${place.qualname === '' ? '' : ` in ${plain(place.file)}`}`);
  }
  const due = active ? dueLabel(memory) : undefined;
  parts.push(...relationLabels(memory), ...(due === undefined ? [] : [due]));
  const title = memoryTitle(memory).replace(/…$/u, '');
  const content = plain(besides ?? memory.content, 200);
  const rest = content.startsWith(title) ? content.slice(title.length).replace(/^[\s.;:!?–—-]+/u, '') : content;
  if (rest !== '') {
    parts.push(plain(rest, 120));
  }
  return parts.join(' · ');
}

/** What is asked before a memory is removed for good. */
export function purgeQuestion(memory: Pick<Memory, 'title' | 'content'>): { message: string; detail: string } {
  return {
    message: `Remove “${memoryTitle(memory)}” for good?`,
    detail: 'Its text is taken out of the journal and out of all daily copies. This cannot be undone; Forget can.',
  };
}

/** What removing it did. */
export function purgeSaid(result: PurgeResult): string {
  return result.pending.length === 0 ? 'Removed for good' : 'Removed; another window still holds its text, and removes it';
}

/** `1 memory`, `2 memories`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

export type ServerState =
  | { kind: 'starting' }
  | { kind: 'ready' }
  | { kind: 'indexing'; done: number; total: number }
  | { kind: 'installing' }
  | { kind: 'none'; reason: string }
  | { kind: 'restricted' };

/** The status item's text, icons included. */
export function statusText(state: ServerState): string {
  switch (state.kind) {
    case 'starting':
      return '$(sync~spin) Mnemolens';
    case 'ready':
      return '$(note) Mnemolens';
    case 'indexing':
      return `$(sync~spin) Mnemolens ${state.done}/${state.total}`;
    case 'installing':
      return '$(sync~spin) Mnemolens: installing';
    case 'none':
      return '$(warning) Mnemolens: no server';
    case 'restricted':
      return '$(shield) Mnemolens: restricted';
  }
}

/** Adds up how far the folders' indexes are; undefined when all are idle. */
export function indexingTotals(folders: readonly FolderStatus[]): { done: number; total: number } | undefined {
  const busy = folders.map((folder) => folder.indexing).filter((progress) => progress !== null);
  if (busy.length === 0) {
    return undefined;
  }
  return {
    done: busy.reduce((sum, progress) => sum + progress.done, 0),
    total: busy.reduce((sum, progress) => sum + progress.total, 0),
  };
}

/** The status item's tooltip as plain lines. */
export function statusTooltip(state: ServerState, status: ServerStatus | undefined): string {
  switch (state.kind) {
    case 'starting':
      return 'Mnemolens: the language server is starting';
    case 'installing':
      return 'Mnemolens: the language server is being installed';
    case 'none':
      return `Mnemolens: ${state.reason}`;
    case 'restricted':
      return 'Mnemolens does not run in Restricted Mode: memories and settings of this folder are not trusted yet';
    case 'ready':
    case 'indexing': {
      if (status === undefined) {
        return 'Mnemolens';
      }
      const lines = [`Mnemolens ${plain(status.version, 40)}`];
      for (const folder of status.folders) {
        lines.push(folderLine(folder));
      }
      return lines.join('\n');
    }
  }
}

const MAX_NAMED = 3;
const MAX_NAME = 60;

/** The first few of so many files, in brackets. */
function someOf(files: string[], total: number): string {
  const shown = files.slice(0, MAX_NAMED).map((file) => plain(file, MAX_NAME));
  if (shown.length === 0) {
    return '';
  }
  return ` (${[...shown, ...(total > shown.length ? ['…'] : [])].join(', ')})`;
}

function folderLine(folder: FolderStatus): string {
  const parts = [
    counted(folder.memories, 'memory', 'memories'),
    counted(folder.symbols, 'symbol', 'symbols'),
    counted(folder.files, 'file', 'files'),
  ];
  for (const verdict of ['drifted', 'moved', 'ambiguous', 'lost']) {
    const count = folder.verdicts[verdict] ?? 0;
    if (count > 0) {
      parts.push(`${count} ${verdict}`);
    }
  }
  if (folder.indexStopped === true) {
    parts.push('reading the code was stopped');
  }
  const due = folder.linksDue ?? 0;
  if (due > 0) {
    parts.push(`${counted(due, 'memory', 'memories')} to be linked by the new rules`);
  }
  const skipped = folder.skippedTotal ?? folder.skipped.length;
  if (skipped > 0) {
    parts.push(`${counted(skipped, 'file', 'files')} skipped`);
  }
  const partial = folder.partialTotal ?? 0;
  if (partial > 0) {
    parts.push(`${counted(partial, 'file', 'files')} read in part${someOf(folder.partial ?? [], partial)}`);
  }
  return `${plain(folder.root)}: ${parts.join(' · ')}`;
}
