import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ChangeSubscription, Storage } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import { ResourceRegistry } from '../resource-registry.js';
import { Reflector } from './reflector.js';

const resource = 'things';

/** Records the calls it receives, in order. */
class Recorder {
  readonly reported: string[] = [];

  replace(objects: readonly ApiObject[]): void {
    this.reported.push(`all ${objects.map(({ metadata, value }) => `${metadata.name}=${value}`).join()}`);
  }

  set({ metadata, value }: ApiObject): void {
    this.reported.push(`${metadata.name}=${value}`);
  }

  delete(namespace: string, name: string): void {
    this.reported.push(`${namespace}/${name} gone`);
  }
}

/** The real store, whose subscriptions a test can break and whose lists it can hold up. */
class BreakableStorage {
  private readonly subscriptions: { fail(): void }[] = [];
  canList = true;

  constructor(private readonly real: TestStorage) {}

  get storage(): Storage {
    const { real } = this;
    return new Proxy(real, {
      get: (_target, name) => {
        if (name === 'watch') return (scope: never, from: bigint) => this.watch(scope, from);
        if (name === 'list' && !this.canList) return () => Promise.reject(new StorageError('Unavailable', 'not now'));
        const value = Reflect.get(real, name) as unknown;
        return typeof value === 'function' ? value.bind(real) : value;
      },
    });
  }

  breakSubscriptions(): void {
    for (const subscription of this.subscriptions.splice(0)) subscription.fail();
  }

  private async watch(scope: never, from: bigint): Promise<ChangeSubscription> {
    const subscription = await this.real.watch(scope, from);
    let fail = () => {};
    const broken = new Promise<never>((_, reject) => {
      fail = () => reject(new StorageError('SlowConsumer', 'too slow'));
    });
    broken.catch(() => undefined);
    this.subscriptions.push({ fail: () => fail() });
    return {
      next: () => Promise.race([subscription.next(), broken]),
      onFailure: (listener) => subscription.onFailure(listener),
      close: () => subscription.close(),
    };
  }
}

describe('Reflector', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });

  after(() => postgres.stop());

  async function withStorage(use: (real: TestStorage, broken: BreakableStorage) => Promise<void>): Promise<void> {
    const real = await openTestStorage(await postgres.createTestDatabase());
    try {
      await use(real, new BreakableStorage(real));
    } finally {
      await real.stop();
    }
  }

  const write = (storage: TestStorage, name: string, value: number) =>
    storage.guaranteedUpdate({ resource, namespace: 'n', name }, { ignoreNotFound: true }, (current) => ({
      kind: 'write',
      json: JSON.stringify({ metadata: { name, namespace: 'n' }, value }),
      uid: current?.uid ?? name,
    }));
  const remove = (storage: TestStorage, name: string) =>
    storage.guaranteedUpdate({ resource, namespace: 'n', name }, {}, (current) => ({
      kind: 'delete',
      json: current?.json ?? '',
    }));

  it('reports all existing objects, then every change in order', () =>
    withStorage(async (storage) => {
      await write(storage, 'a', 1);
      await write(storage, 'b', 1);
      const recorder = new Recorder();
      const stop = new AbortController();
      const reflector = new Reflector(storage, new ResourceRegistry(), resource, recorder, assert.ifError);
      await reflector.start(stop.signal);
      await write(storage, 'b', 2);
      await remove(storage, 'a');
      await write(storage, 'c', 1);
      await reflector.reached(await storage.head());
      assert.deepEqual(recorder.reported, ['all a=1,b=1', 'b=2', 'n/a gone', 'c=1']);
      assert.equal(reflector.lostForMs, 0);
      stop.abort();
      await reflector.stopped();
      await reflector.reached(10n ** 15n);
    }));

  it('passes on no change of an object of which the sink makes the same', () =>
    withStorage(async (storage) => {
      await write(storage, 'a', 1);
      const asked: string[] = [];
      const value = (json: string) => String((JSON.parse(json) as { value: number }).value);
      const isSame = (before: string, after: string): boolean => {
        asked.push(`${value(before)} ${value(after)}`);
        return value(before).length === value(after).length;
      };
      const recorder = Object.assign(new Recorder(), { isSame });
      const stop = new AbortController();
      const reflector = new Reflector(storage, new ResourceRegistry(), resource, recorder, assert.ifError);
      await reflector.start(stop.signal);
      await write(storage, 'a', 2);
      await write(storage, 'a', 10);
      await write(storage, 'b', 1);
      await remove(storage, 'a');
      await reflector.reached(await storage.head());
      assert.deepEqual(asked, ['1 2', '2 10']);
      assert.deepEqual(recorder.reported, ['all a=1', 'a=10', 'b=1', 'n/a gone']);
      stop.abort();
      await reflector.stopped();
    }));

  it('starts from a fresh list after it lost its place, and tells how long it was lost', () =>
    withStorage(async (storage, broken) => {
      await write(storage, 'a', 1);
      const recorder = new Recorder();
      const stop = new AbortController();
      let time = 1000;
      let onFault = (_error: unknown) => {};
      const nextFault = () =>
        new Promise<unknown>((resolve) => {
          onFault = resolve;
        });
      const report = (error: unknown) => onFault(error);
      const reflector = new Reflector(broken.storage, new ResourceRegistry(), resource, recorder, report, () => time);
      await reflector.start(stop.signal);
      broken.canList = false;
      let fault = nextFault();
      broken.breakSubscriptions();
      assert.match(String(await fault), /too slow/);
      fault = nextFault();
      assert.match(String(await fault), /not now/);
      time += 7000;
      assert.equal(reflector.lostForMs, 7000);
      await write(storage, 'b', 1);
      broken.canList = true;
      await reflector.reached(await storage.head());
      assert.equal(reflector.lostForMs, 0);
      assert.deepEqual(recorder.reported, ['all a=1', 'all a=1,b=1']);
      await write(storage, 'c', 1);
      await reflector.reached(await storage.head());
      assert.equal(recorder.reported.at(-1), 'c=1');
      stop.abort();
      await reflector.stopped();
    }));

  it('pauses when its sink fails again and again', () =>
    withStorage(async (storage) => {
      await write(storage, 'a', 1);
      let isBroken = false;
      const faults: number[] = [];
      const recorder = new Recorder();
      const fail = () => {
        if (isBroken) throw new Error('a sink that cannot take this');
      };
      const sink = {
        replace: (objects: readonly ApiObject[]) => {
          fail();
          recorder.replace(objects);
        },
        set: fail,
        delete: fail,
      };
      const stop = new AbortController();
      const reflector = new Reflector(storage, new ResourceRegistry(), resource, sink, () =>
        faults.push(performance.now()),
      );
      await reflector.start(stop.signal);
      isBroken = true;
      await write(storage, 'a', 2);
      try {
        const begun = performance.now();
        while (faults.length < 4) {
          await storage.head();
          assert.ok(performance.now() - begun < 60_000, `${faults.length} attempts`);
        }
        // The first retry is immediate; each further one follows half a second after its fault. Timers may fire a
        // moment early.
        const tookMs = (faults[3] ?? 0) - (faults[0] ?? 0);
        assert.ok(tookMs >= 990, `three tries again within ${tookMs} ms`);
        isBroken = false;
        await reflector.reached(await storage.head());
        assert.equal(recorder.reported.at(-1), 'all a=2');
      } finally {
        stop.abort();
        await reflector.stopped();
      }
    }));
});
