import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithUs } from '../support/child-guard.js';

/** The memory limit of the process in bytes; undefined for programs whose limits are unknown. */
export interface MemoryLimits {
  readonly resident?: number;
  readonly heap?: number;
}

export interface Program {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Folder of its log and of its heap reports. */
  readonly folder: string;
  readonly limits?: MemoryLimits;
}

/** The pause between an unexpected end and the next start, like that of a service supervisor. */
const restartMs = 1_000;
/** Longer than a stop that waits for requests to finish. */
const stopMs = 90_000;

/** A process that is restarted whenever it ends, with a record of its ends. */
export class Supervised {
  /** Its unexpected ends, each with the last lines of its log. */
  readonly ends: string[] = [];
  readonly logFile: string;
  private child: ChildProcess | undefined;
  private isWanted = false;

  constructor(private readonly program: Program) {
    this.logFile = join(program.folder, `${program.name.replaceAll(' ', '-')}.log`);
  }

  get name(): string {
    return this.program.name;
  }

  get limits(): MemoryLimits {
    return this.program.limits ?? {};
  }

  get folder(): string {
    return this.program.folder;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  start(): void {
    this.isWanted = true;
    const { file, args, env } = this.program;
    const child = spawn(file, args, { env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const log = createWriteStream(this.logFile, { flags: 'a' });
    child.stdout?.pipe(log, { end: false });
    child.stderr?.pipe(log, { end: false });
    endWithUs(child);
    child.once('close', (code, signal) => {
      log.end();
      if (this.child !== child) return;
      this.child = undefined;
      if (this.isWanted) void this.startAgain(`${code ?? signal}`);
    });
    this.child = child;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.isWanted = false;
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    const late = setTimeout(() => child.kill('SIGKILL'), stopMs);
    child.kill(signal);
    await closed;
    clearTimeout(late);
  }

  /** The last lines of its log, without those about requests. */
  lastLines(count: number): string {
    if (!existsSync(this.logFile)) return '';
    return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
  }

  private async startAgain(how: string): Promise<void> {
    this.ends.push(`${this.name} ended with ${how}:\n${this.lastLines(12)}`);
    await delay(restartMs);
    if (this.isWanted) this.start();
  }
}
