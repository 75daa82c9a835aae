import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { eventually } from '../../../../test/e2e/support/test-cluster.js';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type Authorizer, type AuthorizerAttributes, closedAuthorizer } from '../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { Logger } from '../../../base/observability/logger.js';
import { QueueMetrics } from '../../../base/observability/queue-metrics.js';
import type { ConfigMap } from '../../../objects/apis/core/v1/config-map.types.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import { SharedInformers } from '../../../objects/registry/informers/shared-informers.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import type { WorkOutcome } from '../work-queue.js';
import { LoopClient, type ResourceClient } from './loop-client.js';
import { LoopEvents } from './loop-events.js';
import { componentUser, ReconcileContext, serverUser } from './reconcile-context.js';
import { ownKey, ReconcileLoop, type Source, source, splitKey } from './reconcile-loop.js';
import { TermOver } from './term-over.js';

type Map = ConfigMap & ApiObject;
type StoredEvent = Event & ApiObject;

const names = vendorNames('k8s.io');

/** Makes as many copies of each ConfigMap named in `wanted` as its data requests, under generated names. */
class Copier extends ReconcileLoop {
  readonly name = 'copier';
  override quietRefusalsMs = 0;
  runs = 0;
  private readonly maps = this.informer<Map>('', 'configmaps');

  protected sources(): readonly Source[] {
    return [source(this.maps, ownKey)];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const original = this.maps.get(namespace, name);
    const wanted = Number(original?.data?.copies ?? 0);
    if (original === undefined || wanted === 0) return 'done';
    this.runs += 1;
    const copies = [...this.maps.inNamespace(namespace)].filter(({ data }) => data?.of === name);
    for (let i = copies.length; i < wanted; i++) {
      await this.client<Map>('', 'configmaps').create(work, {
        metadata: { generateName: `${name}-`, namespace },
        data: { of: name },
      });
      this.events.normal(original, 'Copied', 'made a copy');
    }
    return 'done';
  }
}

describe('ReconcileLoop', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  let stores: ResourceStores;
  let stop: AbortController;
  let maps: ResourceClient<Map>;
  let work: ReconcileContext;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    storage = await openTestStorage(await postgres.createTestDatabase());
    stores = await registeredGroups(storage);
    stop = new AbortController();
    const { registry } = stores;
    const client = new LoopClient({ storage, registry, timers: systemTimers });
    maps = client.of<Map>({ group: '', resource: 'configmaps' });
    const user = { name: 'tester', uid: '', groups: [], extra: {} };
    work = new ReconcileContext(user, 'tester', systemTimers.now(), stop.signal);
    await client.of({ group: '', resource: 'namespaces' }).create(work, { metadata: { name: 'ns' } });
  });
  afterEach(async () => {
    stop.abort();
    await storage.stop();
  });

  function copier(authorizer?: Authorizer, logger = new Logger('error', 'text', () => {}), metrics = new Registry()) {
    const { registry } = stores;
    const informers = new SharedInformers(storage, registry, () => undefined);
    const client = new LoopClient({ storage, registry, timers: systemTimers, authorizer });
    const queues = new QueueMetrics(metrics, () => systemTimers.elapsed());
    const base = { storage, registry, names, logger, timers: systemTimers, random: Math.random };
    return { loop: new Copier({ ...base, informers, client, queues }), informers };
  }

  it('sees its own writes before it works on a key again, however often the key is added', async () => {
    const { loop, informers } = copier();
    const running = loop.run(stop.signal);
    let original = await maps.create(work, { metadata: { name: 'a', namespace: 'ns' }, data: { copies: '3' } });
    for (let i = 0; i < 20; i++) {
      const changed = await maps.update(work, original, (live) => ({ ...live, data: { copies: '3', i: String(i) } }));
      assert.ok(changed);
      original = changed;
    }
    const seen = informers.of<Map>({ group: '', resource: 'configmaps' });
    await seen.use(stop.signal);
    await seen.reached(BigInt(original.metadata.resourceVersion ?? 0));
    const copies = () => [...seen.all()].filter(({ data }) => data?.of === 'a').length;
    await eventually(() => copies() >= 3, 'the copies');
    // However late the copies were made, later changes of the key still cause work.
    const { runs } = loop;
    await maps.update(work, original, (live) => ({ ...live, data: { copies: '3', i: 'last' } }));
    await eventually(() => loop.runs > runs, 'more work');
    stop.abort();
    await running;
    const { items } = await storage.list({ resource: 'configmaps', namespace: 'ns' });
    assert.equal(items.length, 4);
    const events = await storage.list({ resource: 'events', namespace: 'ns' });
    const [event, ...others] = events.items.map(({ json }) => JSON.parse(json) as StoredEvent);
    assert.equal(others.length, 0, 'the same text is one event');
    assert.equal(event?.count, 3);
    assert.equal(event?.involvedObject?.kind, 'ConfigMap');
    assert.equal(event?.source?.component, 'copier');
  });

  it('acts as its service account, within its rights, and says so when they are missing', async () => {
    const asked: AuthorizerAttributes[] = [];
    const authorizer: Authorizer = {
      authorize: (attributes) => {
        asked.push(attributes);
        return { decision: 'noOpinion', reason: '' };
      },
    };
    let reported: (line: string) => void = () => undefined;
    const line = new Promise<string>((resolve) => (reported = resolve));
    const { loop } = copier(authorizer, new Logger('warn', 'text', reported));
    const running = loop.run(stop.signal);
    await maps.create(work, { metadata: { name: 'a', namespace: 'ns' }, data: { copies: '1' } });
    assert.match(await line, /system:serviceaccount:control-system:copier.*cannot create resource/);
    stop.abort();
    await running;
    const [first] = asked;
    assert.equal(first?.verb, 'create');
    assert.equal(first?.resource, 'configmaps');
    assert.ok(first?.user.groups.includes('system:serviceaccounts:control-system'));
    assert.ok(!first?.user.groups.includes('system:masters'));
  });

  it('does not complain of rights that come soon after the start of its term', async () => {
    let asked = 0;
    const authorizer: Authorizer = {
      authorize: () => ({ decision: ++asked > 3 ? 'allow' : 'noOpinion', reason: '' }),
    };
    const lines: string[] = [];
    const { loop, informers } = copier(authorizer, new Logger('warn', 'text', (line) => lines.push(line)));
    loop.quietRefusalsMs = 60_000;
    const running = loop.run(stop.signal);
    await maps.create(work, { metadata: { name: 'a', namespace: 'ns' }, data: { copies: '1' } });
    const seen = informers.of<Map>({ group: '', resource: 'configmaps' });
    await seen.use(stop.signal);
    await new Promise<void>((resolve) => {
      const changed = (object?: Map) => object?.data?.of === 'a' && resolve();
      void seen.subscribe({ changed }, stop.signal);
    });
    stop.abort();
    await running;
    assert.deepEqual(lines, []);
  });

  it('asks nobody for the rights of the server itself', async () => {
    const { registry } = stores;
    const client = new LoopClient({ storage, registry, timers: systemTimers, authorizer: closedAuthorizer });
    const configMaps = client.of<Map>({ group: '', resource: 'configmaps' });
    const workOf = (user: UserInfo) =>
      new ReconcileContext(user, 'tester', systemTimers.now(), new AbortController().signal);
    const metadata = { name: 'a', namespace: 'ns' };
    await assert.rejects(configMaps.create(workOf(componentUser('anything')), { metadata }), { reason: 'Forbidden' });
    await configMaps.create(workOf(serverUser), { metadata });
  });

  it('writes nothing after the end of its term, whatever its work goes on with', async () => {
    const { registry } = stores;
    const client = new LoopClient({ storage, registry, timers: systemTimers }).of<Map>({
      group: '',
      resource: 'configmaps',
    });
    const made = await maps.create(work, { metadata: { name: 'a', namespace: 'ns' } });
    const term = new AbortController();
    const late = new ReconcileContext(work.context.user as UserInfo, 'tester', systemTimers.now(), term.signal);
    term.abort();
    await assert.rejects(client.create(late, { metadata: { name: 'b', namespace: 'ns' } }), TermOver);
    await assert.rejects(
      client.update(late, made, (live) => ({ ...live, data: { x: 'y' } })),
      TermOver,
    );
    await assert.rejects(client.delete(late, made), TermOver);
    const { items } = await storage.list({ resource: 'configmaps', namespace: 'ns' });
    assert.deepEqual(
      items.map(({ key, resourceVersion }) => `${key.name} ${resourceVersion}`),
      [`a ${made.metadata.resourceVersion}`],
    );
  });

  it('writes events about objects whose names leave no room for more, or do not fit into names of events', async () => {
    const { registry } = stores;
    const client = new LoopClient({ storage, registry, timers: systemTimers });
    const events = new LoopEvents(
      { client, names, timers: systemTimers, logger: new Logger('error') },
      'tester',
      'tester',
    );
    const about = (name: string): ApiObject => ({
      kind: 'Thing',
      apiVersion: 'v1',
      metadata: { name, namespace: 'ns', uid: name },
    });
    const long = 'a'.repeat(253);
    for (const name of ['short', long, 'system:odd']) events.normal(about(name), 'Told', 'something');
    await events.flushed();
    const { items } = await storage.list({ resource: 'events', namespace: 'ns' });
    const reported = items.map(({ json }) => JSON.parse(json) as StoredEvent);
    assert.deepEqual(reported.map(({ involvedObject }) => involvedObject?.name).sort(), [long, 'short', 'system:odd']);
    for (const { metadata } of reported) assert.match(metadata.name ?? '', /^[a-z0-9.-]{1,253}$/);
  });

  it('drops events of the namespace with too many only, and writes those of others meanwhile', async () => {
    const { registry } = stores;
    const client = new LoopClient({ storage, registry, timers: systemTimers });
    const log: string[] = [];
    const logger = new Logger('warn', 'text', (line) => log.push(line));
    const written: string[] = [];
    const events = new LoopEvents(
      { client: client, names, timers: systemTimers, logger },
      'tester',
      'tester',
      undefined,
      (ns) => written.push(ns),
    );
    const about = (namespace: string, i: number): ApiObject => ({
      kind: 'Thing',
      apiVersion: 'v1',
      metadata: { name: `n${i}`, namespace, uid: `${namespace}-${i}` },
    });
    await client.of({ group: '', resource: 'namespaces' }).create(work, { metadata: { name: 'noisy' } });
    for (let i = 0; i < 1100; i++) events.normal(about('noisy', i), 'Told', 'something');
    for (let i = 0; i < 3; i++) events.normal(about('ns', i), 'Told', 'something');
    assert.ok(events.usedShare('noisy') >= 1);
    assert.ok(events.usedShare('ns') < 0.01);
    await events.flushed();
    assert.equal(events.usedShare('noisy'), 0);
    assert.equal(written.filter((namespace) => namespace === 'ns').length, 3);
    assert.ok(written.indexOf('ns') < 100, `the first one after ${written.indexOf('ns')} of the others`);
    assert.match(log.join(''), /an event was dropped.*namespace=noisy/);
    const { items } = await storage.list({ resource: 'events', namespace: 'noisy' });
    assert.equal(items.length, 1024);
  });

  it('measures its queue', async () => {
    const metrics = new Registry();
    const { loop } = copier(undefined, undefined, metrics);
    await maps.create(work, { metadata: { name: 'a', namespace: 'ns' }, data: { copies: '1' } });
    const running = loop.run(stop.signal);
    for (;;) {
      const text = await metrics.metrics();
      if (/workqueue_work_duration_seconds_count\{name="copier"\} [2-9]/.test(text)) {
        assert.match(text, /workqueue_adds_total\{name="copier"\} [2-9]/);
        assert.match(text, /workqueue_depth\{name="copier"\} 0/);
        break;
      }
      await setImmediate();
    }
    stop.abort();
    await running;
  });

  it('records who owns the fields that it writes, and reads objects without that', async () => {
    const name = { namespace: 'ns', name: 'a' };
    const ownersOf = async () => {
      const stored = await storage.get({ resource: 'configmaps', ...name });
      return JSON.parse(stored?.json ?? '').metadata.managedFields as readonly object[];
    };
    const made = await maps.create(work, { metadata: name, data: { x: '1' } });
    assert.equal(made.metadata.managedFields, undefined);
    const [{ time, ...entry }] = (await ownersOf()) as [{ time: string }];
    const fieldsV1 = { 'f:data': { '.': {}, 'f:x': {} } };
    const shared = { manager: 'plinth', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
    assert.deepEqual(entry, { ...shared, fieldsV1 });
    assert.match(time, /^\d{4}-.*Z$/);

    const changed = await maps.update(work, made, (live) => {
      assert.equal(live.metadata.managedFields, undefined);
      return { ...live, data: { ...live.data, y: '2' } };
    });
    assert.deepEqual(changed?.data, { x: '1', y: '2' });
    assert.equal(changed?.metadata.managedFields, undefined);
    const [after] = (await ownersOf()) as [{ fieldsV1: object }];
    assert.deepEqual(after.fieldsV1, { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } });
    assert.equal((await maps.get('ns', 'a'))?.metadata.managedFields, undefined);
  });

  it('writes under the field manager that clients know', async () => {
    const { fieldManagers } = vendorNames('example.dev', 'kubernetes');
    const { registry } = stores;
    const client = new LoopClient({ storage, registry, timers: systemTimers, managers: fieldManagers });
    for (const [account, manager] of [
      ['job-controller', 'kube-controller-manager'],
      ['kube-scheduler', 'kube-scheduler'],
      ['clusterrole-aggregation-controller', 'clusterrole-aggregation-controller'],
    ] as const) {
      const loop = new ReconcileContext(serverUser, account, Date.now(), new AbortController().signal);
      await client.of<Map>({ group: '', resource: 'configmaps' }).create(loop, {
        metadata: { namespace: 'ns', name: `by-${account}` },
        data: { x: '1' },
      });
      const stored = await storage.get({ resource: 'configmaps', namespace: 'ns', name: `by-${account}` });
      const owners = JSON.parse(stored?.json ?? '').metadata.managedFields as readonly { manager: string }[];
      assert.deepEqual(
        owners.map((owner) => owner.manager),
        [manager],
      );
    }
  });
});
