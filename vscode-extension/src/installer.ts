/** Asks for, shows and cancels the installation of the server (see `core/install.ts` for what it does). */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import type { ServerCommand } from './core/command';
import {
  bundledWheel,
  install,
  InstallError,
  installedCommand,
  removeUnused,
  type InstallContext,
} from './core/install';
import type { Run, RunResult } from './core/python';
import { messageOf } from './messages';

const DECLINED = 'declinedInstall';
/** All wheels together: 34 MB for CPython 3.11 on Linux x64, half of it numpy, a quarter Kuzu. */
const DOWNLOAD_MB = 35;

export class Installer {
  private readonly context: InstallContext;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.context = {
      storage: extension.globalStorageUri.fsPath,
      wheels: vscode.Uri.joinPath(extension.extensionUri, 'server').fsPath,
      version: (extension.extension.packageJSON as { version: string }).version,
      windows: process.platform === 'win32',
    };
  }

  /** The installed server; undefined when it has yet to be installed. Old environments are removed on the way. */
  installed(): ServerCommand | undefined {
    const command = installedCommand(this.context, Date.now());
    if (command !== undefined) {
      for (const name of removeUnused(this.context, Date.now())) {
        this.log.info(`Removed ${name}, the environment of an older version`);
      }
    }
    return command;
  }

  /** Whether this build carries a server to install. */
  get carriesServer(): boolean {
    return bundledWheel(this.context.wheels) !== undefined;
  }

  /** Whether the user has said no to installing this version. */
  get declined(): boolean {
    return this.extension.globalState.get(DECLINED) === this.context.version;
  }

  /** Asks whether to install; a no is remembered for this version. */
  async ask(): Promise<boolean> {
    const yes = 'Install';
    const no = 'Not Now';
    const answer = await vscode.window.showInformationMessage(
      `Mnemolens needs its language server: about ${DOWNLOAD_MB} MB from PyPI, into a folder of the extension's own.`,
      yes,
      no,
    );
    if (answer === no) {
      await this.extension.globalState.update(DECLINED, this.context.version);
    }
    return answer === yes;
  }

  /**
   * Installs, with a progress notification that can cancel.
   *
   * @returns the command, or undefined when the user cancelled
   * @throws InstallError with a message for the user
   */
  async install(): Promise<ServerCommand | undefined> {
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: 'Installing the Mnemolens language server',
      cancellable: true,
    };
    return vscode.window.withProgress(options, async (progress, token) => {
      const report = (message: string): void => {
        this.log.info(message);
        progress.report({ message });
      };
      try {
        const command = await install(this.context, this.runner(token), report, () => token.isCancellationRequested);
        await this.extension.globalState.update(DECLINED, undefined);
        return command;
      } catch (error) {
        if (token.isCancellationRequested) {
          this.log.info('The installation was cancelled');
          return undefined;
        }
        this.log.error(messageOf(error));
        throw error instanceof InstallError ? error : new InstallError(messageOf(error));
      }
    });
  }

  /** Runs programs in the extension's storage, logging what they say; ended when the user cancels. */
  private runner(token: vscode.CancellationToken): Run {
    return async (program, args) =>
      new Promise<RunResult>((resolve) => {
        this.log.info(`> ${[program, ...args].join(' ')}`);
        const child = spawn(program, args, { cwd: this.context.storage, windowsHide: true });
        const result: RunResult = { code: null, stdout: '', stderr: '' };
        const cancel = token.onCancellationRequested(() => child.kill());
        const settle = (code: number | null): void => {
          cancel.dispose();
          result.code = code;
          resolve(result);
        };
        const hear = (name: 'stdout' | 'stderr'): void => {
          createInterface({ input: child[name], crlfDelay: Infinity }).on('line', (line) => {
            result[name] += `${line}\n`;
            this.log.info(line);
          });
        };
        hear('stdout');
        hear('stderr');
        child.stdin.on('error', () => undefined);
        child.stdin.end(); // nobody answers questions
        child.on('error', (error) => {
          result.stderr += String(error);
          settle(null);
        });
        child.on('close', settle);
      });
  }
}
