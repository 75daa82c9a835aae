import type { StoredPod } from '../frame/indexes.js';
import type { StoredService } from './service-pods.js';

interface Seen {
  readonly service: number;
  readonly pods: ReadonlyMap<string, number>;
}

/**
 * Remembers when services and their pods last changed, to record in endpoints since when they are outdated: this
 * measures how long a change takes to arrive.
 */
export class TriggerTimes {
  private readonly seen = new Map<string, Seen>();

  /**
   * The time of the first change since the last call for this service, in milliseconds: the creation of the service, or
   * a pod that became ready or unready. Undefined when there is none.
   */
  next(key: string, service: StoredService, pods: readonly StoredPod[]): number | undefined {
    const before = this.seen.get(key);
    const created = timeOf(service.metadata.creationTimestamp ?? undefined);
    const now = new Map<string, number>();
    const changes: number[] = [];
    if (created > (before?.service ?? 0)) changes.push(created);
    for (const pod of pods) {
      const changed = readyChange(pod);
      if (changed === 0) continue;
      const name = pod.metadata.name ?? '';
      now.set(name, changed);
      if (changed > (before?.pods.get(name) ?? 0)) changes.push(changed);
    }
    this.seen.set(key, { service: created, pods: now });
    return changes.length === 0 ? undefined : Math.min(...changes);
  }

  forget(key: string): void {
    this.seen.delete(key);
  }
}

function readyChange({ status }: StoredPod): number {
  const ready = (status?.conditions ?? []).find(({ type }) => type === 'Ready');
  return timeOf(ready?.lastTransitionTime ?? undefined);
}

function timeOf(text: string | undefined): number {
  return text === undefined ? 0 : Date.parse(text) || 0;
}
