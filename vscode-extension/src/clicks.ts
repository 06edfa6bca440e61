/** Server commands that a click runs: a lens, a link in a hover, a code action. */

import { memoryTitle } from './core/labels';
import { SERVER_COMMANDS, type Memory } from './core/protocol';
import type { Memories } from './memories';
import { tellError } from './messages';
import type { Server } from './server';
import type { Undo } from './undo';

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
        this.memories.pickOf(ids.map(String), store); // not as many tabs at once
        return undefined;
      }
      const result = await this.server.run<{ memory?: Memory } | null>(command, argument);
      this.changed();
      if (result?.memory !== undefined) {
        this.tell(command, { memory: result.memory, root: store });
      }
      return result;
    } catch (error) {
      tellError(error);
      return undefined;
    }
  }

  private tell(command: string, found: { memory: Memory; root: { root?: string } }): void {
    if (command === SERVER_COMMANDS.forget) {
      this.memories.offerRestore(found);
    } else if (command === SERVER_COMMANDS.confirm) {
      this.undo.say(`Still true: ${memoryTitle(found.memory)}`);
    } else if (command === SERVER_COMMANDS.undoMove) {
      this.undo.say(`Not its code: ${memoryTitle(found.memory)}`);
    } else if (command === SERVER_COMMANDS.done) {
      this.undo.say(`Done: ${memoryTitle(found.memory)}`);
    } else if (command === SERVER_COMMANDS.snooze) {
      this.undo.say(`Due again tomorrow: ${memoryTitle(found.memory)}`);
    } else if (command === SERVER_COMMANDS.notNow) {
      this.undo.say(`Not before the next start: ${memoryTitle(found.memory)}`);
    } else if (command === SERVER_COMMANDS.reanchor) {
      this.undo.say(`Attached here: ${memoryTitle(found.memory)}`);
    }
  }
}
