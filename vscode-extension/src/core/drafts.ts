/**
 * The text that was being typed when the capture input was dismissed.
 *
 * Lives in memory only: a draft may hold a secret that the server would refuse, and nothing of a refused text
 * may reach the disk.
 */
export class Drafts {
  private text = '';

  /** The text to begin the next capture with. */
  get current(): string {
    return this.text;
  }

  /** Keeps the text of a dismissed input; blank text clears the draft. */
  keep(text: string): void {
    this.text = text.trim() === '' ? '' : text;
  }

  /** Forgets the draft: it was saved as a memory. */
  clear(): void {
    this.text = '';
  }
}
