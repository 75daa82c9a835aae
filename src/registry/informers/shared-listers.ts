import type { ApiObject } from '../../machinery/api-object.js';
import { formatGroupResource, type GroupResource } from '../../machinery/group-version.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { StoredResources } from '../store/object-codec.js';
import { Lister } from './lister.js';

/** The reading side of a {@link Lister}. */
export type ReadLister<V> = Pick<Lister<V>, 'get' | 'inNamespace' | 'all' | 'lostForMs'>;

/** A lister that also counts changes. */
export type CountingLister<V> = Pick<Lister<V>, 'all' | 'changes'>;

/**
 * The listers that the parts of a process ask for while it is set up. They are filled and followed together.
 */
export class SharedListers {
  private readonly listers: Lister<unknown>[] = [];
  private isStarted = false;

  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /**
   * A lister of a stored resource. `project` makes what is kept of each object, in its stored version; it may keep parts
   * of the object and must not throw. Throws after the start.
   */
  of<V>(resource: GroupResource, project: (object: ApiObject) => V): ReadLister<V> {
    return this.make(resource, project);
  }

  /** {@link of} for what is made of all objects together, and made again after changes only. */
  counting<V>(resource: GroupResource, project: (object: ApiObject) => V): CountingLister<V> {
    return this.make(resource, project);
  }

  private make<V>(resource: GroupResource, project: (object: ApiObject) => V): Lister<V> {
    if (this.isStarted) throw new Error('listers have to be asked for before the start');
    const lister = new Lister(this.storage, this.registry, formatGroupResource(resource), project, this.onFault);
    this.listers.push(lister);
    return lister;
  }

  /** Resolves when all have been filled once. Goes on until `signal` is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    this.isStarted = true;
    await Promise.all(this.listers.map((lister) => lister.start(signal)));
  }

  /** Resolves when all loops have ended after the abort. */
  async stopped(): Promise<void> {
    await Promise.all(this.listers.map((lister) => lister.stopped()));
  }
}
