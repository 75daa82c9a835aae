import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiledCodeFolder } from './compiled-code.js';
import type { AnswerMessage, CallMessage, HostCalls, HostMethod } from './messages.js';

const oldestNode = 24;
const shownLines = 20;

interface Call {
  readonly resolve: (value: unknown) => void;
  readonly reject: (text: string) => void;
}

type Parameter<Method extends HostMethod> = Parameters<HostCalls[Method]>[0];
type Answer<Method extends HostMethod> = Awaited<ReturnType<HostCalls[Method]>>;

/**
 * The process of the server. It ends when the channel to this process does, however this process ends. It does not keep
 * this process alive, except while a call waits for its response.
 */
export class HostProcess {
  readonly folder: string;
  private readonly child: ChildProcess;
  private readonly calls = new Map<number, Call>();
  private lastId = 0;
  private log = '';
  private end: string | undefined;
  private readonly ended: Promise<void>;

  constructor() {
    if (Number(process.versions.node.split('.')[0]) < oldestNode) {
      throw new Error(`plinth/testing needs Node ${oldestNode} or newer, and this is ${process.version}`);
    }
    this.folder = makeFolder();
    const log = openSync(this.logFile, 'a', 0o600);
    try {
      const program = fileURLToPath(new URL('../host/host-main.js', import.meta.url));
      this.child = spawn(process.execPath, [program], {
        stdio: ['ignore', log, log, 'ipc'],
        env: { NODE_COMPILE_CACHE: compiledCodeFolder(program), ...ownEnvironment() },
      });
    } finally {
      closeSync(log);
    }
    this.child.on('message', (message: AnswerMessage) => this.answered(message));
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.over(`the server could not be started: ${error.message}`);
        resolve();
      });
      this.child.once('exit', (code, signal) => {
        this.over(`the server ended with ${signal ?? `code ${code}`}`);
        resolve();
      });
    });
    this.letGo();
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** The last lines of the log. */
  logs(): string {
    try {
      return readFileSync(this.logFile, 'utf8');
    } catch {
      // The folder is removed with the server.
      return this.log;
    }
  }

  /** Calls the server. @throws Error with the server's message */
  async call<Method extends HostMethod>(
    method: Method,
    ...[parameter]: Parameter<Method> extends undefined ? [] : [Parameter<Method>]
  ): Promise<Answer<Method>> {
    if (this.end !== undefined) throw new Error(this.withLog(this.end));
    this.lastId += 1;
    const id = this.lastId;
    const message: CallMessage = { id, method, parameter };
    // Created here, so that its stack shows the caller.
    const fault = new Error();
    this.child.ref();
    this.child.channel?.ref();
    return new Promise<unknown>((resolve, reject) => {
      this.calls.set(id, {
        resolve,
        reject: (text) => {
          fault.message = text;
          reject(fault);
        },
      });
      this.child.send(message, (error) => {
        if (error !== null) this.answered({ id, error: `the server can't be reached: ${error.message}` });
      });
    }) as Promise<Answer<Method>>;
  }

  /** Ends the server. Nothing of it remains. */
  async stop(): Promise<void> {
    if (this.end === undefined) await this.call('stop').catch(() => undefined);
    await this.kill('SIGTERM');
  }

  /** Ends the server with a signal. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    this.child.ref();
    if (this.end === undefined) this.child.kill(signal);
    await this.ended;
  }

  /** A message with the last lines of the log. */
  withLog(message: string): string {
    const lines = this.logs().trimEnd().split('\n').slice(-shownLines);
    return lines.join('') === '' ? message : `${message}\nThe last lines of its log:\n  ${lines.join('\n  ')}`;
  }

  private get logFile(): string {
    return join(this.folder, 'server.log');
  }

  private answered(message: AnswerMessage): void {
    const call = this.calls.get(message.id);
    this.calls.delete(message.id);
    this.letGo();
    if ('error' in message) call?.reject(message.error);
    else call?.resolve(message.value);
  }

  private letGo(): void {
    if (this.calls.size > 0) return;
    this.child.unref();
    this.child.channel?.unref();
  }

  private over(end: string): void {
    this.log = this.logs();
    this.end = end;
    for (const { reject } of this.calls.values()) reject(this.withLog(end));
    this.calls.clear();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function makeFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), `plinth-test-${process.pid}-`));
  } catch (error) {
    throw new Error(
      `there is no place for the files of the server: ${(error as Error).message}; set TMPDIR to a folder that you may write`,
    );
  }
}

/** Flags of the program in the environment, and settings of the test's own Node, are not for the server. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(PLINTH_|NODE_OPTIONS$|NODE_V8_COVERAGE$|NODE_TEST_CONTEXT$|VITEST|JEST_)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
