/** The words of what comes into the store: a folder's own notes (TODO comments, AGENTS.md, CLAUDE.md), copies, secrets. */

import { baseName, counted, plain } from './labels';
import type { FoundNote, ImportPreview, ImportResult, RestoreOffer, RestoreResult, SecretPlace } from './protocol';

/** What a list of notes shows of one. */
export interface NoteWords {
  label: string;
  description: string;
  detail: string;
}

/** `Import notes from …` with how many there are; undefined while there is nothing new. */
export function importLabel({ counts }: Pick<ImportPreview, 'counts'>, folder?: string): string | undefined {
  const found = counts.new + counts.edited;
  if (found === 0) {
    return undefined;
  }
  const where = folder === undefined ? "this project's" : `${plain(baseName(folder), 40)}'s`;
  return `Import notes from ${where} comments and agent files… (${found})`;
}

/** `Try it on billing.py… (3)`; undefined while there is nothing new. */
export function tryLabel({ counts }: Pick<ImportPreview, 'counts'>, file: string): string | undefined {
  const found = counts.new + counts.edited;
  return found === 0 ? undefined : `Try it on ${plain(baseName(file), 60)}… (${found})`;
}

/** One note in the list to pick from. */
export function noteWords(note: FoundNote): NoteWords {
  const title = plain(note.title, 80);
  const rest = plain(note.content, 200);
  return {
    label: title,
    // A section without a heading above it is labelled as it is titled.
    description: [note.label === note.title ? '' : plain(note.label, 40), note.action === 'edited' ? 'edited since' : ''].filter((part) => part !== '').join(' · '),
    detail: [`${plain(note.file)}:${note.line}`, rest === title ? '' : rest].filter((part) => part !== '').join(' · '),
  };
}

/** What an import did: `Imported 3 notes, 1 updated · 2 hold secrets and were left out`. */
export function importSaid(result: ImportResult): string {
  const parts: string[] = [];
  if (result.stored > 0) {
    parts.push(`Imported ${counted(result.stored, 'note', 'notes')}`);
  }
  if (result.updated > 0) {
    parts.push(`${parts.length === 0 ? 'Updated' : 'updated'} ${counted(result.updated, 'note', 'notes')}`);
  }
  const said = parts.length === 0 ? 'Nothing new to import' : parts.join(', ');
  const { length } = result.refused;
  return length === 0 ? said : `${said} · left out ${length} with a secret`;
}

/** The menu's entry for a clone whose memories lie in a daily copy. */
export function restoreLabel(offer: RestoreOffer, folder?: string): string {
  const where = folder === undefined ? '' : ` in ${plain(baseName(folder), 40)}`;
  return `Restore this repository's memories${where} (copy of ${plain(offer.day, 10)})`;
}

/** What restoring did. */
export function restoreSaid(result: RestoreResult): string {
  return `Restored ${counted(result.memories, 'memory', 'memories')}`;
}

/** The secrets for which the server refused to store a text; undefined for any other error. */
export function secretsOf(error: unknown): SecretPlace[] | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) {
    return undefined;
  }
  const { reason, secrets } = (error.data ?? {}) as { reason?: unknown; secrets?: unknown };
  return reason === 'secret' && Array.isArray(secrets) ? (secrets as SecretPlace[]) : undefined;
}

/** Such a refusal for a person, who has a button instead of an argument. */
export function secretRefusal(secrets: readonly SecretPlace[]): string {
  const places = secrets.slice(0, 3).map(({ kind, start, end }) => `${plain(kind, 60)} (characters ${start + 1} to ${end})`);
  const more = secrets.length > places.length ? ` and ${secrets.length - places.length} more` : '';
  return `Nothing was stored: this looks like a secret: ${places.join(', ')}${more}. Take it out, or press “Store anyway” above`;
}
