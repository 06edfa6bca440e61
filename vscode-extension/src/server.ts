/**
 * The language client's life: start, stop, restart, and why a start failed.
 *
 * Owns the process and the one client for all folders. Knows nothing of inputs or picks; it reports its state
 * through an event and leaves showing it to `status.ts`.
 */

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ExecuteCommandRequest,
  LanguageClient,
  State,
  type ShowDocumentParams,
  type ShowDocumentResult,
  type LanguageClientOptions,
} from 'vscode-languageclient/node';
import type { ServerCommand } from './core/command';
import { explainCrashes, explainFailure, Tail, type ServerEnd } from './core/failures';
import type { ServerState } from './core/labels';
import { HOVER_COMMANDS } from './core/protocol';
import { RestartBudget } from './core/restarts';
import { configurationMiddleware, serverSettings } from './configuration';
import { messageOf } from './messages';

/** Runs a server command for a click (hover, lens, code action). */
export type ClickHandler = (command: string, argument: object) => Promise<unknown>;

const STOP_MS = 2000;
/** A program that says nothing for so long is no language server. */
const START_MS = 60_000;

/** The library's notifications name protocol methods; ours say what to change, so its own only go to the log. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override info(message: string, data?: unknown): void {
    super.info(message, data, false);
  }
}

/** One client from its start to its stop, over all crashes between. */
interface Session extends Pick<ServerEnd, 'command' | 'managed'> {
  /** It has started once and was not asked to stop: a server that ends then is started again. */
  up: boolean;
}

class ServerProcess {
  readonly stderr = new Tail();
  readonly ended: Promise<number | null>;

  private constructor(
    readonly child: ChildProcessWithoutNullStreams,
    log: vscode.LogOutputChannel,
  ) {
    // The server sends its log through the protocol too: here it is only kept for an end that needs explaining.
    createInterface({ input: child.stderr, crlfDelay: Infinity }).on('line', (line) => {
      this.stderr.add(`${line}\n`);
      log.debug(line);
    });
    this.ended = new Promise((resolve) => {
      child.on('close', (code) => {
        resolve(code);
      });
    });
  }

  /** @throws the spawn error (`code` is ENOENT, EACCES, …) when the program can't be started. */
  static async spawn(command: ServerCommand, cwd: string, log: vscode.LogOutputChannel): Promise<ServerProcess> {
    const child = spawn(command.program, command.args, { cwd, stdio: 'pipe', windowsHide: true });
    const started = new ServerProcess(child, log);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.on('error', () => undefined); // a failed kill is not worth an exception
    child.stdin.on('error', () => undefined); // EPIPE: the end of the process is reported by `ended`
    return started;
  }

  async endWithin(milliseconds: number): Promise<number | null | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        resolve(undefined);
      }, milliseconds);
    });
    const code = await Promise.race([this.ended, late]);
    clearTimeout(timer);
    return code;
  }
}

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private process: ServerProcess | undefined;
  private session: Session | undefined;
  private readonly budget = new RestartBudget();
  private readonly changed = new vscode.EventEmitter<ServerState>();
  private current: ServerState = { kind: 'starting' };
  /** True from a start that was asked for until it succeeded or failed. */
  private first = false;
  /** Starts and stops run one after the other, in the order they were asked for. */
  private queue: Promise<void> = Promise.resolve();

  private readonly worked = new vscode.EventEmitter<void>();
  private readonly gaveUp = new vscode.EventEmitter<string>();

  readonly onDidChangeState = this.changed.event;
  /** The server reports progress of some work. */
  readonly onDidWork = this.worked.event;
  /** The server crashed too often and is not started again by itself; the state's reason says why. */
  readonly onDidGiveUp = this.gaveUp.event;

  /**
   * @param log where the server's stderr and the client's messages go
   * @param cwd the folder the server runs in: never the workspace, whose files could shadow Python's modules
   *   (`python -m` puts the current folder first on its path)
   * @param clicked runs the server commands that a click asks for
   */
  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly cwd: string,
    private readonly clicked: ClickHandler,
  ) {}

  get state(): ServerState {
    return this.current;
  }

  setState(state: ServerState): void {
    this.current = state;
    this.changed.fire(state);
  }

  get isRunning(): boolean {
    return this.client?.isRunning() === true;
  }

  /** Starts the server, stopping one that runs. Failing is told by the state and by the answer's message. */
  async start(command: ServerCommand, managed: boolean): Promise<string | undefined> {
    this.interruptStart();
    return this.enqueue(async () => {
      await this.stopNow();
      this.budget.reset();
      this.setState({ kind: 'starting' });
      this.first = true;
      const failure = await this.startNow(command, managed);
      this.first = false;
      this.setState(failure === undefined ? { kind: 'ready' } : { kind: 'none', reason: failure });
      return failure;
    });
  }

  async stop(): Promise<void> {
    this.interruptStart();
    return this.enqueue(async () => this.stopNow());
  }

  /**
   * Runs one of the server's commands.
   *
   * @throws Error with the server's message, which names the field to change
   */
  async run<Result>(command: string, argument: object, token?: vscode.CancellationToken): Promise<Result> {
    if (this.current.kind === 'starting') {
      await this.queue;
    }
    if (this.client?.isRunning() !== true) {
      const reason = this.current.kind === 'none' ? this.current.reason : 'the language server is not running yet';
      throw new Error(reason);
    }
    const params = { command, arguments: [argument] };
    return (await this.client.sendRequest(ExecuteCommandRequest.type, params, token)) as Result;
  }

  /** A document's URI as the server is told it. */
  asUri(uri: vscode.Uri): string {
    return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }

  dispose(): void {
    void this.stop().catch(() => undefined);
    this.changed.dispose();
    this.worked.dispose();
    this.gaveUp.dispose();
  }

  private async enqueue<Result>(act: () => Promise<Result>): Promise<Result> {
    const result = this.queue.then(act);
    this.queue = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Ends a server that has not answered yet, so that what was asked for next need not wait for it. */
  private interruptStart(): void {
    if (this.first) {
      this.process?.child.kill();
    }
  }

  private async startNow(command: ServerCommand, managed: boolean): Promise<string | undefined> {
    const session: Session = { command, managed, up: false };
    const end: ServerEnd = { command, managed, stderr: '' };
    const launch = async (): Promise<ChildProcessWithoutNullStreams> => {
      this.log.info(`Starting ${[command.program, ...command.args].join(' ')}`);
      this.process = await ServerProcess.spawn(command, this.cwd, this.log);
      return this.process.child;
    };
    let first: ChildProcessWithoutNullStreams | undefined;
    try {
      first = await launch();
    } catch (error) {
      this.log.error(messageOf(error));
      return explainFailure({ ...end, spawnError: codeOf(error) });
    }
    const client = new QuietClient(
      'mnemolens',
      'Mnemolens',
      async () => {
        if (first !== undefined) {
          const child = first;
          first = undefined;
          return child;
        }
        try {
          return await launch();
        } catch (error) {
          this.setState({ kind: 'none', reason: explainFailure({ ...end, spawnError: codeOf(error) }) });
          throw error;
        }
      },
      this.clientOptions(session),
    );
    this.client = client;
    this.session = session;
    client.onDidChangeState(({ newState }) => {
      if (session.up && newState === State.Running) {
        this.setState({ kind: 'ready' }); // after a crash
      }
    });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      this.interruptStart();
    }, START_MS);
    try {
      await client.start();
      session.up = true;
      return undefined;
    } catch (error) {
      this.log.error(messageOf(error));
      this.client = undefined;
      const exitCode = await this.process?.endWithin(1000);
      const stderr = this.process?.stderr.toString() ?? '';
      this.log.error(stderr);
      this.process?.child.kill();
      this.process = undefined;
      return explainFailure({ ...end, timedOut, exitCode, stderr: stderr === '' ? messageOf(error) : stderr });
    } finally {
      clearTimeout(timer);
    }
  }

  private async stopNow(): Promise<void> {
    const { client, process, session } = this;
    if (session !== undefined) {
      session.up = false;
    }
    this.client = undefined;
    this.process = undefined;
    try {
      await client?.dispose(STOP_MS);
    } catch (error) {
      this.log.warn(messageOf(error));
    }
    if (process !== undefined && (await process.endWithin(STOP_MS)) === undefined) {
      process.child.kill();
    }
  }

  private clientOptions(session: Session): LanguageClientOptions {
    return {
      // Every file: a memory can stand on any file, and the memories' own Markdown files save back by didSave.
      documentSelector: [{ scheme: 'file' }],
      initializationOptions: () => ({
        commandLinks: true,
        captureCommand: 'mnemolens.capture',
        settings: serverSettings(),
      }),
      outputChannel: this.log,
      stdioOptions: { stdout: () => undefined, stderr: () => undefined }, // `ServerProcess` reads stderr
      markdown: { isTrusted: { enabledCommands: HOVER_COMMANDS }, supportHtml: false },
      // Deprecated for the pull model, which we answer too; pushing also serves a server that does not register.
      // eslint-disable-next-line @typescript-eslint/no-deprecated
      synchronize: { configurationSection: 'mnemolens' },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: async () => this.closed(session),
      },
      middleware: {
        workspace: configurationMiddleware(() => this.client),
        // The status item shows the index's progress: no second item beside it.
        handleWorkDoneProgress: () => {
          this.worked.fire();
        },
        executeCommand: async (command, args: unknown[]) => this.clicked(command, args[0] ?? {}),
        window: { showDocument: async (params, token, next) => (await showFile(params)) ?? next(params, token) },
      },
    };
  }

  /** The connection closed though nobody asked: start again, but never in a loop. */
  private async closed(session: Session): Promise<{ action: CloseAction; handled: boolean }> {
    if (!session.up) {
      return { action: CloseAction.DoNotRestart, handled: true }; // asked for, or `startNow` explains it
    }
    if (this.budget.allow(Date.now())) {
      this.log.warn('The language server ended unexpectedly; starting it again');
      this.setState({ kind: 'starting' });
      return { action: CloseAction.Restart, handled: true };
    }
    const exitCode = await this.process?.endWithin(1000);
    const stderr = this.process?.stderr.toString() ?? '';
    this.log.error(stderr);
    const reason = explainCrashes({ ...session, exitCode, stderr });
    this.setState({ kind: 'none', reason });
    this.gaveUp.fire(reason);
    return { action: CloseAction.DoNotRestart, handled: true };
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

/**
 * Shows a file as a click in the explorer would; undefined for what is no file.
 *
 * The library's own way goes through the API's `openTextDocument`, which keeps the document open for three minutes
 * after its tab was closed; the server would not hear of the closing until then.
 */
async function showFile(params: ShowDocumentParams): Promise<ShowDocumentResult | undefined> {
  const uri = vscode.Uri.parse(params.uri);
  if (params.external === true || uri.scheme !== 'file') {
    return undefined;
  }
  const options: vscode.TextDocumentShowOptions = { preserveFocus: params.takeFocus !== true };
  if (params.selection !== undefined) {
    const { start, end } = params.selection;
    options.selection = new vscode.Range(start.line, start.character, end.line, end.character);
  }
  try {
    await vscode.commands.executeCommand('vscode.open', uri, options);
    return { success: true };
  } catch {
    return { success: false };
  }
}
