import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../support/random.js';
import type { FailoverRecord } from './failover-record.js';
import { type Member, type PatroniSet, signal } from './patroni-set.js';

export const failoverKinds = ['database-killed', 'switchover', 'machine-killed', 'partitioned', 'frozen'] as const;
export type FailoverKind = (typeof failoverKinds)[number];

/** Gives the role of the primary to another member, in one way or another, while writers continue. */
export class Failovers {
  constructor(
    private readonly set: PatroniSet,
    private readonly record: FailoverRecord,
    private readonly random: Random,
    private readonly log: (line: string) => void,
  ) {}

  /** Returns the longest time without an acknowledged write, in milliseconds, once all members run again. */
  async run(kind: FailoverKind): Promise<number> {
    const { set, record } = this;
    await this.settled();
    await delay(this.random.below(1000));
    record.beginPause();
    const before = await set.primary();
    switch (kind) {
      case 'database-killed':
        signal(set.postmasterOf(before) ?? 0, 'SIGKILL');
        await this.another(before);
        break;
      case 'switchover':
        await set.switchOver();
        break;
      case 'machine-killed': {
        const gone = new Promise((resolve) => before.process.once('exit', resolve));
        for (const pid of set.processesOf(before)) signal(pid, 'SIGKILL');
        await this.another(before);
        await gone;
        set.restart(before);
        break;
      }
      case 'partitioned':
        // The primary can't renew its lock, but clients and standbys still reach it.
        before.toLocks.holdAnswers();
        before.toLocks.holdRequests();
        await this.another(before);
        before.toLocks.cut();
        break;
      case 'frozen': {
        const frozen = set.processesOf(before);
        for (const pid of frozen) signal(pid, 'SIGSTOP');
        await this.another(before);
        // Now there are two that believe that they are the primary.
        for (const pid of frozen) signal(pid, 'SIGCONT');
        break;
      }
    }
    await this.settled();
    await set.healed();
    await record.nextWrite();
    return record.pauseMs;
  }

  /** Another member is the primary, or Patroni could not agree on one in time, as on a machine that is too busy for its limits. */
  private async another(before: Member): Promise<void> {
    await this.set.primary(90_000, before).catch(() => this.log('no other member has become the primary'));
  }

  /** A write went through, and everybody runs. */
  private async settled(): Promise<void> {
    await this.record.nextWrite();
    await this.set.healed();
  }
}
