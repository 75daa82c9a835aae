import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ChangeSubscription, ListScope } from '../../../storage/storage.interface.js';
import { ChangeInformer } from './change-informer.js';

describe('ChangeInformer', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;

  before(async () => {
    postgres = await startTestPostgres();
    storage = await openTestStorage(await postgres.createTestDatabase());
  });
  after(async () => {
    await storage?.stop();
    await postgres?.stop();
  });

  const put = (resource: string, name: string) =>
    storage.create({ resource, namespace: 'ns', name }, `${name}-uid`, JSON.stringify({ metadata: { name } }));

  it('reports changes after its start, and only those of its resource', async () => {
    await put('pods', 'before');
    const events = new EventEmitter();
    const names: string[] = [];
    const fail = () => assert.fail('nothing is missed');
    const changed = ({ resource, name }: { resource: string; name: string }) => {
      names.push(`${resource}/${name}`);
      events.emit(name);
    };
    const stop = new AbortController();
    const informer = new ChangeInformer(storage, 'pods', { changed, missed: fail }, fail);
    await informer.start(stop.signal);
    const last = once(events, 'last');
    await put('pods', 'first');
    await put('secrets', 'other');
    await put('pods', 'last');
    await last;
    assert.deepEqual(names, ['pods/first', 'pods/last']);
    stop.abort();
    await informer.stopped();
  });

  it('says that changes may be missed when it loses its place, and goes on', async () => {
    let broken: ChangeSubscription | undefined;
    // The first subscription ends like that of a reader that is too slow; the store behind it is the real one.
    const watch = async (scope: ListScope, from: bigint): Promise<ChangeSubscription> => {
      const real = await storage.watch(scope, from);
      if (broken !== undefined) return real;
      broken = real;
      const next = () => Promise.reject(new Error('too slow'));
      return { next, close: () => real.close(), onFailure: (handler) => real.onFailure(handler) };
    };
    const losing = { head: () => storage.head(), watch };
    const events = new EventEmitter();
    const faults: unknown[] = [];
    const stop = new AbortController();
    const handler = {
      changed: ({ name }: { name: string }) => void events.emit(name),
      missed: () => void events.emit('missed'),
    };
    const informer = new ChangeInformer(losing, 'pods', handler, (error) => faults.push(error));
    const firstMissed = once(events, 'missed');
    await informer.start(stop.signal);
    await firstMissed;
    // `missed` is called once more after the reconnect, because changes in between were not reported.
    await once(events, 'missed');
    const seen = once(events, 'later');
    await put('pods', 'later');
    await seen;
    assert.match(String(faults[0]), /too slow/);
    stop.abort();
    await informer.stopped();
  });
});
