import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource, type GroupResource } from '../../../base/machinery/group-version.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { StoredResources } from '../store/object-codec.js';
import { Lister } from './lister.js';

/** The reading side of a {@link Lister}. */
export type ReadLister<V> = Pick<Lister<V>, 'get' | 'inNamespace' | 'all' | 'lostForMs'>;

/** A lister that was added while the program ran. */
export interface LaterLister<V> {
  readonly lister: ReadLister<V>;
  /** Resolves when the lister has been filled once, or was stopped before that; rejects if filling failed. */
  readonly filled: Promise<void>;
  /** Stops the lister: its content is not updated any more. */
  readonly stop: () => void;
}

/** A lister that also counts changes. */
export type CountingLister<V> = Pick<Lister<V>, 'all' | 'changes'>;

/** The listers that the parts of a process request during setup. They are filled and followed together. */
export class SharedListers {
  private readonly listers: Lister<unknown>[] = [];
  private signal: AbortSignal | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    private readonly onFault: (error: unknown) => void,
  ) {}

  /**
   * A lister of a stored resource. `project` makes the value kept of each object, in its stored version; it may keep
   * parts of the object and must not throw. Throws after the start.
   */
  of<V>(resource: GroupResource, project: (object: ApiObject) => V): ReadLister<V> {
    return this.beforeStart(resource, project);
  }

  /** {@link of} for data derived from all objects together, and recomputed only after changes. */
  counting<V>(resource: GroupResource, project: (object: ApiObject) => V): CountingLister<V> {
    return this.beforeStart(resource, project);
  }

  /** A lister of a stored resource that turns out to be needed while the program runs. Throws before the start. */
  later<V>(resource: GroupResource, project: (object: ApiObject) => V): LaterLister<V> {
    if (this.signal === undefined) throw new Error('listers can be asked for later only after the start');
    const lister = this.make(resource, project);
    const ending = new AbortController();
    const filled = lister.start(AbortSignal.any([this.signal, ending.signal])).catch((error: unknown) => {
      if (!ending.signal.aborted) throw error;
    });
    const stop = () => {
      ending.abort();
      // Removes the lister only when it has stopped: it may still be reading.
      void filled
        .catch(() => undefined)
        .then(() => lister.stopped())
        .then(() => this.listers.splice(this.listers.indexOf(lister), 1));
    };
    return { lister, filled, stop };
  }

  /** The longest time, in milliseconds, for which any lister may have missed changes; 0 while all follow the store. */
  get lostForMs(): number {
    return Math.max(0, ...this.listers.map((lister) => lister.lostForMs));
  }

  /**
   * Resolves when all listers show the given changes: the version of the newest change of each stored resource, by its
   * name. Without changes of its own, a lister learns of newer versions late.
   */
  async reached(changes: ReadonlyMap<string, bigint>): Promise<void> {
    await Promise.all(
      this.listers.map(async (lister) => {
        const version = changes.get(lister.resource);
        if (version !== undefined) await lister.reached(version);
      }),
    );
  }

  /** The names under which the resources of the listers are stored. */
  get resources(): ReadonlySet<string> {
    return new Set(this.listers.map(({ resource }) => resource));
  }

  /** Resolves when all listers have been filled once. Continues until `signal` is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    await Promise.all(this.listers.map((lister) => lister.start(signal)));
  }

  /** Resolves when all listers have stopped after the abort. */
  async stopped(): Promise<void> {
    await Promise.all(this.listers.map((lister) => lister.stopped()));
  }

  private beforeStart<V>(resource: GroupResource, project: (object: ApiObject) => V): Lister<V> {
    if (this.signal !== undefined) throw new Error('listers have to be asked for before the start');
    return this.make(resource, project);
  }

  private make<V>(resource: GroupResource, project: (object: ApiObject) => V): Lister<V> {
    const lister = new Lister(this.storage, this.registry, formatGroupResource(resource), project, this.onFault);
    this.listers.push(lister);
    return lister;
  }
}
