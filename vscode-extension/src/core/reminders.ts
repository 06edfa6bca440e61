/** When a memory wants to be seen again: what a user can choose, and a day that they write. */

import type { Memory } from './protocol';

/** The fields of a memory that make it a reminder, or none. */
export interface When {
  type: string;
  dueAt: string | null;
  trigger: { on: 'change' | 'open' | 'merge'; branch?: string } | null;
}

export interface ReminderChoice {
  label: string;
  /** Undefined where the day has still to be asked for. */
  when: When | undefined;
  /** What to say when it is set. */
  said: string;
}

/** In the morning, when somebody reads it. */
const HOUR = 9;

function due(dueAt: Date | null, on?: 'change' | 'open'): When {
  const trigger = on === undefined ? null : { on };
  return { type: 'prospective', dueAt: dueAt === null ? null : dueAt.toISOString(), trigger };
}

/** Some days from now, in the morning of the user's own time zone. */
function inDays(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, HOUR);
}

/** What a memory was before it became a reminder, or is now. */
export function whenOf({ type, dueAt, trigger }: Memory): When {
  return { type, dueAt: dueAt ?? null, trigger: trigger ?? null };
}

/** The choices for a memory; one that is a reminder can stop being one. */
export function reminderChoices(memory: Memory, now: Date): ReminderChoice[] {
  const choices: ReminderChoice[] = [
    { label: 'Tomorrow', when: due(inDays(now, 1)), said: 'Due tomorrow' },
    { label: 'In a week', when: due(inDays(now, 7)), said: 'Due in a week' },
    { label: 'On a day…', when: undefined, said: '' },
    { label: 'When its code changes', when: due(null, 'change'), said: 'Due when its code changes' },
    { label: 'When its file is opened', when: due(null, 'open'), said: 'Due when its file is opened' },
  ];
  if (memory.type === 'prospective') {
    choices.push({ label: 'Not at all', when: { type: 'semantic', dueAt: null, trigger: null }, said: 'No reminder any more' });
  }
  return choices;
}

/** The reminder for a day that was written as `2026-12-24`; undefined for anything else, and for a day in the past. */
export function onDay(text: string, now: Date): { when: When; said: string } | undefined {
  const match = /^(\d{4})-(\d\d?)-(\d\d?)$/u.exec(text.trim());
  if (match === null) {
    return undefined;
  }
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const morning = new Date(year, month - 1, day, HOUR);
  const exists = morning.getMonth() === month - 1 && morning.getDate() === day;
  return exists && morning > now ? { when: due(morning), said: `Due ${morning.toLocaleDateString('sv')}` } : undefined;
}
