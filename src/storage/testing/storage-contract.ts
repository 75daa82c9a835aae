import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type Definer,
  endedDefinitions,
  type Storage,
  type TiedWriteAnswer,
  type UpdateDecision,
  type Write,
} from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { listAndWatchContract } from './list-and-watch-contract.js';
import { failsWith, names, put, remove } from './storage-helpers.js';

export { collectUpTo, failsWith, put, remove } from './storage-helpers.js';

/** Creates an empty store for one suite. */
export type StorageFactory = () => Promise<{ readonly storage: Storage; stop(): Promise<void> }>;

/** Tests of what every `Storage` guarantees. Call inside a `describe`. */
export function storageContract(makeStorage: StorageFactory): void {
  let storage: Storage;
  let stop: () => Promise<void>;
  before(async () => {
    const made = await makeStorage();
    storage = made.storage;
    stop = () => made.stop();
  });
  after(async () => stop());

  let suffix = 0;
  const freshResource = (): string => `things${suffix++}.example.com`;

  describe('writes that go together', () => {
    const create = (resource: string, name: string, more: Partial<Write> = {}): Write => ({
      op: 'create',
      key: { resource, namespace: 'default', name },
      uid: name,
      expected: null,
      json: '{}',
      previousJson: undefined,
      ...more,
    });
    const kinds = (answers: readonly TiedWriteAnswer[]) => answers.map(({ kind }) => kind);

    it('are all made, under versions in their order, or none', async () => {
      const resource = freshResource();
      const account = await storage.create({ resource, namespace: 'default', name: 'account' }, 'u', '{"n":0}');
      const charge = (expected: bigint, json: string) => ({
        ...create(resource, 'account'),
        op: 'update' as const,
        uid: 'u',
        expected,
        json,
        previousJson: '{"n":0}',
      });
      const first = await storage.writeTogether([charge(account.resourceVersion, '{"n":1}'), create(resource, 'a')]);
      assert.deepEqual(kinds(first), ['written', 'written']);
      const [charged, made] = first.map((answer) => (answer.kind === 'written' ? answer.resourceVersion : 0n));
      assert.ok(charged !== undefined && made !== undefined && charged < made);
      // The tied writes share a batch with others, each of which stands on its own.
      const [stale, taken, alone] = await Promise.all([
        storage.writeTogether([charge(account.resourceVersion, '{"n":2}'), create(resource, 'b')]),
        storage.writeTogether([create(resource, 'c'), create(resource, 'a')]),
        storage.create({ resource, namespace: 'default', name: 'alone' }, 'u', '{}'),
      ]);
      assert.deepEqual(kinds(stale), ['refused', 'withdrawn']);
      assert.ok(stale[0]?.kind === 'refused' && stale[0].current?.json === '{"n":1}');
      assert.deepEqual(kinds(taken), ['withdrawn', 'refused']);
      assert.ok(alone.resourceVersion > made);
      const page = await storage.list({ resource });
      assert.deepEqual(names(page.items), ['default/a', 'default/account', 'default/alone']);
    });

    it('are refused when their namespace is missing, and only for that', async () => {
      const resource = freshResource();
      const orphan = () => create(resource, randomUUID(), { inLiveNamespace: true });
      const missing = await storage.writeTogether([orphan(), orphan()]);
      assert.deepEqual(kinds(missing), ['refused', 'refused']);
      await storage.create({ resource, namespace: 'default', name: 'taken' }, 'u', '{}');
      const other = await storage.writeTogether([orphan(), create(resource, 'taken')]);
      assert.deepEqual(kinds(other), ['withdrawn', 'refused']);
    });

    it('are of different keys', async () => {
      const resource = freshResource();
      const twice = storage.writeTogether([create(resource, 'a'), create(resource, 'a')]);
      await assert.rejects(twice, failsWith('Invalid'));
    });

    it('wait for an earlier write of one of their keys, and lose to it', async () => {
      const resource = freshResource();
      const [first, second, third] = await Promise.all([
        storage.writeTogether([create(resource, 'a'), create(resource, 'b')]),
        storage.writeTogether([create(resource, 'c'), create(resource, 'b')]),
        storage.writeTogether([create(resource, 'c'), create(resource, 'd')]),
      ]);
      assert.deepEqual([first, second, third].map(kinds), [
        ['written', 'written'],
        ['withdrawn', 'refused'],
        ['written', 'written'],
      ]);
    });
  });

  describe('create and get', () => {
    it('keeps the text verbatim', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const json = '{ "b":1.0, "a":1e2,"c":"\\u0000 é 漢 😀",\n"big":12345678901234567890 }';
      const created = await storage.create(key, randomUUID(), json);
      assert.equal(created.json, json);
      assert.deepEqual(await storage.get(key), created);
      assert.equal((await storage.get(key))?.json, json);
    });

    it('answers undefined for an absent key and for an impossible one', async () => {
      const resource = freshResource();
      assert.equal(await storage.get({ resource, namespace: '', name: 'none' }), undefined);
      assert.equal(await storage.get({ resource, namespace: 'a\u0000b', name: 'none' }), undefined);
      assert.equal(await storage.get({ resource, namespace: '', name: 'x'.repeat(5000) }), undefined);
    });

    it('refuses a second object under the key', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      await storage.create(key, 'first', '{"n":1}');
      await assert.rejects(storage.create(key, 'second', '{"n":2}'), failsWith('KeyExists'));
      assert.equal((await storage.get(key))?.uid, 'first');
    });

    it('creates only in a live namespace when asked to, alone and in a batch', async () => {
      const resource = freshResource();
      const [open, ending] = [randomUUID(), randomUUID()];
      const namespaceOf = (name: string) => ({ resource: 'namespaces', namespace: '', name });
      // Not every JSON text is valid in the database.
      const texts = { nul: '\u0000', half: '\ud800x', pair: '\ud83d\ude00', path: 'C:\\users\\u0000' };
      const label = { labels: { deletionTimestamp: 'no such thing' }, annotations: texts };
      await storage.create(namespaceOf(open), 'u', JSON.stringify({ metadata: { name: open, ...label } }));
      const metadata = { annotations: texts, name: ending, deletionTimestamp: '2030-01-01T00:00:00Z' };
      await storage.create(namespaceOf(ending), 'u', JSON.stringify({ metadata }));
      const create = (namespace: string, name: string) =>
        storage.create({ resource, namespace, name }, 'u', '{}', { inLiveNamespace: true });
      const update = (namespace: string, name: string) =>
        storage.guaranteedUpdate(
          { resource, namespace, name },
          { ignoreNotFound: true, inLiveNamespace: true },
          (): UpdateDecision => ({ kind: 'write', json: '{"n":1}', uid: 'u' }),
        );
      for (const write of [create, update]) {
        await write(open, `${write.name}1`);
        await assert.rejects(write(ending, 'a'), failsWith('NoNamespace'));
        await assert.rejects(write('absent', 'a'), failsWith('NoNamespace'));
        const together = await Promise.allSettled(
          [open, ending, 'absent', open].map((namespace, i) => write(namespace, `${write.name}together${i}`)),
        );
        assert.deepEqual(
          together.map(({ status }) => status),
          ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
        );
      }
      await assert.rejects(create(open, 'create1'), failsWith('KeyExists'));
      await storage.create({ resource, namespace: 'absent', name: 'unasked' }, 'u', '{}');
      const { items } = await storage.list({ resource });
      assert.deepEqual(new Set(items.map(({ key }) => key.namespace)), new Set([open, 'absent']));
      assert.equal(items.length, 7);
      const change = await storage.watch({ resource }, (items[0]?.resourceVersion ?? 1n) - 1n);
      const seen = await change.next();
      assert.equal(seen?.changes[0]?.type, 'create');
      change.close();
    });

    it('creates only under a definition that has not ended, alone, in a batch and together with others', async () => {
      const [resource, definitions] = [freshResource(), freshResource()];
      const keyOf = (name: string): StorageKey => ({ resource: definitions, namespace: '', name });
      for (const name of ['open', 'ended']) await storage.create(keyOf(name), `uid-${name}-${resource}`, '{}');
      const ended = { resource: endedDefinitions, namespace: '', name: `uid-ended-${resource}` };
      await storage.create(ended, 'u', '{}');
      const under = (name: string, uid = `uid-${name}-${resource}`) => ({ resource: definitions, name, uid });
      const create = (definedBy: Definer, name: string, namespace = 'absent') =>
        storage.create({ resource, namespace, name }, `uid-${name}`, '{}', { definedBy });
      const update = (definedBy: Definer, name: string) =>
        storage.guaranteedUpdate(
          { resource, namespace: '', name },
          { ignoreNotFound: true, definedBy },
          (): UpdateDecision => ({ kind: 'write', json: '{}', uid: `uid-${name}` }),
        );
      const refused = [under('ended'), under('open', 'another'), under('absent')];
      for (const write of [create, update]) {
        await write(under('open'), write.name);
        for (const definer of refused) await assert.rejects(write(definer, 'x'), failsWith('NoDefinition'));
        const together = await Promise.allSettled(
          [under('open'), ...refused, under('open')].map((definer, i) => write(definer, `${write.name}${i}`)),
        );
        assert.deepEqual(
          together.map(({ status }) => status),
          ['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
        );
      }
      const { items } = await storage.list({ resource });
      assert.deepEqual(
        items.map(({ uid, key }) => `${key.name} ${uid}`),
        items.map(({ key }) => `${key.name} uid-${key.name}`),
      );
      assert.equal(items.length, 6);
      const changes = await storage.watch({ resource }, (items[0]?.resourceVersion ?? 1n) - 1n);
      assert.equal((await changes.next())?.changes[0]?.uid, items[0]?.uid);
      changes.close();
      const written = (definedBy: Definer | undefined, name: string): Write => ({
        op: 'create',
        key: { resource, namespace: '', name },
        uid: name,
        expected: null,
        json: '{}',
        previousJson: undefined,
        definedBy,
      });
      const kinds = (answers: readonly TiedWriteAnswer[]) => answers.map(({ kind }) => kind);
      const tied = [written(undefined, 'tied'), written(under('ended'), 'other')];
      assert.deepEqual(kinds(await storage.writeTogether(tied)), ['withdrawn', 'refused']);
      const both = { ...written(under('open'), 'both'), inLiveNamespace: true };
      assert.deepEqual(kinds(await storage.writeTogether([both, written(undefined, 'tied')])), [
        'refused',
        'withdrawn',
      ]);
      assert.deepEqual(kinds(await storage.writeTogether([written(under('open'), 'tied')])), ['written']);
    });

    it('gives rising versions', async () => {
      const resource = freshResource();
      let last = await storage.head();
      for (let i = 0; i < 5; i++) {
        const { resourceVersion } = await storage.create({ resource, namespace: '', name: `n${i}` }, 'u', '{}');
        assert.ok(resourceVersion > last);
        last = resourceVersion;
        assert.ok((await storage.head()) >= last);
      }
    });

    it('lets exactly one of many concurrent creates of a key win', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => storage.create(key, `uid-${i}`, `{"i":${i}}`)),
      );
      const won = results.filter((result) => result.status === 'fulfilled');
      assert.equal(won.length, 1);
      assert.equal((await storage.get(key))?.uid, won[0]?.value.uid);
      for (const result of results) if (result.status === 'rejected') failsWith('KeyExists')(result.reason);
    });

    it('answers concurrent gets each with its own object', async () => {
      const resource = freshResource();
      const keys = Array.from({ length: 40 }, (_, i) => ({ resource, namespace: `ns${i % 3}`, name: `n${i}` }));
      await Promise.all(
        keys.filter((_, i) => i % 2 === 0).map((key) => storage.create(key, key.name, `"${key.name}"`)),
      );
      const found = await Promise.all([...keys, ...keys].map((key) => storage.get(key)));
      for (const [i, object] of found.entries()) {
        const key = keys[i % keys.length];
        assert.equal(object?.json, i % 2 === 0 ? `"${key?.name}"` : undefined);
      }
    });

    it('refuses objects that can not be stored and spares the writes beside them', async () => {
      const resource = freshResource();
      const key = (name: string): StorageKey => ({ resource, namespace: 'default', name });
      const [good, broken, nul, alsoGood] = await Promise.allSettled([
        storage.create(key('good'), 'u', '{"ok":true}'),
        storage.create(key('broken'), 'u', '{"ok":'),
        storage.create(key('n\u0000l'), 'u', '{}'),
        storage.create(key('also-good'), 'u', '{"ok":true}'),
      ]);
      assert.equal(good.status, 'fulfilled');
      assert.equal(alsoGood.status, 'fulfilled');
      assert.ok(broken.status === 'rejected' && failsWith('Invalid')(broken.reason));
      assert.ok(nul.status === 'rejected' && failsWith('Invalid')(nul.reason));
      assert.deepEqual(names((await storage.list({ resource })).items), ['default/also-good', 'default/good']);
    });
  });

  describe('guaranteedUpdate', () => {
    it('writes, logs and returns the new state', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const created = await storage.create(key, 'u', '{"n":1}');
      const { outcome, object } = await put(storage, key, '{"n":2}');
      assert.equal(outcome, 'written');
      assert.ok(object.resourceVersion > created.resourceVersion);
      assert.deepEqual(await storage.get(key), object);
    });

    it('fails with KeyNotFound, or creates when asked to', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      await assert.rejects(put(storage, key, '{}'), failsWith('KeyNotFound'));
      const made = await storage.guaranteedUpdate(key, { ignoreNotFound: true }, (current) => {
        assert.equal(current, undefined);
        return { kind: 'write', json: '{"n":1}', uid: 'fresh' };
      });
      assert.equal(made.outcome, 'written');
      assert.deepEqual(await storage.get(key), made.object);
    });

    it('writes nothing for unchanged', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const created = await storage.create(key, 'u', '{"n":1}');
      const result = await storage.guaranteedUpdate(key, {}, () => ({ kind: 'unchanged' }));
      assert.deepEqual(result, { outcome: 'unchanged', object: created });
      assert.equal((await storage.get(key))?.resourceVersion, created.resourceVersion);
    });

    it('deletes with a version of its own', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const created = await storage.create(key, 'u', '{"n":1}');
      const { outcome, object } = await remove(storage, key);
      assert.equal(outcome, 'deleted');
      assert.ok(object.resourceVersion > created.resourceVersion);
      assert.equal(object.json, '{"n":1}');
      assert.equal(await storage.get(key), undefined);
      const again = await storage.create(key, 'other', '{"n":3}');
      assert.ok(again.resourceVersion > object.resourceVersion);
    });

    it('checks preconditions against the live object, even after a stale cached copy', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const cachedCopy = await storage.create(key, 'u', '{"n":1}');
      const { object: live } = await put(storage, key, '{"n":2}');
      const write = () => ({ kind: 'write', json: '{"n":3}', uid: 'u' }) as const;
      for (const preconditions of [{ uid: 'other' }, { resourceVersion: cachedCopy.resourceVersion }]) {
        await assert.rejects(storage.guaranteedUpdate(key, { preconditions }, write), failsWith('PreconditionFailed'));
        await assert.rejects(
          storage.guaranteedUpdate(key, { preconditions, cachedCopy }, write),
          failsWith('PreconditionFailed'),
        );
      }
      assert.deepEqual(await storage.get(key), live);
      const preconditions = { uid: 'u', resourceVersion: live.resourceVersion };
      const result = await storage.guaranteedUpdate(key, { preconditions, cachedCopy }, write);
      assert.equal(result.object.json, '{"n":3}');
    });

    it('never ends with what a stale cached copy suggests', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const cachedCopy = await storage.create(key, 'u', '{"n":1}');
      await put(storage, key, '{"n":2}');
      const seen: string[] = [];
      const result = await storage.guaranteedUpdate(key, { cachedCopy }, (current) => {
        seen.push(current?.json ?? '');
        return { kind: 'unchanged' };
      });
      assert.deepEqual(seen, ['{"n":1}', '{"n":2}']);
      assert.equal(result.object.json, '{"n":2}');
      const written = await storage.guaranteedUpdate(key, { cachedCopy }, (current) => ({
        kind: 'write',
        json: `{"was":${current?.json}}`,
        uid: 'u',
      }));
      assert.equal(written.object.json, '{"was":{"n":2}}');
    });

    it('decides once on a cached copy that turns out right', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const cachedCopy = await storage.create(key, 'u', '{"n":1}');
      let calls = 0;
      const result = await storage.guaranteedUpdate(key, { cachedCopy }, () => {
        calls++;
        return { kind: 'unchanged' };
      });
      assert.deepEqual([result.outcome, result.object, calls], ['unchanged', cachedCopy, 1]);
      const mine = new RangeError('mine');
      const refuse = () => {
        calls++;
        throw mine;
      };
      await assert.rejects(storage.guaranteedUpdate(key, { cachedCopy }, refuse), mine);
      assert.equal(calls, 2);
      await remove(storage, key);
      await assert.rejects(storage.guaranteedUpdate(key, { cachedCopy }, refuse), failsWith('KeyNotFound'));
    });

    it('rethrows errors of the update function', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      await storage.create(key, 'u', '{"n":1}');
      const mine = new RangeError('mine');
      await assert.rejects(
        storage.guaranteedUpdate(key, {}, () => {
          throw mine;
        }),
        (error) => error === mine,
      );
    });

    it('loses none of many concurrent updates', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'counter' };
      await storage.create(key, 'u', '0');
      await Promise.all(
        Array.from({ length: 50 }, () =>
          storage.guaranteedUpdate(key, {}, async (current) => {
            await Promise.resolve();
            return { kind: 'write', json: String(Number(current?.json) + 1), uid: 'u' };
          }),
        ),
      );
      assert.equal((await storage.get(key))?.json, '50');
    });
  });

  listAndWatchContract(() => storage, freshResource);
}
