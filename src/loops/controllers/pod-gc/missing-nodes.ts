import type { Storage } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { StorageKey } from '../../../storage/storage-key.js';

/** Storage resource that records since when nodes of pods have been missing; no API shows it. */
export const missingNodes = 'missingnodes.internal';

/**
 * Since when nodes that pods name have been missing. This is recorded in the store: a process that takes over continues
 * with the time that others have waited, so that even a sequence of short-lived processes completes the wait.
 */
export class MissingNodes {
  private readonly known = new Map<string, Promise<number>>();

  constructor(private readonly storage: Storage) {}

  /** Forgets the records that it has read: others may have written since. */
  reset(): void {
    this.known.clear();
  }

  /** Reads the records, and resolves with their names. */
  async load(): Promise<readonly string[]> {
    const { items } = await this.storage.list({ resource: missingNodes });
    for (const { key, json } of items) this.known.set(key.name, Promise.resolve(timeOf(json)));
    return items.map(({ key }) => key.name);
  }

  /** Whether the node is recorded as missing. */
  has(name: string): boolean {
    return this.known.has(name);
  }

  /**
   * Since when a node is missing, in milliseconds by the clock of the process that recorded it: `now` if there is no
   * record.
   */
  since(name: string, now: number): Promise<number> {
    let since = this.known.get(name);
    if (since === undefined) {
      since = this.note(name, now);
      this.known.set(name, since);
      since.catch(() => this.known.delete(name));
    }
    return since;
  }

  /** Removes the record: the node is back, or no pod names it any more. */
  async forget(name: string): Promise<void> {
    this.known.delete(name);
    try {
      await this.storage.guaranteedUpdate(keyOf(name), {}, (current) =>
        current === undefined ? { kind: 'unchanged' } : { kind: 'delete', json: current.json },
      );
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyNotFound')) throw error;
    }
  }

  private async note(name: string, now: number): Promise<number> {
    const key = keyOf(name);
    const body = { kind: 'MissingNode', apiVersion: 'internal/v1', metadata: { name, uid: name }, since: now };
    try {
      await this.storage.create(key, name, JSON.stringify(body));
      return now;
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyExists')) throw error;
    }
    const found = await this.storage.get(key);
    return found === undefined ? now : timeOf(found.json);
  }
}

function timeOf(json: string): number {
  return (JSON.parse(json) as { readonly since: number }).since;
}

function keyOf(name: string): StorageKey {
  return { resource: missingNodes, namespace: '', name };
}
