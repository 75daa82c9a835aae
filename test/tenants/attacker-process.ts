import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../support/child-guard.js';
import type { Target } from './attacker.js';

/** The responses that attackers got, of one process or of several together. */
export interface Loot {
  readonly counts: Readonly<Record<string, number>>;
  /** The first refusal with each status code. */
  readonly samples: Readonly<Record<string, string>>;
  readonly megabytes: number;
  readonly fault?: string;
}

/**
 * The priority of attackers is lower than that of the servers, as if they ran on machines of their own, but not the
 * lowest: an attack without processor time is none.
 */
const niceness = 5;
const prepareMs = 90_000;
const endMs = 60_000;

/** One process of an attacker. */
export class AttackerProcess {
  private fault: string | undefined;

  private constructor(private readonly child: ChildProcess) {}

  /** Resolves when the attack is prepared. @param attack its name */
  static async start(target: Target, attack: string): Promise<AttackerProcess> {
    const file = fileURLToPath(new URL('./attacker.process.js', import.meta.url));
    const child = fork(file, [JSON.stringify(target), attack]);
    endWithUs(child);
    if (child.pid !== undefined) setPriority(child.pid, Math.min(19, getPriority() + niceness));
    const process = new AttackerProcess(child);
    const ready = once(child, 'message').then(([message]) => {
      process.fault = (message as { fault?: string }).fault;
    });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), prepareMs);
    await Promise.race([ready, once(child, 'exit'), once(late.signal, 'abort')]);
    clearTimeout(timer);
    return process;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  go(): void {
    if (this.child.connected) this.child.send('go');
  }

  /** Ends the attack, removes what outlives its namespace, and reports how it was answered. */
  async stop(): Promise<Loot> {
    const { child } = this;
    const none = { counts: {}, samples: {}, megabytes: 0 };
    if (!child.connected) return { ...none, fault: 'the attacker ended' };
    const exited = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), endMs);
    let loot: Loot = none;
    child.on('message', (message: { counts?: Loot['counts']; samples?: Loot['samples']; sentBytes?: number }) => {
      const { counts = {}, samples = {}, sentBytes = 0 } = message;
      loot = { counts, samples, megabytes: Math.round(sentBytes / 2 ** 20) };
    });
    child.send('stop');
    await exited;
    clearTimeout(timer);
    return this.fault === undefined ? loot : { ...loot, fault: this.fault };
  }
}
