import { endedDefinitions, type Storage, type StoredObject } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { StorageKey } from '../../../storage/storage-key.js';

/**
 * Marks for definitions whose clean-up has begun. Storage creates no object under a marked definition, so a create that
 * is under way in another process can't outlive the clean-up. A mark stays as long as its definition.
 */
export class EndedDefinitions {
  private sweeping: Promise<void> = Promise.resolve();
  private isQueued = false;

  /** @param definitions storage name of the definitions */
  constructor(
    private readonly storage: Storage,
    private readonly definitions: string,
  ) {}

  /** Adds a mark. When this resolves, every object of the kind that was ever created is in the store. */
  async add(name: string, uid: string): Promise<void> {
    const metadata = { name: uid, uid };
    const json = JSON.stringify({ kind: 'EndedDefinition', apiVersion: 'internal/v1', metadata, definition: name });
    try {
      await this.storage.create(keyOf(uid), uid, json);
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyExists')) throw error;
    }
  }

  /** Removes, in the background, the marks whose definitions are gone. */
  sweep(onFault: (error: unknown) => void): void {
    if (this.isQueued) return;
    this.isQueued = true;
    this.sweeping = this.sweeping
      .then(async () => {
        this.isQueued = false;
        const { items } = await this.storage.list({ resource: endedDefinitions });
        for (const mark of items) if (!(await this.isThere(mark))) await this.remove(mark);
      })
      .catch(onFault);
  }

  /** Resolves when nothing runs in the background. */
  swept(): Promise<void> {
    return this.sweeping;
  }

  private async isThere({ uid, json }: StoredObject): Promise<boolean> {
    const name = markedDefinition.exec(json)?.[1] ?? '';
    const found = await this.storage.get({ resource: this.definitions, namespace: '', name });
    return found?.uid === uid;
  }

  private async remove({ key, uid }: StoredObject): Promise<void> {
    try {
      await this.storage.guaranteedUpdate(key, {}, (current) =>
        current?.uid === uid ? { kind: 'delete', json: current.json } : { kind: 'unchanged' },
      );
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'KeyNotFound')) throw error;
    }
  }
}

/** Names of definitions need no escapes. */
const markedDefinition = /"definition":"([^"]*)"\}$/;

function keyOf(uid: string): StorageKey {
  return { resource: endedDefinitions, namespace: '', name: uid };
}
