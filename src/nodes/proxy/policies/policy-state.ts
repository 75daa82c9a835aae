import type { Family } from '../rules/family.js';
import { ChosenPods } from './chosen-pods.js';
import type { NamespaceLabels } from './pod-choice.js';
import type { PodView } from './pod-view.js';
import { type Direction, type PolicySet, policyChain, shortHash } from './policy-rules.js';
import type { PolicyView } from './policy-view.js';

/** The wanted content of the table of one family, apart from the elements of its sets. */
export interface WantedPolicies {
  /** Rules by the name of their chain. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** The chain that decides about the packets of a pod, by its address. */
  readonly verdicts: Readonly<Record<Direction, ReadonlyMap<string, string>>>;
  readonly sets: ReadonlyMap<string, ChosenPods>;
}

const directions = ['ingress', 'egress'] as const satisfies readonly Direction[];

/**
 * Policies, and the pods and namespaces of the cluster as far as they matter for the pods of one node. A changed pod
 * costs one look at each set; policies, namespaces and pods of this node cause the chains to be rebuilt.
 */
export class PolicyState {
  private readonly pods = new Map<string, PodView>();
  private readonly namespaces = new Map<
    string,
    { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  >();
  private readonly labels = new Map<string, Readonly<Record<string, string>>>();
  private readonly policies = new Map<string, PolicyView>();
  private sets = new Map<string, ChosenPods>();
  private wanted: Readonly<Record<Family, WantedPolicies>> | undefined;

  constructor(private readonly node: string) {}

  knownPods(): Iterable<string> {
    return this.pods.keys();
  }

  knownNamespaces(): Iterable<string> {
    return this.namespaces.keys();
  }

  knownPolicies(): Iterable<string> {
    return this.policies.keys();
  }

  get hasPolicies(): boolean {
    return this.policies.size > 0;
  }

  /** @param pod undefined when it is gone. @returns whether anything has changed */
  putPod(uid: string, pod: PodView | undefined): boolean {
    const before = this.pods.get(uid);
    if (JSON.stringify(before) === JSON.stringify(pod)) return false;
    if (pod === undefined) this.pods.delete(uid);
    else this.pods.set(uid, pod);
    for (const set of this.sets.values()) set.put(uid, pod, this.labelsOf);
    if (before?.node === this.node || pod?.node === this.node) this.wanted = undefined;
    return true;
  }

  /** @param namespace undefined when it is gone. @returns whether anything has changed */
  putNamespace(
    uid: string,
    namespace: { readonly name: string; readonly labels: Readonly<Record<string, string>> } | undefined,
  ): boolean {
    const before = this.namespaces.get(uid);
    if (JSON.stringify(before) === JSON.stringify(namespace)) return false;
    if (namespace === undefined) this.namespaces.delete(uid);
    else this.namespaces.set(uid, namespace);
    const name = namespace?.name ?? before?.name ?? '';
    if (namespace !== undefined) this.labels.set(name, namespace.labels);
    // One of the same name may have come meanwhile.
    else if (this.labels.get(name) === before?.labels) this.labels.delete(name);
    for (const [pod, view] of this.pods) {
      if (view.namespace !== name) continue;
      for (const set of this.sets.values()) set.put(pod, view, this.labelsOf);
    }
    return true;
  }

  /** @param policy undefined when it is gone */
  putPolicy(uid: string, policy: PolicyView | undefined): void {
    if (policy === undefined) this.policies.delete(uid);
    else this.policies.set(uid, policy);
    this.wanted = undefined;
  }

  want(family: Family): WantedPolicies {
    this.wanted ??= this.makeAll();
    return this.wanted[family];
  }

  private readonly labelsOf: NamespaceLabels = (name) => this.labels.get(name);

  private makeAll(): Readonly<Record<Family, WantedPolicies>> {
    const byNamespace = new Map<string, PolicyView[]>();
    for (const policy of this.policies.values()) {
      const { namespace } = policy.subjects;
      byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), policy]);
    }
    const own = [...this.pods.values()].filter(({ node }) => node === this.node);
    const chosen = own.map((pod) => ({
      pod,
      policies: (byNamespace.get(pod.namespace) ?? []).filter(({ subjects }) => subjects.chooses(pod, this.labelsOf)),
    }));
    const used = new Map<string, PolicySet>();
    const made = { IPv4: makeFamily(chosen, 'IPv4', used), IPv6: makeFamily(chosen, 'IPv6', used) };
    this.useSets(used);
    const { sets } = this;
    const withSets = (family: Family): WantedPolicies => ({ ...made[family], sets });
    return { IPv4: withSets('IPv4'), IPv6: withSets('IPv6') };
  }

  private useSets(used: ReadonlyMap<string, PolicySet>): void {
    const next = new Map<string, ChosenPods>();
    for (const [name, set] of used) {
      const present = this.sets.get(name);
      const pods = present ?? new ChosenPods(set);
      if (present === undefined) for (const [uid, pod] of this.pods) pods.put(uid, pod, this.labelsOf);
      next.set(name, pods);
    }
    this.sets = next;
  }
}

interface ChosenPod {
  readonly pod: PodView;
  readonly policies: readonly PolicyView[];
}

/** Chains are shared by pods that the same policies choose. @param used gets the sets that the chains refer to */
function makeFamily(
  pods: readonly ChosenPod[],
  family: Family,
  used: Map<string, PolicySet>,
): Omit<WantedPolicies, 'sets'> {
  const chains = new Map<string, readonly string[]>();
  const verdicts = { ingress: new Map<string, string>(), egress: new Map<string, string>() };
  for (const { pod, policies } of pods) {
    for (const direction of directions) {
      const own = policies.filter((policy) => policy[direction] !== undefined);
      if (own.length === 0 || pod.addresses[family].length === 0) continue;
      const name = `${direction}-${shortHash(
        own
          .map((policy) => policy.name)
          .sort()
          .join(' '),
      )}`;
      for (const address of pod.addresses[family]) verdicts[direction].set(address, name);
      if (chains.has(name)) continue;
      const { rules, sets } = policyChain(own, direction, family);
      chains.set(name, rules);
      for (const set of sets) used.set(set.name, set);
    }
  }
  return { chains, verdicts };
}
