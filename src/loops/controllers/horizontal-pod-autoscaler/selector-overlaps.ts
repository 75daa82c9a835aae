import type { LabelSelector } from '../../../base/machinery/label-selector.js';
import type { StoredPod } from '../frame/indexes.js';

interface Known {
  readonly namespace: string;
  readonly text: string;
  readonly selector: LabelSelector;
}

/** Finds autoscalers that scale the same pods: they would work against each other. */
export class SelectorOverlaps {
  private readonly known = new Map<string, Known>();
  private readonly byNamespace = new Map<string, Set<string>>();

  /** Records the selector of an autoscaler, and returns the keys of the others that select some of its pods. */
  of(
    key: string,
    namespace: string,
    text: string,
    selector: LabelSelector,
    pods: readonly StoredPod[],
  ): readonly string[] {
    if (this.known.get(key)?.text !== text) {
      this.known.set(key, { namespace, text, selector });
      const keys = this.byNamespace.get(namespace) ?? new Set<string>();
      this.byNamespace.set(namespace, keys.add(key));
    }
    const others: string[] = [];
    for (const other of this.byNamespace.get(namespace) ?? []) {
      const found = this.known.get(other);
      if (other === key || found === undefined) continue;
      if (pods.some(({ metadata }) => found.selector.matches(metadata.labels))) others.push(other);
    }
    return others;
  }

  forget(key: string): void {
    const found = this.known.get(key);
    if (found === undefined) return;
    this.known.delete(key);
    const keys = this.byNamespace.get(found.namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.byNamespace.delete(found.namespace);
  }
}
