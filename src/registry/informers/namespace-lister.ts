import type { ApiObject } from '../../machinery/api-object.js';
import type { Storage } from '../../storage/storage.interface.js';
import { readStored, type StoredResources } from '../store/object-codec.js';
import { Lister } from './lister.js';

type NamespaceState = 'active' | 'terminating' | 'missing';

const resource = 'namespaces';

/** How long memory is trusted while the change log can't be followed; the same as for the access policy. */
const maxLostMs = 30_000;

/**
 * Whether namespaces take new objects: from memory for a known namespace, otherwise from the store. Memory may lag, so
 * the write itself has the last word (`inLiveNamespace`).
 */
export class NamespaceLister {
  private readonly namespaces: Lister<NamespaceState>;

  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    onFault: (error: unknown) => void,
  ) {
    this.namespaces = new Lister(storage, registry, resource, stateOf, onFault);
  }

  start(signal: AbortSignal): Promise<void> {
    return this.namespaces.start(signal);
  }

  stopped(): Promise<void> {
    return this.namespaces.stopped();
  }

  /** Another process may have made a namespace a moment ago. The store decides about one that memory does not have. */
  state(namespace: string): NamespaceState | Promise<NamespaceState> {
    if (this.namespaces.lostForMs > maxLostMs) return this.read(namespace);
    return this.namespaces.get('', namespace) ?? this.read(namespace);
  }

  private async read(namespace: string): Promise<NamespaceState> {
    const found = await this.storage.get({ resource, namespace: '', name: namespace });
    return found === undefined ? 'missing' : stateOf(await readStored(this.registry, found));
  }
}

function stateOf(object: ApiObject): NamespaceState {
  return object.metadata.deletionTimestamp === undefined ? 'active' : 'terminating';
}
