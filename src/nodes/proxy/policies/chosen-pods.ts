import type { Family } from '../rules/family.js';
import type { NamespaceLabels } from './pod-choice.js';
import type { PodView } from './pod-view.js';
import { elementsOf, type PolicySet } from './policy-rules.js';

const families = ['IPv4', 'IPv6'] as const satisfies readonly Family[];

/** The elements of one set of the table, kept up to date pod by pod. */
export class ChosenPods {
  /** How many pods have an element: two can have the same address for a moment. */
  private readonly counts: Readonly<Record<Family, Map<string, number>>> = { IPv4: new Map(), IPv6: new Map() };
  private readonly byPod = new Map<string, Readonly<Record<Family, readonly string[]>>>();
  private readonly touched: Readonly<Record<Family, Set<string>>> = { IPv4: new Set(), IPv6: new Set() };

  constructor(readonly set: PolicySet) {}

  /** @param pod undefined when it is gone */
  put(uid: string, pod: PodView | undefined, labelsOf: NamespaceLabels): void {
    const isChosen = pod !== undefined && this.set.choice.chooses(pod, labelsOf);
    const before = this.byPod.get(uid);
    if (!isChosen && before === undefined) return;
    for (const family of families) {
      for (const element of before?.[family] ?? []) this.count(family, element, -1);
      if (isChosen) for (const element of elementsOf(this.set, pod, family)) this.count(family, element, 1);
    }
    if (!isChosen) this.byPod.delete(uid);
    else {
      this.byPod.set(uid, { IPv4: elementsOf(this.set, pod, 'IPv4'), IPv6: elementsOf(this.set, pod, 'IPv6') });
    }
  }

  has(family: Family, element: string): boolean {
    return this.counts[family].has(element);
  }

  elements(family: Family): Iterable<string> {
    return this.counts[family].keys();
  }

  /** The elements that may have come or gone since the last call. */
  takeTouched(family: Family): readonly string[] {
    const touched = [...this.touched[family]];
    this.touched[family].clear();
    return touched;
  }

  private count(family: Family, element: string, by: 1 | -1): void {
    const counts = this.counts[family];
    const now = (counts.get(element) ?? 0) + by;
    if (now === 0) counts.delete(element);
    else counts.set(element, now);
    this.touched[family].add(element);
  }
}
