import { setTimeout as delay } from 'node:timers/promises';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { FairGate } from '../../../base/machinery/fair-gate.js';
import { Turn } from '../../../base/machinery/turns.js';
import { firstPageSize, mostPageBytes, nextPageSize } from '../../../storage/page-size.js';
import type {
  Change,
  ChangeSubscription,
  ListQuery,
  Storage,
  StoredObject,
} from '../../../storage/storage.interface.js';
import { untilReady } from '../../../storage/until-ready.js';
import type { StoredResources } from '../store/object-codec.js';
import { readWithoutManagers } from '../store/read-without-managers.js';
import { objectOf } from './shared-texts.js';

const retryMs = 500;
/** A loss within this many milliseconds after another one is probably not an accident. */
const recentMs = 2 * retryMs;

/**
 * Receives all objects of a resource and then every change, in order, usually without managedFields. The objects may be
 * shared and must not be changed. One reflector makes the calls, never two at a time, so a call may interleave long
 * work with other work.
 */
export interface ObjectSink {
  /**
   * Makes the value that `replace` and `set` receive instead of the object; default: the object. Called as soon as an
   * object is read, so a sink that needs little of each object never holds all objects in memory. `size` is the length
   * of the object's JSON.
   */
  reduce?(object: ApiObject, resourceVersion: bigint, size: number): ApiObject | Promise<ApiObject>;
  /**
   * Like `reduce`, but from the stored JSON, where it can be used unparsed; undefined: the object has to be parsed.
   * Must not parse the JSON itself.
   */
  glance?(stored: StoredObject): ApiObject | undefined;
  /**
   * Whether `reduce` surely makes the same of both stored states of an object, of which `set` received the former: then
   * `set` does not receive the latter. Must not parse the JSON.
   */
  isSame?(before: string, after: string): boolean;
  /** Receives all objects, at the start and whenever changes may have been missed. */
  replace(objects: readonly ApiObject[], resourceVersion: bigint): void | Promise<void>;
  set(object: ApiObject, resourceVersion: bigint): void | Promise<void>;
  delete(namespace: string, name: string, resourceVersion: bigint): void | Promise<void>;
}

/** Limits how many resources the process reads at one time: each takes the memory of two pages meanwhile. */
const fills = new FairGate(4);

/**
 * Lists and watches one resource into a sink. When it loses its place in the change log, it reports that and starts
 * from a fresh list. The sink keeps its objects until then.
 */
export class Reflector {
  private subscription: ChangeSubscription | undefined;
  private loop: Promise<void> | undefined;
  private isStopped = false;
  private position = 0n;
  private lostAt: number | undefined;
  private waiting: { readonly version: bigint; readonly resolve: () => void }[] = [];

  /** @param now milliseconds from a fixed point; measures how long the place has been lost. */
  constructor(
    private readonly storage: Storage,
    private readonly registry: StoredResources,
    private readonly resource: string,
    private readonly sink: ObjectSink,
    private readonly onFault: (error: unknown) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Resolves when the sink has been filled once. Continues until `signal` is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    const stop = () => {
      this.isStopped = true;
      this.subscription?.close();
      this.wake();
    };
    signal.addEventListener('abort', stop, { once: true });
    await untilReady(() => this.fill(), { signal, onWait: this.onFault });
    this.loop = this.run(signal);
  }

  /** Resolves when the reflector has stopped after the abort. */
  async stopped(): Promise<void> {
    await this.loop;
  }

  /** How long changes may have been missed, in milliseconds; 0 while the reflector has its place in the log. */
  get lostForMs(): number {
    return this.lostAt === undefined ? 0 : this.now() - this.lostAt;
  }

  /** Resolves when the sink shows everything up to `version`, or when the reflector has stopped. */
  async reached(version: bigint): Promise<void> {
    if (this.position >= version || this.isStopped) return;
    await new Promise<void>((resolve) => this.waiting.push({ version, resolve }));
  }

  private wake(): void {
    if (this.waiting.length === 0) return;
    const isDone = ({ version }: { readonly version: bigint }) => this.isStopped || this.position >= version;
    const done = this.waiting.filter(isDone);
    this.waiting = this.waiting.filter((waiter) => !isDone(waiter));
    for (const { resolve } of done) resolve();
  }

  private async fill(): Promise<void> {
    const { resource } = this;
    const bounds = { resource, pageBytes: mostPageBytes };
    const objects: ApiObject[] = [];
    const leave = await fills.enter('');
    let at: bigint;
    try {
      at = await this.read(bounds, objects);
    } finally {
      leave();
    }
    if (this.isStopped) return;
    const subscription = await this.storage.watch({ resource: this.resource }, at);
    if (this.isStopped) subscription.close();
    this.subscription = subscription;
    await this.sink.replace(objects, at);
    this.lostAt = undefined;
    this.position = at;
    this.wake();
  }

  /** Reads all objects, page by page. Returns their version. */
  private async read(bounds: Pick<ListQuery, 'resource' | 'pageBytes'>, objects: ApiObject[]): Promise<bigint> {
    let page = await this.storage.list({ ...bounds, limit: firstPageSize });
    const at = page.resourceVersion;
    for (;;) {
      const last = page.items.at(-1);
      const isLast = !page.more || last === undefined || this.isStopped;
      const after = last && { namespace: last.key.namespace, name: last.key.name };
      // The database works on the next page while this one is read.
      const next = isLast ? undefined : this.storage.list({ ...bounds, limit: nextPageSize(page), at, after });
      next?.catch(() => undefined);
      await this.readAll(page.items, objects);
      if (next === undefined) return at;
      page = await next;
    }
  }

  /** Reads objects in turns with other work, as there may be very many. */
  private async readAll(items: readonly StoredObject[], objects: ApiObject[]): Promise<void> {
    const turn = new Turn();
    for (const item of items) {
      const read = this.sink.glance?.(item) ?? this.reduced(readWithoutManagers(this.registry, item), item);
      objects.push(read instanceof Promise ? await read : read);
      if (turn.isOver) await turn.next();
    }
  }

  private deliver(change: Change): void | Promise<void> {
    const { key, resourceVersion, previousJson } = change;
    if (change.type === 'delete') return this.sink.delete(key.namespace, key.name, resourceVersion);
    if (previousJson !== undefined && this.sink.isSame?.(previousJson, change.json) === true) return;
    const glanced = this.sink.glance?.(change);
    if (glanced !== undefined) return this.sink.set(glanced, resourceVersion);
    const read = this.reduced(objectOf(this.registry, change), change);
    if (read instanceof Promise) return read.then((object) => this.sink.set(object, resourceVersion));
    return this.sink.set(read, resourceVersion);
  }

  private reduced(
    read: ApiObject | Promise<ApiObject>,
    { resourceVersion, json }: Pick<StoredObject, 'resourceVersion' | 'json'>,
  ): ApiObject | Promise<ApiObject> {
    const reduce = (object: ApiObject) => this.sink.reduce?.(object, resourceVersion, json.length) ?? object;
    return read instanceof Promise ? read.then(reduce) : reduce(read);
  }

  private async run(signal: AbortSignal): Promise<void> {
    let faultAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      try {
        if (this.subscription === undefined) await this.fill();
        await this.follow(this.subscription as ChangeSubscription);
      } catch (error) {
        if (signal.aborted) return;
        this.lostAt ??= this.now();
        this.onFault(error);
        this.subscription?.close();
        // The first retry is immediate: most faults have passed by the time they are noticed.
        const isFirst = this.subscription !== undefined && this.now() - faultAt > recentMs;
        faultAt = this.now();
        if (!isFirst) await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
      // A stream that ended may have missed changes: start from a fresh list.
      this.subscription = undefined;
    }
  }

  private async follow(subscription: ChangeSubscription): Promise<void> {
    for (;;) {
      const batch = await subscription.next();
      if (batch === undefined) return;
      const turn = new Turn();
      for (const change of batch.changes) {
        const delivery = this.deliver(change);
        if (delivery instanceof Promise) await delivery;
        if (turn.isOver) await turn.next();
      }
      this.position = batch.position;
      this.wake();
    }
  }
}
