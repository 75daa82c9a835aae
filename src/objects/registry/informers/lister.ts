import type { ApiObject } from '../../../base/machinery/api-object.js';
import { eachInSteps, inTurns } from '../../../base/machinery/turns.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { StoredResources } from '../store/object-codec.js';
import { Reflector } from './reflector.js';

/**
 * All objects of one resource in memory, reduced to the fields that its user needs and kept up to date by a reflector.
 * The lister lags behind the store for as long as a change takes to arrive. Read the store where a fresh write must not
 * be missed.
 */
export class Lister<V> {
  /** Values by namespace ('' for objects of the cluster), then by name. No inner map is empty. */
  private namespaces = new Map<string, Map<string, V>>();
  private readonly reflector: Reflector;
  private changeCount = 0;

  constructor(
    storage: Storage,
    registry: StoredResources,
    /** The name under which the objects are stored. */
    readonly resource: string,
    project: (object: ApiObject) => V,
    onFault: (error: unknown) => void,
  ) {
    const sink = {
      replace: async (objects: readonly ApiObject[]) => {
        const all = new Map<string, Map<string, V>>();
        await inTurns(eachInSteps(objects, (object) => put(all, object, project(object))));
        this.changeCount++;
        this.namespaces = all;
      },
      set: (object: ApiObject) => {
        this.changeCount++;
        put(this.namespaces, object, project(object));
      },
      delete: (namespace: string, name: string) => {
        this.changeCount++;
        const values = this.namespaces.get(namespace);
        if (values?.delete(name) === true && values.size === 0) this.namespaces.delete(namespace);
      },
    };
    this.reflector = new Reflector(storage, registry, resource, sink, onFault);
  }

  /** Resolves when the lister has been filled once. Continues until `signal` is aborted. */
  start(signal: AbortSignal): Promise<void> {
    return this.reflector.start(signal);
  }

  /** Resolves when the lister has stopped after the abort. */
  stopped(): Promise<void> {
    return this.reflector.stopped();
  }

  /** Resolves when the lister shows everything up to `version`, or when it has stopped. */
  reached(version: bigint): Promise<void> {
    return this.reflector.reached(version);
  }

  /** How long changes may have been missed, in milliseconds. */
  get lostForMs(): number {
    return this.reflector.lostForMs;
  }

  /** Grows with every change, so that data derived from all values is recomputed only when it is outdated. */
  get changes(): number {
    return this.changeCount;
  }

  get(namespace: string, name: string): V | undefined {
    return this.namespaces.get(namespace)?.get(name);
  }

  /** All values of a namespace, in no order. */
  inNamespace(namespace: string): IterableIterator<V> {
    return this.namespaces.get(namespace)?.values() ?? [].values();
  }

  /** All values, in no order. */
  *all(): IterableIterator<V> {
    for (const values of this.namespaces.values()) yield* values.values();
  }
}

function put<V>(namespaces: Map<string, Map<string, V>>, { metadata }: ApiObject, value: V): void {
  const namespace = metadata.namespace ?? '';
  let values = namespaces.get(namespace);
  if (values === undefined) {
    values = new Map();
    namespaces.set(namespace, values);
  }
  values.set(metadata.name ?? '', value);
}
