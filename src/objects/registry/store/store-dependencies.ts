import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import type { GroupResource } from '../../../base/machinery/group-version.js';
import { addWarning, type RequestContext } from '../../../base/machinery/request-context.js';
import { notFoundError, requestTooLargeError } from '../../../base/machinery/status-error.js';
import type { Storage, StoredObject, Write } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { StorageKey } from '../../../storage/storage-key.js';
import type { RandomBytes } from '../metadata/generate-name.js';
import type { StoredResource } from '../resource-definition.js';
import type { StoredServedResource } from '../resource-registry.js';
import { encodeForStorage } from './object-codec.js';
import type { StoreOptions } from './store-options.js';
import { endedDefinitionError, terminatingNamespaceError, toStatusError } from './to-status-error.js';

/**
 * The longest JSON of an object in characters, as much as a request may contain. Defaults and field ownership can
 * multiply the size of a request.
 */
const maxStoredLength = 3 * 1024 * 1024;

const namespaces = 'namespaces';

/** The conditions under which a new object of the resource may be written. */
type CreateConditions = Pick<Write, 'inLiveNamespace' | 'definedBy'>;

/** What the writes of one resource share: the place of its objects, their JSON, and the possible errors. */
export class StoreDependencies {
  readonly groupResource: GroupResource;
  readonly definition: StoredResource;
  readonly creating: CreateConditions;

  constructor(
    readonly resource: StoredServedResource,
    readonly storage: Storage,
    readonly clock: Clock,
    readonly random: RandomBytes,
    options: StoreOptions,
  ) {
    this.definition = resource.definition;
    const { namespaced, definedBy } = resource.definition;
    this.creating = { inLiveNamespace: options.inLiveNamespaces === true && namespaced, definedBy };
    this.groupResource = { group: this.definition.group, resource: this.definition.resource };
  }

  /** The write of a new object, for a batch with others. */
  newWrite(key: StorageKey, { metadata }: ApiObject, json: string): Write {
    return {
      op: 'create',
      key,
      uid: metadata.uid as string,
      expected: null,
      json,
      previousJson: undefined,
      ...this.creating,
    };
  }

  /**
   * Encodes an object. Refuses JSON longer than a client could send back; an object that is already that long may keep
   * its length but not grow.
   */
  encode(object: ApiObject, before: number): string {
    const json = encodeForStorage(this.resource, object);
    if (json.length > maxStoredLength && json.length > before) throw requestTooLargeError(maxStoredLength);
    return json;
  }

  /** The error for a create whose namespace, or the definition of its kind, was missing or being deleted. */
  async missingNamespaceOrDefinition({ namespace }: StorageKey, name: string): Promise<Error> {
    const { inLiveNamespace, definedBy } = this.creating;
    if (inLiveNamespace) {
      const found = await this.read({ resource: namespaces, namespace: '', name: namespace }, namespace);
      if (found === undefined) return notFoundError({ group: '', resource: namespaces }, namespace);
      const isLive = !found.json.includes('"deletionTimestamp"');
      if (definedBy === undefined || !isLive) return terminatingNamespaceError(this.groupResource, name, namespace);
    }
    return endedDefinitionError();
  }

  /** The newest committed state; throws StatusError. */
  async read(key: StorageKey, name: string, notOlderThan?: bigint): Promise<StoredObject | undefined> {
    try {
      return await this.storage.get(key, notOlderThan);
    } catch (error) {
      throw toStatusError(error, this.groupResource, name, notOlderThan);
    }
  }

  /** The storage key of an object. */
  keyOf(namespace: string, name: string): StorageKey {
    return {
      resource: this.resource.storageResource,
      namespace: this.definition.namespaced ? namespace : '',
      name,
    };
  }

  /** Adds the kind's warnings about a written object to the response. */
  collectWarnings(context: RequestContext, object: ApiObject, old: ApiObject | undefined): void {
    for (const text of this.definition.strategy.warnings?.(context, object, old) ?? []) {
      addWarning(context, text);
    }
  }
}

/** Whether a new object could not be placed: no namespace, or no definition of its kind. */
export function lacksNamespaceOrDefinition(error: unknown): boolean {
  return error instanceof StorageError && (error.code === 'NoNamespace' || error.code === 'NoDefinition');
}
