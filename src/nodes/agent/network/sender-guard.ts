import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { watchPath } from '../watch-path.js';
import { networkName } from './network-configuration.js';
import { runNetworkProgram } from './network-program.js';
import { interfaceName, resultsFolder } from './plugin-folders.js';
import type { PodNetwork } from './pod-network.js';
import { noSenderRules, type PodPort, podPort, senderRules } from './sender-rules.js';

export interface SenderGuardDependencies {
  readonly network: Pick<PodNetwork, 'ownRanges'>;
  readonly bridge: string;
  /** Whether senders are checked; if not, rules of an earlier agent are removed. */
  readonly isOn: boolean;
  readonly timers: Pick<Timers, 'wait'>;
  readonly logger: Logger;
  /** Runs a transaction of nft. @throws Error */
  readonly apply?: (script: string) => Promise<void>;
  /** Where results of plugins are recorded; default: the real folder. */
  readonly results?: string;
}

/** Changes that come at the same time are one transaction. */
const gatherMs = 20;
/** How long to wait for the rest of a record that is being written. */
const unfinishedMs = 100;
/** Without a notification of the kernel, and where the network is not configured yet. */
const lookMs = 30_000;

/**
 * Keeps pods of the agent's own network from sending under the address of another one, which would pass its network
 * policies: whoever may send raw packets could do that. The rules follow what the network plugins have recorded, so a
 * pod has them some milliseconds after its interface is made, before its containers are.
 */
export class SenderGuard {
  private readonly known = new Map<string, PodPort | undefined>();
  private applied: string | undefined;
  private isBroken = false;
  private hasChanged = true;
  private wake: () => void = () => undefined;

  constructor(private readonly dependencies: SenderGuardDependencies) {}

  /** Follows the records until it is stopped. The rules stay, as the pods do. */
  async run(signal: AbortSignal): Promise<void> {
    const { network, isOn, timers, results = resultsFolder } = this.dependencies;
    if (!isOn) return this.attempt(noSenderRules(this.dependencies.bridge));
    await fs.mkdir(results, { recursive: true, mode: 0o700 }).catch(() => undefined);
    const watcher = watchPath(results, () => this.changed());
    try {
      while (!signal.aborted) {
        this.hasChanged = false;
        const isComplete = network.ownRanges.length === 0 || (await this.look(results));
        if (!this.hasChanged) await this.pause(isComplete ? lookMs : unfinishedMs, signal);
        await timers.wait(gatherMs, signal);
      }
    } finally {
      watcher?.close();
    }
  }

  /** The records, or the network itself, may have changed. */
  changed(): void {
    this.hasChanged = true;
    this.wake();
  }

  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    this.wake = () => ended.abort();
    await this.dependencies.timers.wait(ms, AbortSignal.any([signal, ended.signal]));
  }

  /** @returns false when a record could not be read to its end */
  private async look(results: string): Promise<boolean> {
    const all = await fs.readdir(results).catch(() => []);
    const own = all.filter((name) => name.startsWith(`${networkName}-`) && name.endsWith(`-${interfaceName}`)).sort();
    const there = new Set(own);
    for (const name of this.known.keys()) if (!there.has(name)) this.known.delete(name);
    let isComplete = true;
    for (const name of own) {
      if (this.known.has(name)) continue;
      try {
        this.known.set(name, podPort(await fs.readFile(join(results, name), 'utf8'), this.dependencies.bridge));
      } catch {
        // It is gone, or not written to its end.
        isComplete = false;
      }
    }
    const ports = own.flatMap((name) => this.known.get(name) ?? []);
    const script = senderRules(this.dependencies.bridge, ports);
    if (script !== this.applied) await this.attempt(script);
    return isComplete;
  }

  private async attempt(script: string): Promise<void> {
    const { apply = applyRules, logger } = this.dependencies;
    try {
      await apply(script);
      this.applied = script;
      this.isBroken = false;
    } catch (error) {
      if (!this.isBroken) {
        logger.warn('the senders of packets of pods are not checked: network policies can be passed', {
          error: errorText(error),
        });
      }
      this.isBroken = true;
    }
  }
}

async function applyRules(script: string): Promise<void> {
  const { code, errors } = await runNetworkProgram('nft', ['-f', '-'], {}, script);
  if (code !== 0) throw new Error(`nft: ${errors.trim()}`);
}
