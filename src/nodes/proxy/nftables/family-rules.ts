import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { ServiceRules } from '../rules/rule-types.js';
import type { KernelTable } from './kernel-table.js';
import { RuleStore } from './rule-store.js';
import { changeScript, picksOf, removalScript, wholeScript } from './table-script.js';
import type { TableSettings } from './table-settings.js';
import { fixedChains } from './table-text.js';

/** The result of a write. */
export interface WriteResult {
  /** Whether the whole table was written, or only changes; undefined: there was nothing to write. */
  readonly kind: 'full' | 'partial' | undefined;
}

export interface FamilyRulesDependencies {
  readonly table: KernelTable;
  readonly timers: Pick<Timers, 'elapsed'>;
  readonly logger: Logger;
  /** Called when unreferenced chains could not be removed. */
  readonly onCleanupFailure: () => void;
}

/** Unreferenced chains are removed after this time: older kernels need it to notice that nothing refers to them. */
const staleMs = 1_000;

/** The table of one family in the kernel. One call at a time. */
export class FamilyRules {
  readonly store = new RuleStore();
  private readonly picks = new Set<string>();
  private stale = new Map<string, number>();
  private needsAll = true;
  private failures = 0;

  constructor(
    private readonly dependencies: FamilyRulesDependencies,
    private settings: TableSettings,
  ) {}

  /** Changes the settings. The next {@link write} writes the whole table. */
  use(settings: TableSettings): void {
    this.settings = settings;
    this.needsAll = true;
  }

  /** Makes the next write a write of the whole table. */
  distrust(): void {
    this.needsAll = true;
  }

  replace(service: string, rules: ServiceRules | undefined): void {
    this.store.replace(service, rules);
  }

  /**
   * Writes the changes, or the whole table. @throws Error when nft failed; the next call then writes the whole table
   */
  async write(): Promise<WriteResult> {
    const isWhole = this.needsAll;
    try {
      const wrote = isWhole ? await this.writeAll() : await this.writeChanges();
      this.failures = 0;
      this.needsAll = false;
      return { kind: isWhole ? 'full' : wrote ? 'partial' : undefined };
    } catch (error) {
      this.failures += 1;
      this.needsAll = true;
      throw error;
    }
  }

  /** Removes chains that have been unreferenced for a while. */
  async removeStale(): Promise<void> {
    const { table, timers, logger, onCleanupFailure } = this.dependencies;
    const old = [...this.stale].filter(([, since]) => timers.elapsed() - since > staleMs).map(([name]) => name);
    if (old.length === 0 || this.needsAll) return;
    for (const name of old) this.stale.delete(name);
    try {
      await table.run(removalScript(old, this.settings));
    } catch (error) {
      // The next write of the whole table finds them again.
      onCleanupFailure();
      logger.debug('unused chains could not be removed', { error });
    }
  }

  private async writeChanges(): Promise<boolean> {
    const changes = this.store.takeChanges();
    const script = changeScript(changes, this.settings, this.picks);
    if (script === '') return false;
    await this.dependencies.table.run(script);
    for (const name of changes.chains.keys()) this.stale.delete(name);
    this.markStale(changes.goneChains);
    return true;
  }

  private async writeAll(): Promise<boolean> {
    const { table } = this.dependencies;
    const all = this.store.takeAll();
    // The table of another release may not be compatible: the second attempt begins with an empty table, and forgets
    // the endpoints of clients.
    const present = this.failures > 0 ? undefined : await table.read();
    await table.run(wholeScript(all, this.settings, present));
    const picks = picksOf(all.added);
    this.picks.clear();
    for (const name of picks) this.picks.add(name);
    const wanted = new Set([...fixedChains(this.settings).keys(), ...picks, ...all.chains.keys()]);
    this.stale = new Map();
    this.markStale([...(present?.chains ?? [])].filter((name) => !wanted.has(name)));
    return true;
  }

  private markStale(names: Iterable<string>): void {
    for (const name of names) this.stale.set(name, this.dependencies.timers.elapsed());
  }
}
