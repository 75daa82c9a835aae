import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { readStored, type StoredResources } from '../store/object-codec.js';
import type { ReadLister, SharedListers } from './shared-listers.js';

type NamespaceState = 'active' | 'terminating';

/** The cached state of a namespace. */
export interface KnownNamespace {
  readonly state: NamespaceState;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The whole object in its stored version. Must not be changed. */
  readonly object: ApiObject;
}

/**
 * The state of a namespace. A namespace that the cache lacks is looked up in the store, so undefined means that it does
 * not exist.
 */
type Found = KnownNamespace | undefined;

const resource = 'namespaces';
const nothing: Readonly<Record<string, string>> = Object.freeze({});

/**
 * How long the cache is trusted while the change log can't be followed, in milliseconds; the same as for the access
 * policy.
 */
const maxLostMs = 30_000;

/**
 * Looks up namespaces in a cache, and in the store if the cache does not have them. The cache may lag, so the write
 * itself finally decides whether its namespace is live (`inLiveNamespace`).
 */
export class NamespaceLister {
  private readonly namespaces: ReadLister<KnownNamespace>;

  constructor(
    listers: SharedListers,
    private readonly storage: Pick<Storage, 'get'>,
    private readonly registry: StoredResources,
  ) {
    this.namespaces = listers.of({ group: '', resource }, known);
  }

  /** Whether a namespace accepts new objects. */
  state(namespace: string): NamespaceState | 'missing' | Promise<NamespaceState | 'missing'> {
    const found = this.get(namespace);
    return found instanceof Promise ? found.then((read) => read?.state ?? 'missing') : (found?.state ?? 'missing');
  }

  /**
   * Another process may have created a namespace a moment ago, so a namespace that the cache lacks is looked up in the
   * store.
   */
  get(namespace: string): Found | Promise<Found> {
    if (this.namespaces.lostForMs > maxLostMs) return this.read(namespace);
    return this.namespaces.get('', namespace) ?? this.read(namespace);
  }

  private async read(namespace: string): Promise<Found> {
    const found = await this.storage.get({ resource, namespace: '', name: namespace });
    return found === undefined ? undefined : known(await readStored(this.registry, found));
  }
}

function known(object: ApiObject): KnownNamespace {
  const { deletionTimestamp, labels, annotations } = object.metadata;
  return {
    state: deletionTimestamp === undefined ? 'active' : 'terminating',
    labels: labels ?? nothing,
    annotations: annotations ?? nothing,
    object,
  };
}
