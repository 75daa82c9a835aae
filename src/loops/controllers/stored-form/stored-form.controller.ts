import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { decode } from '../../../base/machinery/schema/index.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { isStoredKind, type ResourceDefinition, storageOf } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, StoredServedResource } from '../../../objects/registry/resource-registry.js';
import {
  encodeForStorage,
  isPresentForm,
  readStored,
  storedForm,
} from '../../../objects/registry/store/object-codec.js';
import { mostPageBytes } from '../../../storage/page-size.js';
import type { ListPosition, Storage, StoredObject, UpdateDecision } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { ControlLoop } from '../control-loop.js';

export interface StoredFormOptions {
  readonly storage: Storage;
  readonly registry: ResourceRegistry;
  readonly logger: Logger;
  readonly timers: Timers;
}

/** For this long after the start, in milliseconds, a process of the former release may still be shutting down. */
const settleMs = 300_000;
/** Time between two checks for forms that have changed. */
const intervalMs = 600_000;
const pageSize = 200;
const pagePauseMs = 100;
/** Pause after each write, in milliseconds: at most 50 objects are written in a second. */
const writePauseMs = 20;

/**
 * Rewrites objects that were stored in a former version or without today's defaults, so that no release has to read
 * objects written by any release before its predecessor. Works slowly: nobody waits for it. Only the form changes, so
 * admission is not involved. Objects of kinds with an external converter stay unchanged.
 */
export class StoredFormController implements ControlLoop {
  readonly name = 'storage-version-migrator';
  /** The form in which all objects of a resource are known to be stored, by resource. */
  private readonly done = new Map<string, string>();

  constructor(private readonly options: StoredFormOptions) {}

  async run(signal: AbortSignal): Promise<void> {
    const { timers } = this.options;
    await timers.wait(settleMs, signal);
    while (!signal.aborted) {
      await this.round(signal);
      await timers.wait(intervalMs, signal);
    }
  }

  /** Checks every resource whose objects are not known to all have the current form. */
  private async round(signal: AbortSignal): Promise<void> {
    for (const definition of this.options.registry.definitions()) {
      if (signal.aborted) return;
      const resource = this.storedUnder(definition);
      if (resource === undefined || resource.definition.conversion !== undefined) continue;
      const { prefix } = storedForm(resource);
      if (this.done.get(resource.storageResource) === prefix) continue;
      const count = await this.rewriteAll(resource, signal);
      if (signal.aborted || !this.options.registry.isCurrent(resource)) return;
      this.done.set(resource.storageResource, prefix);
      const fields = { resource: resource.storageResource, count };
      if (count > 0) this.options.logger.info('objects were rewritten in their current form', fields);
    }
  }

  private storedUnder(definition: ResourceDefinition): StoredServedResource | undefined {
    if (!isStoredKind(definition)) return undefined;
    return this.options.registry.findStored(formatGroupResource(storageOf(definition)));
  }

  private async rewriteAll(resource: StoredServedResource, signal: AbortSignal): Promise<number> {
    const { storage, timers } = this.options;
    let count = 0;
    let after: ListPosition | undefined;
    while (!signal.aborted) {
      const page = await storage.list({
        resource: resource.storageResource,
        after,
        limit: pageSize,
        pageBytes: mostPageBytes,
      });
      for (const item of page.items) {
        if (signal.aborted) return count;
        if (isPresentForm(resource, item.json)) continue;
        if (await this.rewrite(resource, item)) count++;
        await timers.wait(writePauseMs, signal);
      }
      const last = page.items.at(-1)?.key;
      if (!page.more || last === undefined) return count;
      after = { namespace: last.namespace, name: last.name };
      await timers.wait(pagePauseMs, signal);
    }
    return count;
  }

  /** False when another writer changed or removed the object, or when it can't be read. */
  private async rewrite(resource: StoredServedResource, item: StoredObject): Promise<boolean> {
    const { storage, registry, logger } = this.options;
    const decide = async (current: StoredObject | undefined): Promise<UpdateDecision> => {
      if (current === undefined || isPresentForm(resource, current.json)) return { kind: 'unchanged' };
      const object = await readStored(registry, current);
      // Throws for an object that today's declaration can't read: its owner should see it unchanged.
      decode(resource.served.type, object);
      return { kind: 'write', json: encodeForStorage(resource, object), uid: current.uid };
    };
    try {
      const { outcome } = await storage.guaranteedUpdate(item.key, { cachedCopy: item, ignoreNotFound: true }, decide);
      return outcome === 'written';
    } catch (error) {
      if (error instanceof StorageError && error.code === 'KeyNotFound') return false;
      if (error instanceof StorageError) throw error;
      const object = `${item.key.namespace}/${item.key.name}`;
      logger.warn('an object could not be converted to its current form', {
        resource: resource.storageResource,
        object,
        error,
      });
      return false;
    }
  }
}
