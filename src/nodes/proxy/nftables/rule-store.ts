import type { Element, ServiceRules, SetName } from '../rules/rule-types.js';

/** The changes that bring the table up to date. */
export interface TableChanges {
  readonly removed: readonly Element[];
  readonly added: readonly Element[];
  /** New chains, and those whose rules have changed. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  readonly goneChains: readonly string[];
  readonly affinitySets: ReadonlyMap<string, number>;
  readonly goneAffinitySets: readonly string[];
}

/** An element, and the services that claim its key, with the same value or different ones. */
interface Entry {
  owner: string;
  value: string;
  others: Map<string, string> | undefined;
}

/**
 * The rules of all services, and the pending changes. Two services can claim the same address and port: the first one
 * by its name gets the packets; the other one gets them when the first is gone.
 */
export class RuleStore {
  private readonly services = new Map<string, ServiceRules>();
  private readonly entries = new Map<SetName, Map<string, Entry>>();
  private readonly chains = new Map<string, readonly string[]>();
  private readonly affinitySets = new Map<string, number>();
  /** The state before the pending changes. */
  private readonly valuesBefore = new Map<SetName, Map<string, string | undefined>>();
  private readonly chainsBefore = new Map<string, readonly string[] | undefined>();
  private readonly affinityBefore = new Map<string, number | undefined>();

  /** Ports without endpoints on this node, by the policy that makes their packets stay. */
  get withoutLocal(): { internal: number; external: number } {
    const total = { internal: 0, external: 0 };
    for (const { withoutLocal } of this.services.values()) {
      total.internal += withoutLocal.internal;
      total.external += withoutLocal.external;
    }
    return total;
  }

  /** @param rules undefined when the service is gone */
  replace(service: string, rules: ServiceRules | undefined): void {
    const before = this.services.get(service);
    for (const { set, key } of before?.elements ?? []) this.removeElement(set, key, service);
    for (const name of before?.chains.keys() ?? []) this.setChain(name, undefined);
    for (const name of before?.affinitySets.keys() ?? []) this.setAffinity(name, undefined);
    for (const { set, key, value } of rules?.elements ?? []) this.putElement(set, key, service, value);
    for (const [name, lines] of rules?.chains ?? []) this.setChain(name, lines);
    for (const [name, seconds] of rules?.affinitySets ?? []) this.setAffinity(name, seconds);
    if (rules === undefined || rules.elements.length === 0) this.services.delete(service);
    else this.services.set(service, rules);
  }

  /** The changes since the last call. */
  takeChanges(): TableChanges {
    const removed: Element[] = [];
    const added: Element[] = [];
    for (const [set, keys] of this.valuesBefore) {
      const entries = this.entries.get(set);
      for (const [key, before] of keys) {
        const now = entries?.get(key)?.value;
        if (now === before) continue;
        if (before !== undefined) removed.push({ set, key, value: before });
        if (now !== undefined) added.push({ set, key, value: now });
      }
    }
    const chains = changed(this.chainsBefore, this.chains, (a, b) => a.join('\n') === b.join('\n'));
    const affinity = changed(this.affinityBefore, this.affinitySets, (a, b) => a === b);
    this.forgetChanges();
    return {
      removed,
      added,
      chains: chains.present,
      goneChains: chains.gone,
      affinitySets: affinity.present,
      goneAffinitySets: affinity.gone,
    };
  }

  /** All rules, for an empty table. */
  takeAll(): TableChanges {
    const added: Element[] = [];
    for (const [set, entries] of this.entries) {
      for (const [key, { value }] of entries) added.push({ set, key, value });
    }
    this.forgetChanges();
    const { chains, affinitySets } = this;
    return { removed: [], added, chains, goneChains: [], affinitySets, goneAffinitySets: [] };
  }

  private forgetChanges(): void {
    this.valuesBefore.clear();
    this.chainsBefore.clear();
    this.affinityBefore.clear();
  }

  private putElement(set: SetName, key: string, owner: string, value: string): void {
    const entries = within(this.entries, set);
    const entry = entries.get(key);
    this.noteElement(set, key, entry?.value);
    if (entry === undefined) entries.set(key, { owner, value, others: undefined });
    else if (entry.owner === owner) entry.value = value;
    else if (owner > entry.owner) {
      entry.others ??= new Map();
      entry.others.set(owner, value);
    } else {
      entry.others ??= new Map();
      entry.others.set(entry.owner, entry.value);
      entry.owner = owner;
      entry.value = value;
    }
  }

  private removeElement(set: SetName, key: string, owner: string): void {
    const entries = within(this.entries, set);
    const entry = entries.get(key);
    if (entry === undefined) return;
    if (entry.owner !== owner) {
      entry.others?.delete(owner);
      return;
    }
    this.noteElement(set, key, entry.value);
    const [next] = [...(entry.others ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    if (next === undefined) {
      entries.delete(key);
      return;
    }
    entry.others?.delete(next[0]);
    [entry.owner, entry.value] = next;
  }

  private noteElement(set: SetName, key: string, value: string | undefined): void {
    const before = within(this.valuesBefore, set);
    if (!before.has(key)) before.set(key, value);
  }

  private setChain(name: string, lines: readonly string[] | undefined): void {
    if (!this.chainsBefore.has(name)) this.chainsBefore.set(name, this.chains.get(name));
    if (lines === undefined) this.chains.delete(name);
    else this.chains.set(name, lines);
  }

  private setAffinity(name: string, seconds: number | undefined): void {
    if (!this.affinityBefore.has(name)) this.affinityBefore.set(name, this.affinitySets.get(name));
    if (seconds === undefined) this.affinitySets.delete(name);
    else this.affinitySets.set(name, seconds);
  }
}

function within<K, L, V>(maps: Map<K, Map<L, V>>, key: K): Map<L, V> {
  let found = maps.get(key);
  if (found === undefined) {
    found = new Map();
    maps.set(key, found);
  }
  return found;
}

function changed<V>(
  before: ReadonlyMap<string, V | undefined>,
  now: ReadonlyMap<string, V>,
  equal: (a: V, b: V) => boolean,
): { present: Map<string, V>; gone: string[] } {
  const present = new Map<string, V>();
  const gone: string[] = [];
  for (const [name, old] of before) {
    const value = now.get(name);
    if (value === undefined) {
      if (old !== undefined) gone.push(name);
    } else if (old === undefined || !equal(old, value)) present.set(name, value);
  }
  return { present, gone };
}
