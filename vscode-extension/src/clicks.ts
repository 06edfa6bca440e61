/** Server commands that a click runs: a lens, a link in a hover, a code action. */

import { memoryTitle } from './core/labels';
import { SERVER_COMMANDS, type Memory } from './core/protocol';
import type { Memories } from './memories';
import { tellError } from './messages';
import type { Server } from './server';
import type { Undo } from './undo';

/** What a command did, in words before the memory's title. */
const DID: Readonly<Record<string, string>> = {
  [SERVER_COMMANDS.confirm]: 'Still true',
  [SERVER_COMMANDS.undoMove]: 'Not its code',
  [SERVER_COMMANDS.done]: 'Done',
  [SERVER_COMMANDS.snooze]: 'Due again tomorrow',
  [SERVER_COMMANDS.notNow]: 'Not before the next start',
  [SERVER_COMMANDS.reanchor]: 'Attached here',
};

const LINKED = 'Linked here';
const UNLINKED = 'Not linked here any more';

interface Argument {
  ids?: unknown;
  root?: unknown;
}

export class Clicks {
  /** @param changed told when something may have changed */
  constructor(
    private readonly server: Server,
    private readonly memories: Memories,
    private readonly undo: Undo,
    private readonly changed: () => void,
  ) {}

  /** Runs the command, says what it did and how to take it back; an error becomes one message. */
  async run(command: string, argument: object): Promise<unknown> {
    const { ids, root } = argument as Argument;
    const store = typeof root === 'string' ? { root } : {};
    try {
      if (command === SERVER_COMMANDS.open && Array.isArray(ids) && ids.length > 1) {
        this.memories.pickOf(ids.map((id) => ({ id: String(id), root: store }))); // not as many tabs at once
        return undefined;
      }
      const result = await this.server.run<{ memory?: Memory } | null>(command, argument);
      this.changed();
      this.tell(command, argument, result?.memory, store);
      return result;
    } catch (error) {
      tellError(error);
      return undefined;
    }
  }

  private tell(command: string, argument: object, memory: Memory | undefined, root: { root?: string }): void {
    const did = DID[command];
    const { link, unlink } = SERVER_COMMANDS;
    if (command === link || command === unlink) {
      const [said, opposite, taken] = command === link ? [LINKED, unlink, UNLINKED] : [UNLINKED, link, LINKED];
      this.undo.offer(said, async () => {
        await this.server.run(opposite, argument);
        return taken;
      });
    } else if (command === SERVER_COMMANDS.refuse) {
      this.undo.say('Not offered here again');
    } else if (memory !== undefined && command === SERVER_COMMANDS.forget) {
      this.memories.offerRestore({ memory, root });
    } else if (memory !== undefined && did !== undefined) {
      this.undo.say(`${did}: ${memoryTitle(memory)}`);
    }
  }
}
