import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { ControllerName } from '../../src/base/config/control-loop.options.js';
import type { ApiObject } from '../../src/base/machinery/api-object.js';
import type { GroupResource } from '../../src/base/machinery/group-version.js';
import { cloneJson } from '../../src/base/machinery/json/exact-numbers.js';
import { systemTimers, type Timers } from '../../src/base/machinery/timers.js';
import { groupName, vendorNames } from '../../src/base/machinery/vendor.js';
import { Logger } from '../../src/base/observability/logger.js';
import { keepRunning } from '../../src/loops/controllers/control-loop.js';
import type { ControllersOptions } from '../../src/loops/controllers/controllers-options.js';
import { type DeepPartial, LoopClient } from '../../src/loops/controllers/frame/loop-client.js';
import { ReconcileContext } from '../../src/loops/controllers/frame/reconcile-context.js';
import { makeLoops } from '../../src/loops/controllers/loop-table.js';
import { LoopMetrics } from '../../src/loops/controllers/metrics/loop-metrics.js';
import { ManualTimers, stallMs } from '../../src/loops/controllers/testing/manual-timers.js';
import { SharedInformers } from '../../src/objects/registry/informers/shared-informers.js';
import type { WriteAdmission } from '../../src/objects/registry/store/admitted-store.js';
import type { ResourceStores } from '../../src/objects/registry/store/resource-stores.js';
import { bootstrapRights } from './loop-rights.js';
import { registeredGroups } from './registered-groups.js';
import { RestingLoops } from './resting-loops.js';
import { readScrape, type Selector, sumOf } from './scrape.js';
import { startTestPostgres, type TestPostgres } from './test-postgres.js';
import { openTestStorage, type TestStorage } from './test-storage.js';

const names = vendorNames('k8s.io');
const user = { name: 'tester', uid: '', groups: ['system:masters'], extra: {} };
const patienceMs = 120_000;

/** Loops that run as a process of their own would, until they are stopped. */
interface RunningLoops {
  readonly rest: RestingLoops;
  stop(): Promise<void>;
}

/**
 * A database with a client of the API's stores, and any number of processes that run control loops on it. Resources are
 * named like `deployments.apps` or `pods`, without the vendor's suffix of the group (`leases.coordination`).
 */
export class LoopScene {
  /** The metrics of all loops that the scene runs. */
  readonly metrics = new Registry();
  private readonly loopMetrics = new LoopMetrics(this.metrics);
  private readonly stop = new AbortController();
  private readonly running = new Set<RunningLoops>();
  /** Clocks that only tests move. */
  private readonly clocks = new Set<ManualTimers>();
  private readonly informers: SharedInformers;
  private readonly client: LoopClient;
  /** Lines that loops logged at level warn or higher. */
  readonly logged: string[] = [];

  private constructor(
    private readonly postgres: TestPostgres,
    private readonly ownPostgres: boolean,
    readonly databaseUrl: string,
    readonly storage: TestStorage,
    private readonly stores: ResourceStores,
    readonly timers: Timers,
  ) {
    const fail = (error: unknown) => this.logged.push(String(error));
    this.informers = new SharedInformers(storage, stores.registry, fail);
    this.client = new LoopClient({ storage, registry: stores.registry, timers });
  }

  /** The sum of the series of the loops that match. */
  async counted(name: string, selector: Selector = {}): Promise<number> {
    return sumOf(readScrape(await this.metrics.metrics()), name, selector);
  }

  /**
   * @param timers the clock of the loops; default: that of the system
   * @param postgres a server to share; default: one of its own
   */
  static async start({ timers = systemTimers, postgres }: { timers?: Timers; postgres?: TestPostgres } = {}) {
    const server = postgres ?? (await startTestPostgres());
    const url = await server.createTestDatabase();
    const storage = await openTestStorage(url);
    const stores = await registeredGroups(storage);
    const scene = new LoopScene(server, postgres === undefined, url, storage, stores, timers);
    await scene.create('namespaces', { metadata: { name: 'default' } });
    return scene;
  }

  async end(): Promise<void> {
    await Promise.all([...this.running].map((loops) => loops.stop()));
    this.stop.abort();
    await this.storage.stop();
    if (this.ownPostgres) await this.postgres.stop();
  }

  /**
   * Runs loops with a connection and memory of their own, as another process would. They have the rights of the default
   * policy.
   *
   * @param admission the admission of the loops' writes; default: everything is admitted
   */
  async run(
    loops: readonly ControllerName[],
    timers = this.timers,
    admission?: WriteAdmission,
    settings: Pick<
      ControllersOptions,
      | 'autoscaler'
      | 'metrics'
      | 'terminatedPodThreshold'
      | 'legacyTokenPeriodMs'
      | 'nodeRanges'
      | 'serviceRanges'
      | 'rootAuthority'
    > = {},
  ): Promise<RunningLoops> {
    if (timers instanceof ManualTimers) this.clocks.add(timers);
    const storage = await openTestStorage(this.databaseUrl);
    const { registry } = await registeredGroups(storage);
    const logger = new Logger('warn', 'text', (line) => void this.logged.push(line));
    const rest = new RestingLoops(storage, registry, (error) => void this.logged.push(String(error)));
    const { informers, queues } = rest;
    const authorizer = bootstrapRights(names);
    const client = new LoopClient({ storage, registry, timers, admission, authorizer });
    const { loopMetrics } = this;
    const shared = { storage, admission, registry, names, logger, timers, informers, client, queues, loopMetrics };
    const parts = { ...shared, random: Math.random };
    const options = { ...settings, storage, registry, names, logger, enabled: new Set(loops) };
    const stop = new AbortController();
    const work = makeLoops(options, parts).map((loop) => keepRunning(loop, timers, logger, stop.signal));
    const running = {
      rest,
      stop: async () => {
        this.running.delete(running);
        stop.abort();
        await Promise.all(work);
        await storage.stop();
      },
    };
    this.running.add(running);
    return running;
  }

  async create<T extends ApiObject>(resource: string, object: DeepPartial<T>): Promise<T> {
    return this.of<T>(resource).create(this.work(), object);
  }

  /** Changes the live object; fails when it is not there. `change` may change its argument. */
  async update<T extends ApiObject>(
    resource: string,
    namespace: string,
    name: string,
    change: (live: T) => void,
    subresource = '',
  ): Promise<T> {
    const live = await this.get<T>(resource, namespace, name);
    const changed = (object: T) => {
      change(object);
      return object;
    };
    const written = await this.of<T>(resource).update(this.work(), live, changed, subresource);
    assert.ok(written, `${resource} ${namespace}/${name} was replaced`);
    return written;
  }

  async delete(
    resource: string,
    namespace: string,
    name: string,
    options: { propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'; gracePeriodSeconds?: number } = {},
  ): Promise<void> {
    const live = await this.get(resource, namespace, name);
    await this.of(resource).delete(this.work(), live, { ...options, garbageCollector: true });
  }

  async get<T extends ApiObject>(resource: string, namespace: string, name: string): Promise<T> {
    const found = await this.find<T>(resource, namespace, name);
    assert.ok(found, `${resource} ${namespace}/${name} is missing`);
    return found;
  }

  /** The stored text of an object of a core resource, with its managedFields, which loops never see. */
  async storedText(resource: string, namespace: string, name: string): Promise<string> {
    const stored = await this.storage.get({ resource, namespace, name });
    assert.ok(stored, `${resource} ${namespace}/${name} is missing`);
    return stored.json;
  }

  find<T extends ApiObject>(resource: string, namespace: string, name: string): Promise<T | undefined> {
    return this.of<T>(resource).get(namespace, name);
  }

  /**
   * Waits until `look` returns a result for the objects of the resource, and resolves with that result. `look` is
   * called after every change.
   */
  async until<T extends ApiObject, R>(
    resource: string,
    what: string,
    look: (objects: readonly T[]) => R | undefined | false,
  ): Promise<R> {
    const informer = this.informers.of<T>(this.groupResource(resource));
    const done = new AbortController();
    await informer.use(AbortSignal.any([done.signal, this.stop.signal]));
    const stall = setInterval(() => {
      for (const clock of this.clocks) clock.endPauses();
    }, stallMs);
    try {
      return await new Promise<R>((resolve, reject) => {
        const timer = setTimeout(() => {
          const state = JSON.stringify([...informer.all()], undefined, 1).slice(0, 6000);
          reject(new Error(`waited in vain: ${what}\n${this.logged.slice(-5).join('\n')}\n${resource}: ${state}`));
        }, patienceMs);
        const check = () => {
          const found = look([...informer.all()]);
          if (found === undefined || found === false) return;
          clearTimeout(timer);
          resolve(found);
        };
        void informer.subscribe({ changed: check }, done.signal);
        check();
      });
    } finally {
      clearInterval(stall);
      done.abort();
    }
  }

  /**
   * Resolves when the loops have seen every change and have nothing to do but wait. Loops whose work fails again and
   * again do not rest, unless the pauses between their attempts grow.
   */
  async rest(): Promise<void> {
    const last = performance.now() + patienceMs;
    for (;;) {
      const head = await this.storage.head();
      const loops = [...this.running].map(({ rest }) => rest);
      await Promise.all(loops.map(({ informers }) => informers.reached(head)));
      if (loops.every(({ isIdle }) => isIdle)) {
        if (!loops.map((loop) => loop.hasFailed()).includes(true)) return;
        for (const clock of this.clocks) clock.endPauses();
      }
      assert.ok(performance.now() < last, `the loops do not come to rest\n${this.logged.slice(-5).join('\n')}`);
      await delay(10);
    }
  }

  /**
   * Advances time for the loops, which rest before and afterwards. They rest before because work under way would
   * otherwise count from its end instead of its beginning.
   */
  async pass(milliseconds: number, timers = this.timers): Promise<void> {
    assert.ok(timers instanceof ManualTimers);
    await this.rest();
    timers.advance(milliseconds);
    await this.rest();
  }

  /** Posts a body to a subresource of an object (`pods/x/eviction`); false when the object is gone. */
  async post(resource: string, namespace: string, name: string, path: string, body: object): Promise<boolean> {
    const live = await this.get(resource, namespace, name);
    return this.of(resource).post(this.work(), live, path, body);
  }

  /** Binds a pod to a node, as a scheduler does. */
  async bind(namespace: string, name: string, node: string): Promise<void> {
    const store = this.stores.named('', 'pods');
    const path = store.resource.definition.subresources?.find((subresource) => subresource.name === 'binding');
    assert.ok(path?.type === 'created');
    const { context } = this.work();
    const body = { metadata: { name, namespace }, target: { kind: 'Node', name: node } };
    const transform = (live: ApiObject | undefined) => {
      assert.ok(live, `pod ${namespace}/${name} is missing`);
      return path.write(context, cloneJson(live) as ApiObject, body);
    };
    const validate = async () => {};
    await store.update(context, namespace, name, { dryRun: false, validate, subresource: path, transform });
  }

  /**
   * Calls `changed` with every object of the resource and after each change; the returned function stops that, and so does
   * the end of the scene. An error of `changed` is added to the recorded log lines.
   */
  async follow<T extends ApiObject>(
    resource: string,
    changed: (object: T | undefined, old: T | undefined) => Promise<void> | undefined,
  ): Promise<() => void> {
    const informer = this.informers.of<T>(this.groupResource(resource));
    const done = new AbortController();
    const ended = AbortSignal.any([done.signal, this.stop.signal]);
    await informer.use(ended);
    const handle = (object: T | undefined, old: T | undefined) => {
      changed(object, old)?.catch((error: unknown) => {
        if (!ended.aborted) this.logged.push(String(error));
      });
    };
    await informer.subscribe({ changed: handle }, ended);
    return () => done.abort();
  }

  private of<T extends ApiObject>(resource: string) {
    return this.client.of<T>(this.groupResource(resource));
  }

  private groupResource(resource: string): GroupResource {
    const dot = resource.indexOf('.');
    if (dot < 0) return { group: '', resource };
    return { group: groupName(resource.slice(dot + 1), names), resource: resource.slice(0, dot) };
  }

  private work(): ReconcileContext {
    return new ReconcileContext(user, 'tester', this.timers.now(), this.stop.signal);
  }
}
