import type { ApiObject } from '../../../base/machinery/api-object.js';
import { LargeMap } from '../../../base/machinery/large-map.js';
import { ObjectPacker } from '../../../base/machinery/packed/object-packer.js';
import { eachInSteps, inTurns, type Steps } from '../../../base/machinery/turns.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { StoredResources } from '../store/object-codec.js';
import { Reflector } from './reflector.js';
import { sharedParts } from './shared-parts.js';

/** Receives every object and every change of it. */
export interface InformerHandler<T extends ApiObject> {
  /** `object` is undefined for a removed object, `old` for an object that is new to this handler. Must not throw. */
  changed(object: T | undefined, old: T | undefined): void;
}

/** The objects of an informer by keys that are computed from them. */
export interface InformerIndex<T extends ApiObject> {
  /** The objects with this key, in no order. */
  get(key: string): ReadonlySet<T>;
}

class Index<T extends ApiObject> implements InformerIndex<T> {
  private readonly sets = new Map<string, Set<T>>();

  constructor(private readonly keysOf: (object: T) => readonly string[]) {}

  get(key: string): ReadonlySet<T> {
    return this.sets.get(key) ?? empty;
  }

  add(object: T): void {
    for (const key of this.keysOf(object)) {
      const set = this.sets.get(key);
      if (set === undefined) this.sets.set(key, new Set([object]));
      else set.add(object);
    }
  }

  remove(object: T): void {
    for (const key of this.keysOf(object)) {
      const set = this.sets.get(key);
      if (set?.delete(object) === true && set.size === 0) this.sets.delete(key);
    }
  }

  clear(): void {
    this.sets.clear();
  }
}

const empty: ReadonlySet<never> = new Set();

/**
 * All objects of one resource in memory, in their stored version, with their resourceVersion and without managedFields,
 * shared by all users in the process. The informer follows the store only while it has a user, and lags behind it for
 * as long as a change takes to arrive. Its objects are shared: nobody may change them. Large parts of large objects are
 * read from compressed text on each access.
 */
export class Informer<T extends ApiObject = ApiObject> {
  private objects = new LargeMap<T>();
  private readonly namespaces = new Index<T>(({ metadata }) => [metadata.namespace ?? '']);
  private readonly indexes = new Map<string, Index<T>>();
  private readonly handlers = new Set<InformerHandler<T>>();
  private users = 0;
  private running: { readonly stop: AbortController; readonly reflector: Reflector; filled: Promise<void> } | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    /** The name under which the objects are stored. */
    readonly resource: string,
    private readonly onFault: (error: unknown) => void,
    /** Makes the object that is kept, with its resourceVersion. Default: everything but managedFields. */
    private readonly reduce: (object: ApiObject, resourceVersion: bigint) => ApiObject | Promise<ApiObject> = trimmed,
    /** Keeps large parts in compressed form. */
    private readonly packer = sharedPacker,
  ) {}

  get(namespace: string, name: string): T | undefined {
    return this.objects.get(keyOf(namespace, name));
  }

  /** The objects of a namespace ('' for objects of the cluster), in no order. */
  inNamespace(namespace: string): ReadonlySet<T> {
    return this.namespaces.get(namespace);
  }

  /** All objects, in no order. */
  all(): Iterable<T> {
    return this.objects.values();
  }

  get size(): number {
    return this.objects.size;
  }

  /**
   * The index with this name, which all users share and which is kept from now on. `keysOf` must be a pure function of
   * the object, and the same for every caller.
   */
  index(name: string, keysOf: (object: T) => readonly string[]): InformerIndex<T> {
    const known = this.indexes.get(name);
    if (known !== undefined) return known;
    const index = new Index(keysOf);
    for (const object of this.objects.values()) index.add(object);
    this.indexes.set(name, index);
    return index;
  }

  /**
   * Follows the store at least until the abort. Resolves when all objects have been read, or after the abort. Waits for
   * a database that is not ready.
   */
  async use(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.users += 1;
    signal.addEventListener('abort', () => this.leave(), { once: true });
    await this.ended;
    if (signal.aborted) return;
    this.running ??= this.begin();
    await this.running.filled;
  }

  /** Resolves when the informer has dropped all objects after its last user has left. */
  async stopped(): Promise<void> {
    await this.ended;
  }

  /**
   * Reports all existing objects, in turns with other work if there are many, and every change, until the abort. If the
   * informer loses its place in the log, it reports the difference afterwards. Resolves when all objects have been
   * reported, or after the abort.
   */
  async subscribe(handler: InformerHandler<T>, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const newcomer = new Newcomer(handler);
    this.handlers.add(newcomer);
    const leave = () => {
      this.handlers.delete(newcomer);
      this.handlers.delete(handler);
    };
    signal.addEventListener('abort', leave, { once: true });
    await inTurns(newcomer.meets(this.objects.values(), signal));
    if (this.handlers.delete(newcomer)) this.handlers.add(handler);
  }

  /** Resolves when the informer has everything up to `version`, or when it has no users any more. */
  async reached(version: bigint): Promise<void> {
    await this.running?.reflector.reached(version);
  }

  private begin() {
    const stop = new AbortController();
    const sink = {
      reduce: (object: ApiObject, version: bigint, size: number) => {
        const reduced = this.reduce(object, version);
        if (reduced instanceof Promise) return reduced.then((made) => this.packer.packed(made, size));
        return this.packer.packed(reduced, size);
      },
      replace: (objects: readonly ApiObject[]) => this.replace(objects as readonly T[]),
      set: (object: ApiObject) => this.set(object as T),
      delete: (namespace: string, name: string) => this.delete(keyOf(namespace, name)),
    };
    const reflector = new Reflector(this.storage, this.registry, this.resource, sink, this.onFault);
    const running = { stop, reflector, filled: reflector.start(stop.signal) };
    // Users get the error from the promise that they await.
    running.filled.catch(() => {
      if (this.running === running) this.running = undefined;
    });
    return running;
  }

  private leave(): void {
    this.users -= 1;
    if (this.users > 0 || this.running === undefined) return;
    const { stop, reflector, filled } = this.running;
    this.running = undefined;
    stop.abort();
    const end = async () => {
      await filled.catch(() => undefined);
      await reflector.stopped();
      this.objects = new LargeMap();
      this.namespaces.clear();
      for (const index of this.indexes.values()) index.clear();
    };
    this.ended = end();
  }

  /** Replaces all objects, in turns with other work. The reflector reports nothing else meanwhile. */
  private async replace(objects: readonly T[]): Promise<void> {
    const gone = new LargeMap<true>();
    await inTurns(eachInSteps(this.objects.keys(), (key) => gone.set(key, true)));
    const put = (object: T) => {
      const key = keyOfObject(object);
      gone.delete(key);
      if (this.objects.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion) this.set(object);
    };
    await inTurns(eachInSteps(objects, put));
    await inTurns(eachInSteps(gone.keys(), (key) => this.delete(key)));
  }

  private set(object: T): void {
    const key = keyOfObject(object);
    const old = this.objects.get(key);
    if (old !== undefined) this.unlist(old);
    // An object that was deleted and created again under the same name is a different object.
    const isSame = old !== undefined && old.metadata.uid === object.metadata.uid;
    if (old !== undefined && !isSame) {
      this.objects.delete(key);
      for (const handler of this.handlers) handler.changed(undefined, old);
    }
    this.objects.set(key, object);
    this.namespaces.add(object);
    for (const index of this.indexes.values()) index.add(object);
    for (const handler of this.handlers) handler.changed(object, isSame ? old : undefined);
  }

  private delete(key: string): void {
    const old = this.objects.get(key);
    if (old === undefined) return;
    this.unlist(old);
    this.objects.delete(key);
    for (const handler of this.handlers) handler.changed(undefined, old);
  }

  private unlist(object: T): void {
    this.namespaces.remove(object);
    for (const index of this.indexes.values()) index.remove(object);
  }
}

/** Reports all existing objects to a handler, and meanwhile the changes of those that it has received. */
class Newcomer<T extends ApiObject> implements InformerHandler<T> {
  private readonly reported = new Set<T>();

  constructor(private readonly handler: InformerHandler<T>) {}

  /** @param objects may change between two steps, if the change is reported to this handler */
  *meets(objects: Iterable<T>, signal: AbortSignal): Steps {
    let rounds = 0;
    for (const object of objects) {
      if (signal.aborted) return;
      if (!this.reported.has(object)) this.changed(object, undefined);
      if (++rounds % objectsOfStep === 0) yield;
    }
  }

  changed(object: T | undefined, old: T | undefined): void {
    const isKnown = old !== undefined && this.reported.delete(old);
    if (object !== undefined) this.reported.add(object);
    else if (!isKnown) return;
    this.handler.changed(object, isKnown ? old : undefined);
  }
}

const sharedPacker = new ObjectPacker(sharedParts);

/** How many objects a handler receives in one step; it may take a while for each. */
const objectsOfStep = 32;

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function keyOfObject({ metadata }: ApiObject): string {
  return keyOf(metadata.namespace ?? '', metadata.name ?? '');
}

/** The object with its version, without managedFields, which no control loop reads. */
export function trimmed(object: ApiObject, resourceVersion: bigint): ApiObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, resourceVersion: String(resourceVersion) } };
}
