import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import type { KernelTable } from '../nftables/kernel-table.js';
import { nftFamily } from '../nftables/table-text.js';
import type { Family } from '../rules/family.js';
import type { WantedPolicies } from './policy-state.js';

/** The name of the table with the policies, of which there is one for each family. */
export const policyTableName = 'plinth-policies';

export interface PolicyTableDependencies {
  readonly family: Family;
  readonly kernel: KernelTable;
  readonly timers: Pick<Timers, 'elapsed'>;
  readonly logger: Logger;
}

/** Chains and sets that nothing refers to are removed this long afterwards: older kernels notice only then that they are free. */
const staleMs = 1_000;
/** Elements in one command. */
const together = 1_000;

/** What the kernel has. */
interface Written {
  readonly chains: Map<string, string>;
  readonly sets: Map<string, Set<string>>;
  /** Elements of the three maps and sets of pods of this node: values by keys. */
  readonly fixed: Map<string, Map<string, string>>;
}

/** The policies of one family in the kernel. One call at a time. */
export class PolicyTable {
  private written: Written | undefined;
  private readonly stale = new Map<string, { readonly kind: 'chain' | 'set'; readonly since: number }>();
  private readonly table: string;

  constructor(private readonly dependencies: PolicyTableDependencies) {
    this.table = `${nftFamily(dependencies.family)} ${policyTableName}`;
  }

  /** The whole table is written next time. */
  distrust(): void {
    this.written = undefined;
  }

  /**
   * Writes what has changed, in one transaction, or the whole table in one.
   *
   * @param wanted undefined without any policy: then there is no table
   * @throws Error when nft failed; the next call writes everything
   */
  async write(wanted: WantedPolicies | undefined): Promise<'full' | 'partial' | undefined> {
    const { kernel } = this.dependencies;
    if (wanted === undefined) {
      this.distrust();
      if (!(await kernel.exists())) return undefined;
      await kernel.run(`delete table ${this.table}\n`);
      return 'full';
    }
    await this.removeStale();
    const isWhole = this.written === undefined;
    const base = this.written ?? { chains: new Map(), sets: new Map(), fixed: new Map() };
    const { lines, next } = this.changes(base, wanted);
    const all = isWhole ? [...this.baseLines(), ...lines] : lines;
    if (all.length === 0) return undefined;
    // Until it has succeeded, nobody knows what there is.
    this.written = undefined;
    await kernel.run(`${all.join('\n')}\n`);
    this.written = next;
    return isWhole ? 'full' : 'partial';
  }

  /** Removes chains and sets that nothing has referred to for a while. */
  private async removeStale(): Promise<void> {
    const { kernel, timers, logger } = this.dependencies;
    if (this.written === undefined) this.stale.clear();
    const old = [...this.stale].filter(([, { since }]) => timers.elapsed() - since > staleMs);
    if (old.length === 0) return;
    for (const [name] of old) this.stale.delete(name);
    const sorted = old.sort(([, a], [, b]) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0));
    try {
      await kernel.run(sorted.map(([name, { kind }]) => `delete ${kind} ${this.table} ${name}\n`).join(''));
    } catch (error) {
      // The next whole table is without them.
      logger.debug('unused chains of policies could not be removed', { error });
    }
  }

  private baseLines(): readonly string[] {
    const { family } = this.dependencies;
    const { table } = this;
    const ip = nftFamily(family);
    const address = family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
    const neighbours =
      'nd-router-solicit, nd-router-advert, nd-neighbor-solicit, nd-neighbor-advert, mld-listener-query';
    const rule = (text: string) => `add rule ${table} forward ${text}`;
    return [
      // In one transaction: there is no moment without a table.
      `add table ${table}`,
      `delete table ${table}`,
      `add table ${table}`,
      `add set ${table} same { type ${address} . ${address} ; }`,
      `add map ${table} ingress { type ${address} : verdict ; }`,
      `add map ${table} egress { type ${address} : verdict ; }`,
      // Packets that the node itself sends and receives pass other hooks.
      `add chain ${table} forward { type filter hook forward priority 10 ; }`,
      rule('ct state established,related accept'),
      // Between pods of one bridge these pass here, too; without them no address is found.
      ...(family === 'IPv6' ? [rule(`icmpv6 type { ${neighbours} } accept`)] : []),
      // No policy cuts a pod off from itself.
      rule(`${ip} saddr . ${ip} daddr @same accept`),
      rule(`${ip} saddr vmap @egress`),
      rule(`${ip} daddr vmap @ingress`),
    ];
  }

  private changes(base: Written, wanted: WantedPolicies): { readonly lines: string[]; readonly next: Written } {
    const { table } = this;
    const { family, timers } = this.dependencies;
    const address = family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
    const added: string[] = [];
    const removed: string[] = [];
    const next: Written = { chains: new Map(), sets: new Map(), fixed: new Map() };
    const lines: string[] = [];
    for (const [name, pods] of wanted.sets) {
      const before = base.sets.get(name);
      const touched = pods.takeTouched(family);
      const now = before ?? new Set<string>();
      next.sets.set(name, now);
      if (before === undefined) {
        this.stale.delete(name);
        const type = pods.set.port === undefined ? address : `${address} . inet_proto . inet_service`;
        lines.push(`add set ${table} ${name} { type ${type} ; }`, `flush set ${table} ${name}`);
      }
      const candidates = before === undefined ? [...pods.elements(family)] : touched;
      const gone = candidates.filter((element) => now.has(element) && !pods.has(family, element));
      const come = candidates.filter((element) => !now.has(element) && pods.has(family, element));
      for (const element of gone) now.delete(element);
      for (const element of come) now.add(element);
      removed.push(...this.elements('delete', name, gone));
      added.push(...this.elements('add', name, come));
    }
    lines.push(...removed, ...added);
    const changed = [...wanted.chains].filter(([name, rules]) => base.chains.get(name) !== rules.join('\n'));
    for (const [name, rules] of wanted.chains) next.chains.set(name, rules.join('\n'));
    for (const [name] of changed) {
      this.stale.delete(name);
      lines.push(`add chain ${table} ${name}`, `flush chain ${table} ${name}`);
    }
    for (const [name, rules] of changed) for (const rule of rules) lines.push(`add rule ${table} ${name} ${rule}`);
    lines.push(...this.fixedChanges(base, wanted, next));
    const goneChains = [...base.chains.keys()].filter((name) => !wanted.chains.has(name));
    for (const name of goneChains) lines.push(`flush chain ${table} ${name}`);
    const since = timers.elapsed();
    for (const name of goneChains) this.stale.set(name, { kind: 'chain', since });
    for (const name of base.sets.keys()) if (!wanted.sets.has(name)) this.stale.set(name, { kind: 'set', since });
    return { lines, next };
  }

  /** The chain of each pod of this node. */
  private fixedChanges(base: Written, { verdicts }: WantedPolicies, next: Written): readonly string[] {
    const jumps = (chains: ReadonlyMap<string, string>) =>
      new Map([...chains].map(([address, chain]) => [address, `jump ${chain}`]));
    const isolated = new Set([...verdicts.ingress.keys(), ...verdicts.egress.keys()]);
    const wanted = {
      same: new Map([...isolated].map((address) => [`${address} . ${address}`, ''])),
      ingress: jumps(verdicts.ingress),
      egress: jumps(verdicts.egress),
    };
    const lines: string[] = [];
    for (const [name, now] of Object.entries(wanted)) {
      const before = base.fixed.get(name) ?? new Map<string, string>();
      next.fixed.set(name, now);
      const gone = [...before].filter(([key, value]) => now.get(key) !== value).map(([key]) => key);
      const come = [...now].filter(([key, value]) => before.get(key) !== value);
      lines.push(...this.elements('delete', name, gone));
      lines.push(
        ...this.elements(
          'add',
          name,
          come.map(([key, value]) => (value === '' ? key : `${key} : ${value}`)),
        ),
      );
    }
    return lines;
  }

  private elements(command: 'add' | 'delete', set: string, texts: readonly string[]): string[] {
    const lines: string[] = [];
    for (let first = 0; first < texts.length; first += together) {
      lines.push(`${command} element ${this.table} ${set} { ${texts.slice(first, first + together).join(', ')} }`);
    }
    return lines;
  }
}
