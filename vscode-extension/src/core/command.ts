/**
 * `mnemolens.server.command`: from the setting to a program and its arguments.
 *
 * Reads no file and starts nothing.
 */

import * as path from 'node:path';

export interface ServerCommand {
  program: string;
  args: string[];
}

/** What the setting may speak of. */
export interface CommandContext {
  /** The first folder's path, for `${workspaceFolder}` and relative programs. */
  folder: string | undefined;
  /** The user's home, for a leading `~`. */
  home: string;
  /** Backslashes separate folders instead of escaping. */
  windows: boolean;
}

/** A setting that can't be used; the message names what to change. */
export class CommandError extends Error {}

/**
 * The words of a command line: blanks separate, single and double quotes group, a backslash escapes (not on
 * Windows, where it separates folders).
 */
export function splitCommandLine(text: string, windows: boolean): string[] {
  const words: string[] = [];
  let word = '';
  let quote = '';
  let started = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quote !== '') {
      if (character === quote) {
        quote = '';
      } else if (character === '\\' && quote === '"' && !windows && /["\\]/u.test(text.charAt(index + 1))) {
        index += 1;
        word += text.charAt(index);
      } else {
        word += character;
      }
    } else if (character === '"' || character === "'") {
      quote = character;
      started = true;
    } else if (/\s/u.test(character)) {
      if (started) {
        words.push(word);
      }
      word = '';
      started = false;
    } else if (character === '\\' && !windows && index + 1 < text.length) {
      index += 1;
      word += text.charAt(index);
      started = true;
    } else {
      word += character;
      started = true;
    }
  }
  if (quote !== '') {
    throw new CommandError(`mnemolens.server.command: a ${quote} is never closed`);
  }
  if (started) {
    words.push(word);
  }
  return words;
}

function expand(word: string, context: CommandContext): string {
  let result = word;
  if (result === '~' || result.startsWith('~/') || (context.windows && result.startsWith('~\\'))) {
    result = context.home + result.slice(1);
  }
  if (result.includes('${workspaceFolder}')) {
    if (context.folder === undefined) {
      throw new CommandError('mnemolens.server.command: ${workspaceFolder} needs an open folder');
    }
    result = result.replaceAll('${workspaceFolder}', context.folder);
  }
  return result;
}

/**
 * The program and arguments of the setting; undefined when it is empty, which asks for the managed server.
 *
 * @throws CommandError when the setting is neither a list of strings nor a string that can be split.
 */
export function parseServerCommand(setting: unknown, context: CommandContext): ServerCommand | undefined {
  let words: string[];
  if (setting === undefined || setting === null) {
    return undefined;
  }
  if (typeof setting === 'string') {
    words = splitCommandLine(setting, context.windows);
  } else if (Array.isArray(setting) && setting.every((word): word is string => typeof word === 'string')) {
    words = setting;
  } else {
    throw new CommandError(
      'mnemolens.server.command: must be a list of strings, for example ["/path/to/python", "-m", "mnemolens", "serve"]',
    );
  }
  const [first, ...args] = words.map((word) => expand(word, context));
  if (first === undefined || first.trim() === '') {
    if (args.length > 0) {
      throw new CommandError('mnemolens.server.command: the first word, the program, is empty');
    }
    return undefined;
  }
  // The server does not run in the workspace folder (see server.ts), so a relative program is made absolute here.
  const paths = context.windows ? path.win32 : path.posix;
  const relative = /[\\/]/u.test(first) && !paths.isAbsolute(first);
  if (relative && context.folder === undefined) {
    throw new CommandError(`mnemolens.server.command: ${first} is relative, and no folder is open`);
  }
  return { program: relative ? paths.join(context.folder ?? '', first) : first, args };
}
