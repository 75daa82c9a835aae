import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { StorageError, type StorageErrorCode } from '../storage.errors.js';
import type {
  Change,
  ChangeSubscription,
  Storage,
  StorageKey,
  StoredObject,
  UpdateResult,
} from '../storage.interface.js';

/** Makes an empty store for one suite. */
export type StorageFactory = () => Promise<{ readonly storage: Storage; stop(): Promise<void> }>;

/** For `assert.rejects`: a StorageError with the code. */
export function failsWith(code: StorageErrorCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StorageError, `not a StorageError: ${String(error)}`);
    assert.equal(error.code, code);
    return true;
  };
}

/** Overwrites the object, whatever it is. */
export function put(storage: Storage, key: StorageKey, json: string): Promise<UpdateResult> {
  return storage.guaranteedUpdate(key, {}, (current) => ({ kind: 'write', json, uid: current?.uid ?? '' }));
}

/** Deletes the object, logging its last state. */
export function remove(storage: Storage, key: StorageKey): Promise<UpdateResult> {
  return storage.guaranteedUpdate(key, {}, (current) => ({ kind: 'delete', json: current?.json ?? '' }));
}

/** Reads a subscription until it is complete up to `version`. */
export async function collectUpTo(subscription: ChangeSubscription, version: bigint): Promise<Change[]> {
  const changes: Change[] = [];
  for (;;) {
    const batch = await subscription.next();
    if (batch === undefined) return changes;
    changes.push(...batch.changes);
    if (batch.position >= version) return changes;
  }
}

const summary = (change: Change): string => `${change.type} ${change.key.name} ${change.json}`;
const names = (items: readonly StoredObject[]): string[] =>
  items.map((item) => `${item.key.namespace}/${item.key.name}`);

/** What every `Storage` promises. Call inside a `describe`. */
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

  describe('create and get', () => {
    it('keeps the text verbatim', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const json = '{ "b":1.0, "a":1e2,"c":"\\u0000\\ud800 é 漢 😀",\n"big":12345678901234567890 }';
      const created = await storage.create(key, randomUUID(), json);
      assert.equal(created.json, json);
      assert.deepEqual(await storage.get(key), created);
      assert.equal((await storage.get(key))?.json, json);
    });

    it('answers undefined for an absent key, and for one that could not exist', async () => {
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

    it('refuses what can not be stored and spares the writes beside it', async () => {
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

    it('checks preconditions against the live object, also behind a stale hint', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const hint = await storage.create(key, 'u', '{"n":1}');
      const { object: live } = await put(storage, key, '{"n":2}');
      const write = () => ({ kind: 'write', json: '{"n":3}', uid: 'u' }) as const;
      for (const preconditions of [{ uid: 'other' }, { resourceVersion: hint.resourceVersion }]) {
        await assert.rejects(storage.guaranteedUpdate(key, { preconditions }, write), failsWith('PreconditionFailed'));
        await assert.rejects(
          storage.guaranteedUpdate(key, { preconditions, hint }, write),
          failsWith('PreconditionFailed'),
        );
      }
      assert.deepEqual(await storage.get(key), live);
      const preconditions = { uid: 'u', resourceVersion: live.resourceVersion };
      const result = await storage.guaranteedUpdate(key, { preconditions, hint }, write);
      assert.equal(result.object.json, '{"n":3}');
    });

    it('never ends with what a stale hint suggests', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const hint = await storage.create(key, 'u', '{"n":1}');
      await put(storage, key, '{"n":2}');
      const seen: string[] = [];
      const result = await storage.guaranteedUpdate(key, { hint }, (current) => {
        seen.push(current?.json ?? '');
        return { kind: 'unchanged' };
      });
      assert.deepEqual(seen, ['{"n":1}', '{"n":2}']);
      assert.equal(result.object.json, '{"n":2}');
      const written = await storage.guaranteedUpdate(key, { hint }, (current) => ({
        kind: 'write',
        json: `{"was":${current?.json}}`,
        uid: 'u',
      }));
      assert.equal(written.object.json, '{"was":{"n":2}}');
    });

    it('decides once on a hint that turns out right', async () => {
      const key = { resource: freshResource(), namespace: 'default', name: 'one' };
      const hint = await storage.create(key, 'u', '{"n":1}');
      let calls = 0;
      const result = await storage.guaranteedUpdate(key, { hint }, () => {
        calls++;
        return { kind: 'unchanged' };
      });
      assert.deepEqual([result.outcome, result.object, calls], ['unchanged', hint, 1]);
      const mine = new RangeError('mine');
      const refuse = () => {
        calls++;
        throw mine;
      };
      await assert.rejects(storage.guaranteedUpdate(key, { hint }, refuse), mine);
      assert.equal(calls, 2);
      await remove(storage, key);
      await assert.rejects(storage.guaranteedUpdate(key, { hint }, refuse), failsWith('KeyNotFound'));
    });

    it('rethrows what the update function throws', async () => {
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

    it('loses no update of many concurrent ones', async () => {
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

  describe('list', () => {
    const seed = async (): Promise<string> => {
      const resource = freshResource();
      const keys = ['b/2', 'a/z', '/cluster', 'a/a', 'a-b/x', 'b/1', 'a/B', 'a/a-', 'a/é', 'a/😀', 'a/\uffee'];
      await Promise.all(
        keys.map((key) => {
          const [namespace = '', name = ''] = key.split('/');
          return storage.create({ resource, namespace, name }, key, `"${key}"`);
        }),
      );
      return resource;
    };

    it('sorts by the bytes of namespace and name, and narrows by scope', async () => {
      const resource = await seed();
      const all = ['/cluster', 'a/B', 'a/a', 'a/a-', 'a/z', 'a/é', 'a/\uffee', 'a/😀', 'a-b/x', 'b/1', 'b/2'];
      assert.deepEqual(names((await storage.list({ resource })).items), all);
      assert.deepEqual(names((await storage.list({ resource, namespace: 'a' })).items), all.slice(1, 8));
      assert.deepEqual(names((await storage.list({ resource, namespace: '' })).items), ['/cluster']);
      assert.deepEqual(names((await storage.list({ resource, namespace: 'b', name: '2' })).items), ['b/2']);
      assert.deepEqual(names((await storage.list({ resource, name: 'x' })).items), ['a-b/x']);
      assert.deepEqual(names((await storage.list({ resource, namespace: 'c' })).items), []);
      assert.deepEqual(names((await storage.list({ resource, namespace: 'a\u0000' })).items), []);
    });

    it('stays in the scope whatever position a page goes on from', async () => {
      const resource = await seed();
      const listed = async (namespace: string, after: { namespace: string; name: string }) =>
        names((await storage.list({ resource, namespace, after })).items);
      assert.deepEqual(await listed('b', { namespace: 'a', name: 'a' }), ['b/1', 'b/2']);
      assert.deepEqual(await listed('b', { namespace: 'b', name: '1' }), ['b/2']);
      assert.deepEqual(await listed('a', { namespace: 'b', name: '1' }), []);
      const one = { resource, namespace: 'b', name: '2' };
      assert.deepEqual(names((await storage.list({ ...one, after: { namespace: 'a', name: 'z' } })).items), ['b/2']);
      assert.deepEqual(names((await storage.list({ ...one, after: { namespace: 'b', name: '2' } })).items), []);
    });

    it('pages without gap or double at one version, whatever is written between', async () => {
      const resource = await seed();
      const whole = await storage.list({ resource });
      const found: StoredObject[] = [];
      let at: bigint | undefined = undefined as bigint | undefined;
      for (let limit = 1; ; limit = (limit % 3) + 1) {
        const page = await storage.list({ resource, at, limit, after: found.at(-1)?.key, countRemaining: true });
        at ??= page.resourceVersion;
        assert.equal(page.resourceVersion, at);
        found.push(...page.items);
        assert.equal((page.remaining ?? 0) + found.length, whole.items.length);
        if (!page.more) break;
        assert.equal(page.items.length, limit);
        // Behind and before the page: change, delete, recreate, add.
        await put(storage, { resource, namespace: 'b', name: '1' }, `"changed ${limit}"`);
        await storage.create({ resource, namespace: 'a', name: `new-${found.length}` }, 'n', '"new"');
        if (found.length === 3) {
          const key = { resource, namespace: 'b', name: '2' };
          await remove(storage, key);
          await storage.create(key, 'reborn', '"reborn"');
          await remove(storage, { resource, namespace: 'a', name: 'z' });
          await remove(storage, { resource, namespace: 'a', name: 'B' });
        }
      }
      assert.deepEqual(found, whole.items);
      assert.deepEqual((await storage.list({ resource, at: whole.resourceVersion })).items, whole.items);
    });

    it('shows every version as it was', async () => {
      const resource = freshResource();
      const key = (name: string): StorageKey => ({ resource, namespace: 'default', name });
      const states: { at: bigint; items: readonly StoredObject[] }[] = [];
      const note = async (): Promise<void> => {
        const { resourceVersion, items } = await storage.list({ resource });
        states.push({ at: resourceVersion, items });
      };
      await note();
      for (let i = 0; i < 30; i++) {
        const name = `n${(i * 7) % 5}`;
        if ((await storage.get(key(name))) === undefined) await storage.create(key(name), `uid-${i}`, `${i}`);
        else if (i % 3 === 0) await remove(storage, key(name));
        else await put(storage, key(name), `${i}`);
        await note();
      }
      for (const { at, items } of states) {
        const page = await storage.list({ resource, at, countRemaining: true, limit: 2 });
        assert.deepEqual((await storage.list({ resource, at })).items, items);
        assert.deepEqual(page.items, items.slice(0, 2));
        assert.equal(page.remaining, Math.max(0, items.length - 2));
        assert.equal(page.more, items.length > 2);
      }
    });

    it('refuses versions that are not there yet, with the newest', async () => {
      const head = await storage.head();
      await assert.rejects(storage.list({ resource: 'x', at: head + 1_000_000n }), (error: StorageError) => {
        assert.ok((error.resourceVersion ?? 0n) >= head);
        return failsWith('TooLargeVersion')(error);
      });
      await assert.rejects(storage.list({ resource: 'x', at: 0n }), failsWith('Expired'));
    });
  });

  describe('watch', () => {
    it('delivers every change of the scope with both states, in order', async () => {
      const resource = freshResource();
      const key = { resource, namespace: 'default', name: 'one' };
      const subscription = await storage.watch({ resource }, await storage.head());
      await storage.create(key, 'u', '1');
      await put(storage, key, '2');
      await storage.create({ ...key, resource: freshResource() }, 'u', '9');
      const { object } = await remove(storage, key);
      const changes = await collectUpTo(subscription, object.resourceVersion);
      subscription.close();
      assert.deepEqual(changes.map(summary), ['create one 1', 'update one 2', 'delete one 2']);
      assert.deepEqual(
        changes.map((change) => change.previousJson),
        [undefined, '1', '2'],
      );
      assert.equal(changes.at(-1)?.resourceVersion, object.resourceVersion);
      assert.equal(changes.at(-1)?.uid, 'u');
    });

    it('starts behind any version of the past, with the versions between', async () => {
      const resource = freshResource();
      const key = { resource, namespace: 'default', name: 'one' };
      const versions = [(await storage.create(key, 'u', '1')).resourceVersion];
      for (const json of ['2', '3']) versions.push((await put(storage, key, json)).object.resourceVersion);
      versions.push((await remove(storage, key)).object.resourceVersion);
      for (const [i, from] of versions.entries()) {
        const subscription = await storage.watch({ resource }, from);
        const late = await storage.create({ ...key, name: `late-${i}` }, 'u', '0');
        const changes = await collectUpTo(subscription, late.resourceVersion);
        subscription.close();
        const expected = ['update one 2', 'update one 3', 'delete one 3'].slice(i);
        const lates = Array.from({ length: i + 1 }, (_, n) => `create late-${n} 0`);
        assert.deepEqual(changes.map(summary), [...expected, ...lates]);
      }
    });

    it('narrows to a namespace or a name', async () => {
      const resource = freshResource();
      const from = await storage.head();
      const scopes = [
        { resource, namespace: 'a' },
        { resource, name: 'y' },
        { resource, namespace: 'b', name: 'y' },
      ];
      const live = await Promise.all(scopes.map((scope) => storage.watch(scope, from)));
      for (const key of ['a/x', 'a/y', 'b/x', 'b/y']) {
        const [namespace = '', name = ''] = key.split('/');
        await storage.create({ resource, namespace, name }, 'u', `"${key}"`);
      }
      const head = await storage.head();
      const past = await Promise.all(scopes.map((scope) => storage.watch(scope, from)));
      for (const subscriptions of [live, past]) {
        const seen = [];
        for (const subscription of subscriptions) {
          seen.push((await collectUpTo(subscription, head)).map((change) => JSON.parse(change.json)));
          subscription.close();
        }
        assert.deepEqual(seen, [['a/x', 'a/y'], ['a/y', 'b/y'], ['b/y']]);
      }
    });

    it('moves the position of a quiet resource', async () => {
      const quiet = await storage.watch({ resource: freshResource() }, await storage.head());
      const other = await storage.create({ resource: freshResource(), namespace: '', name: 'n' }, 'u', '{}');
      assert.deepEqual(await collectUpTo(quiet, other.resourceVersion), []);
      quiet.close();
    });

    it('ends after close', async () => {
      const subscription = await storage.watch({ resource: freshResource() }, await storage.head());
      const ended = (async () => {
        for (;;) if ((await subscription.next()) === undefined) return true;
      })();
      subscription.close();
      assert.equal(await ended, true);
      assert.equal(await subscription.next(), undefined);
    });

    it('refuses a version below the floor and one above the head', async () => {
      const resource = freshResource();
      await assert.rejects(storage.watch({ resource }, 0n), failsWith('Expired'));
      const beyond = (await storage.head()) + 1_000_000n;
      await assert.rejects(storage.watch({ resource }, beyond), failsWith('TooLargeVersion'));
    });
  });

  it('answers ping', async () => {
    await storage.ping();
  });
}
