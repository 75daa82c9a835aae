import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ChangeSubscription, ListScope, Storage } from '../../../storage/storage.interface.js';
import { ResourceRegistry } from '../resource-registry.js';
import { Informer } from './informer.js';

const resource = 'things';

describe('Informer', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  let stop: AbortController;
  let broken: ChangeSubscription[];

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    storage = await openTestStorage(await postgres.createTestDatabase());
    stop = new AbortController();
    broken = [];
  });
  afterEach(async () => {
    stop.abort();
    await storage.stop();
  });

  const text = (name: string, color: string) =>
    JSON.stringify({ metadata: { name, namespace: 'ns', uid: `${name}-uid`, managedFields: [{}] }, color });
  const put = (name: string, color: string) =>
    storage.create({ resource, namespace: 'ns', name }, `${name}-uid`, text(name, color));
  const paint = (name: string, color: string) =>
    storage.guaranteedUpdate({ resource, namespace: 'ns', name }, {}, () =>
      Promise.resolve({ kind: 'write', json: text(name, color), uid: `${name}-uid` }),
    );
  const remove = (name: string) =>
    storage.guaranteedUpdate({ resource, namespace: 'ns', name }, {}, () =>
      Promise.resolve({ kind: 'delete', json: text(name, 'none') }),
    );
  const colorOf = (object: ApiObject) => [String(object.color)];

  function informer(from: Storage = storage): Informer {
    return new Informer(from, new ResourceRegistry(), resource, () => undefined);
  }

  /** Records the reported objects, and waits for them. */
  class Listener {
    readonly reported: string[] = [];
    private readonly news = new EventEmitter();

    changed(object: ApiObject | undefined, old: ApiObject | undefined): void {
      const { name } = (object ?? old)?.metadata ?? {};
      this.reported.push(`${name}: ${old?.color ?? 'absent'} -> ${object?.color ?? 'absent'}`);
      this.news.emit('told');
    }

    async hears(line: string): Promise<void> {
      while (!this.reported.includes(line)) await once(this.news, 'told', { signal: AbortSignal.timeout(10_000) });
    }
  }

  it('reports what is there and what changes, keeps indexes, and shows versions', async () => {
    await put('a', 'red');
    const things = informer();
    await things.use(stop.signal);
    const byColor = things.index('color', colorOf);
    const listener = new Listener();
    await things.subscribe(listener, stop.signal);
    assert.deepEqual(listener.reported, ['a: absent -> red']);
    const { object } = await paint('a', 'blue');
    await things.reached(object.resourceVersion);
    assert.deepEqual(listener.reported, ['a: absent -> red', 'a: red -> blue']);
    assert.equal(byColor.get('red').size, 0);
    assert.deepEqual([...byColor.get('blue')], [things.get('ns', 'a')]);
    assert.equal(things.get('ns', 'a')?.metadata.resourceVersion, String(object.resourceVersion));
    assert.equal(things.get('ns', 'a')?.metadata.managedFields, undefined);
    await remove('a');
    await listener.hears('a: blue -> absent');
    assert.equal(things.inNamespace('ns').size, 0);
    assert.equal(byColor.get('blue').size, 0);
  });

  it('stays as long as one user needs it, and forgets everything afterwards', async () => {
    await put('a', 'red');
    const things = informer();
    const byColor = things.index('color', colorOf);
    const first = new AbortController();
    await Promise.all([things.use(first.signal), things.use(stop.signal)]);
    first.abort();
    const { resourceVersion } = await put('b', 'red');
    await things.reached(resourceVersion);
    assert.equal(byColor.get('red').size, 2);
    stop.abort();
    await things.stopped();
    assert.equal(things.size, 0);
    assert.equal(byColor.get('red').size, 0);
    const again = new AbortController();
    await things.use(again.signal);
    assert.equal(byColor.get('red').size, 2);
    again.abort();
    await things.stopped();
  });

  it('reports the difference after it lost its place', async () => {
    const losing = new Proxy(storage, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (name !== 'watch') return typeof value === 'function' ? value.bind(target) : value;
        return async (scope: ListScope, from: bigint) => {
          const real = await storage.watch(scope, from);
          if (broken.length > 0) return real;
          broken.push(real);
          let fail: (error: Error) => void = () => undefined;
          const failing = new Promise<undefined>((_, reject) => (fail = reject));
          failing.catch(() => undefined);
          breakNow = () => fail(new Error('too slow'));
          // The real stream is not read: changes from now on are missed.
          return { next: () => failing, close: () => real.close(), onFailure: () => undefined };
        };
      },
    });
    let breakNow = (): void => undefined;
    await put('same', 'red');
    await put('changed', 'red');
    await put('gone', 'red');
    const things = informer(losing);
    await things.use(stop.signal);
    const listener = new Listener();
    await things.subscribe(listener, stop.signal);
    listener.reported.length = 0;
    await paint('changed', 'blue');
    await remove('gone');
    await put('new', 'green');
    breakNow();
    await listener.hears('gone: red -> absent');
    assert.deepEqual(listener.reported.toSorted(), [
      'changed: red -> blue',
      'gone: red -> absent',
      'new: absent -> green',
    ]);
  });

  it('reports the end of an object before another one of its name', async () => {
    await put('a', 'red');
    const things = informer();
    await things.use(stop.signal);
    const listener = new Listener();
    await things.subscribe(listener, stop.signal);
    await remove('a');
    const other = JSON.stringify({ metadata: { name: 'a', namespace: 'ns', uid: 'other' }, color: 'green' });
    const { resourceVersion } = await storage.create({ resource, namespace: 'ns', name: 'a' }, 'other', other);
    await things.reached(resourceVersion);
    assert.deepEqual(listener.reported, ['a: absent -> red', 'a: red -> absent', 'a: absent -> green']);
  });

  it('reports very many objects in turns with other work, and what becomes of them meanwhile', async () => {
    const names = Array.from({ length: 256 }, (_, i) => `thing-${String(i).padStart(3, '0')}`);
    await Promise.all(names.map((name) => put(name, 'red')));
    const things = informer();
    await things.use(stop.signal);
    const reported = new Map<string, string>();
    const changed = (object: ApiObject | undefined, old: ApiObject | undefined) => {
      const { name = '' } = (object ?? old)?.metadata ?? {};
      // Reports about an object continue from the state that the handler received before.
      assert.equal(old?.color, reported.get(name), name);
      if (object === undefined) reported.delete(name);
      else reported.set(name, String(object.color));
      const end = performance.now() + 1;
      while (performance.now() < end);
    };
    let turns = 0;
    let isSubscribed = false;
    const subscribing = things.subscribe({ changed }, stop.signal).then(() => (isSubscribed = true));
    const others = (async () => {
      for (; !isSubscribed; turns += 1) await setImmediate();
    })();
    assert.ok(reported.size < names.length, 'some were not told yet');
    const changes = [0, 31, 32, 33, 100, 200, 255].map((i) => paint(names[i] as string, 'blue'));
    const ends = [1, 34, 150, 254].map((i) => remove(names[i] as string));
    const again = await Promise.all([...changes, ...ends, put('thing-new', 'green')]);
    await Promise.all([subscribing, others]);
    for (const written of again) {
      await things.reached('object' in written ? written.object.resourceVersion : written.resourceVersion);
    }
    assert.ok(turns >= 7, `${turns} turns`);
    assert.equal(reported.size, names.length - ends.length + 1);
    for (const { metadata, color } of things.all()) assert.equal(reported.get(metadata.name ?? ''), color);
  });
});
