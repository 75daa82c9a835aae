import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../base/observability/logger.js';
import type { PolicyInformer } from './policy-informer.js';

/** How long changes of a namespace are collected before the server reads what found no room. */
const usualPauseMs = 10_000;
/** Warnings come at most this often. */
const quietMs = 60_000;

/** Reports roles and bindings that find no room in memory, and reads them once there is room. */
export class PolicyUpkeep {
  private readonly withRoom = new Set<string>();
  private informer: PolicyInformer | undefined;
  private signal: AbortSignal = AbortSignal.abort();
  private running: Promise<void> | undefined;
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly logger: Logger,
    private readonly pauseMs = usualPauseMs,
  ) {}

  start(informer: PolicyInformer, signal: AbortSignal): void {
    this.informer = informer;
    this.signal = signal;
  }

  /** Resolves when no more reads are under way after the abort. */
  async stopped(): Promise<void> {
    await this.running;
  }

  /** A role or binding of the namespace has found no room. */
  leftOut(namespace: string): void {
    if (performance.now() - this.warnedAt < quietMs) return;
    this.warnedAt = performance.now();
    this.logger.warn('roles and bindings of a namespace take too much memory; some of them are not in force', {
      namespace,
    });
  }

  /** There is room again in a namespace of which something was left out. */
  hasRoom(namespace: string): void {
    this.withRoom.add(namespace);
    this.running ??= this.run();
  }

  private async run(): Promise<void> {
    const { signal } = this;
    await delay(this.pauseMs, undefined, { signal }).catch(() => undefined);
    const namespaces = [...this.withRoom];
    this.withRoom.clear();
    try {
      for (const namespace of namespaces) if (!signal.aborted) await this.informer?.readLeftOut(namespace, signal);
    } catch (error) {
      this.logger.warn('roles and bindings beyond the memory limit could not be read', { error });
      for (const namespace of namespaces) this.withRoom.add(namespace);
    }
    this.running = this.withRoom.size > 0 && !signal.aborted ? this.run() : undefined;
  }
}
