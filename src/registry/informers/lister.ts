import type { ApiObject } from '../../machinery/api-object.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { StoredResources } from '../store/object-codec.js';
import { Reflector } from './reflector.js';

/**
 * All objects of one resource in memory, reduced to the fields that its user needs and kept up to date by a reflector.
 * It lags behind the store for as long as a change takes to arrive. Read the store where a fresh write must not be
 * missed.
 */
export class Lister<V> {
  private values = new Map<string, V>();
  private readonly reflector: Reflector;

  constructor(
    storage: Storage,
    registry: StoredResources,
    resource: string,
    project: (object: ApiObject) => V,
    onFault: (error: unknown) => void,
  ) {
    const sink = {
      replace: (objects: readonly ApiObject[]) => {
        this.values = new Map(objects.map((object) => [keyOf(object), project(object)]));
      },
      set: (object: ApiObject) => {
        this.values.set(keyOf(object), project(object));
      },
      delete: (namespace: string, name: string) => {
        this.values.delete(keyText(namespace, name));
      },
    };
    this.reflector = new Reflector(storage, registry, resource, sink, onFault);
  }

  /** Resolves when it has been filled once. Goes on until `signal` is aborted. */
  start(signal: AbortSignal): Promise<void> {
    return this.reflector.start(signal);
  }

  /** Resolves when the loop has ended after the abort. */
  stopped(): Promise<void> {
    return this.reflector.stopped();
  }

  /** Milliseconds for which changes may have been missed. */
  get lostForMs(): number {
    return this.reflector.lostForMs;
  }

  get(namespace: string, name: string): V | undefined {
    return this.values.get(keyText(namespace, name));
  }

  /** All values, in no order. */
  all(): IterableIterator<V> {
    return this.values.values();
  }
}

function keyOf({ metadata }: ApiObject): string {
  return keyText(metadata.namespace ?? '', metadata.name ?? '');
}

function keyText(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
