import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Change, Storage, StoredObject } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import type { StorageKey } from '../storage-key.js';
import { collectUpTo, failsWith, names, put, remove } from './storage-helpers.js';

const summary = (change: Change): string => `${change.type} ${change.key.name} ${change.json}`;

/**
 * Tests of what every `Storage` guarantees about lists and watches. Call inside a `describe`; `storage` returns a store
 * once tests run.
 */
export function listAndWatchContract(storage: () => Storage, freshResource: () => string): void {
  describe('list', () => {
    const seed = async (): Promise<string> => {
      const resource = freshResource();
      const keys = ['b/2', 'a/z', '/cluster', 'a/a', 'a-b/x', 'b/1', 'a/B', 'a/a-', 'a/é', 'a/😀', 'a/\uffee'];
      await Promise.all(
        keys.map((key) => {
          const [namespace = '', name = ''] = key.split('/');
          return storage().create({ resource, namespace, name }, key, `"${key}"`);
        }),
      );
      return resource;
    };

    it('sorts by the bytes of namespace and name, and narrows by scope', async () => {
      const resource = await seed();
      const all = ['/cluster', 'a/B', 'a/a', 'a/a-', 'a/z', 'a/é', 'a/\uffee', 'a/😀', 'a-b/x', 'b/1', 'b/2'];
      assert.deepEqual(names((await storage().list({ resource })).items), all);
      assert.deepEqual(names((await storage().list({ resource, namespace: 'a' })).items), all.slice(1, 8));
      assert.deepEqual(names((await storage().list({ resource, namespace: '' })).items), ['/cluster']);
      assert.deepEqual(names((await storage().list({ resource, namespace: 'b', name: '2' })).items), ['b/2']);
      assert.deepEqual(names((await storage().list({ resource, name: 'x' })).items), ['a-b/x']);
      assert.deepEqual(names((await storage().list({ resource, namespace: 'c' })).items), []);
      assert.deepEqual(names((await storage().list({ resource, namespace: 'a\u0000' })).items), []);
    });

    it('stays in the scope for any position that a page continues from', async () => {
      const resource = await seed();
      const listed = async (namespace: string, after: { namespace: string; name: string }) =>
        names((await storage().list({ resource, namespace, after })).items);
      assert.deepEqual(await listed('b', { namespace: 'a', name: 'a' }), ['b/1', 'b/2']);
      assert.deepEqual(await listed('b', { namespace: 'b', name: '1' }), ['b/2']);
      assert.deepEqual(await listed('a', { namespace: 'b', name: '1' }), []);
      const one = { resource, namespace: 'b', name: '2' };
      assert.deepEqual(names((await storage().list({ ...one, after: { namespace: 'a', name: 'z' } })).items), ['b/2']);
      assert.deepEqual(names((await storage().list({ ...one, after: { namespace: 'b', name: '2' } })).items), []);
    });

    it('pages at one version without gap or double, whatever is written in between', async () => {
      const resource = await seed();
      const whole = await storage().list({ resource });
      const found: StoredObject[] = [];
      let at: bigint | undefined = undefined as bigint | undefined;
      for (let limit = 1; ; limit = (limit % 3) + 1) {
        const page = await storage().list({ resource, at, limit, after: found.at(-1)?.key, countRemaining: true });
        at ??= page.resourceVersion;
        assert.equal(page.resourceVersion, at);
        found.push(...page.items);
        assert.equal((page.remaining ?? 0) + found.length, whole.items.length);
        if (!page.more) break;
        assert.equal(page.items.length, limit);
        // Objects after and before the page are changed, deleted, recreated and added.
        await put(storage(), { resource, namespace: 'b', name: '1' }, `"changed ${limit}"`);
        await storage().create({ resource, namespace: 'a', name: `new-${found.length}` }, 'n', '"new"');
        if (found.length === 3) {
          const key = { resource, namespace: 'b', name: '2' };
          await remove(storage(), key);
          await storage().create(key, 'reborn', '"reborn"');
          await remove(storage(), { resource, namespace: 'a', name: 'z' });
          await remove(storage(), { resource, namespace: 'a', name: 'B' });
        }
      }
      assert.deepEqual(found, whole.items);
      assert.deepEqual((await storage().list({ resource, at: whole.resourceVersion })).items, whole.items);
    });

    it('shows every version unchanged', async () => {
      const resource = freshResource();
      const key = (name: string): StorageKey => ({ resource, namespace: 'default', name });
      const states: { at: bigint; items: readonly StoredObject[] }[] = [];
      const note = async (): Promise<void> => {
        const { resourceVersion, items } = await storage().list({ resource });
        states.push({ at: resourceVersion, items });
      };
      await note();
      for (let i = 0; i < 30; i++) {
        const name = `n${(i * 7) % 5}`;
        if ((await storage().get(key(name))) === undefined) await storage().create(key(name), `uid-${i}`, `${i}`);
        else if (i % 3 === 0) await remove(storage(), key(name));
        else await put(storage(), key(name), `${i}`);
        await note();
      }
      for (const { at, items } of states) {
        const page = await storage().list({ resource, at, countRemaining: true, limit: 2 });
        assert.deepEqual((await storage().list({ resource, at })).items, items);
        assert.deepEqual(page.items, items.slice(0, 2));
        assert.equal(page.remaining, Math.max(0, items.length - 2));
        assert.equal(page.more, items.length > 2);
      }
    });

    it('refuses future versions and names the newest', async () => {
      const head = await storage().head();
      await assert.rejects(storage().list({ resource: 'x', at: head + 1_000_000n }), (error: StorageError) => {
        assert.ok((error.resourceVersion ?? 0n) >= head);
        return failsWith('TooLargeVersion')(error);
      });
      await assert.rejects(storage().list({ resource: 'x', at: 0n }), failsWith('Expired'));
    });
  });

  describe('watch', () => {
    it('delivers every change of the scope with both states, in order', async () => {
      const resource = freshResource();
      const key = { resource, namespace: 'default', name: 'one' };
      const subscription = await storage().watch({ resource }, await storage().head());
      await storage().create(key, 'u', '1');
      await put(storage(), key, '2');
      await storage().create({ ...key, resource: freshResource() }, 'u', '9');
      const { object } = await remove(storage(), key);
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

    it('starts after any past version and delivers the versions since', async () => {
      const resource = freshResource();
      const key = { resource, namespace: 'default', name: 'one' };
      const versions = [(await storage().create(key, 'u', '1')).resourceVersion];
      for (const json of ['2', '3']) versions.push((await put(storage(), key, json)).object.resourceVersion);
      versions.push((await remove(storage(), key)).object.resourceVersion);
      for (const [i, from] of versions.entries()) {
        const subscription = await storage().watch({ resource }, from);
        const late = await storage().create({ ...key, name: `late-${i}` }, 'u', '0');
        const changes = await collectUpTo(subscription, late.resourceVersion);
        subscription.close();
        const expected = ['update one 2', 'update one 3', 'delete one 3'].slice(i);
        const lates = Array.from({ length: i + 1 }, (_, n) => `create late-${n} 0`);
        assert.deepEqual(changes.map(summary), [...expected, ...lates]);
      }
    });

    it('narrows to a namespace or a name', async () => {
      const resource = freshResource();
      const from = await storage().head();
      const scopes = [
        { resource, namespace: 'a' },
        { resource, name: 'y' },
        { resource, namespace: 'b', name: 'y' },
      ];
      const live = await Promise.all(scopes.map((scope) => storage().watch(scope, from)));
      for (const key of ['a/x', 'a/y', 'b/x', 'b/y']) {
        const [namespace = '', name = ''] = key.split('/');
        await storage().create({ resource, namespace, name }, 'u', `"${key}"`);
      }
      const head = await storage().head();
      const past = await Promise.all(scopes.map((scope) => storage().watch(scope, from)));
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
      const quiet = await storage().watch({ resource: freshResource() }, await storage().head());
      const other = await storage().create({ resource: freshResource(), namespace: '', name: 'n' }, 'u', '{}');
      assert.deepEqual(await collectUpTo(quiet, other.resourceVersion), []);
      quiet.close();
    });

    it('ends after close', async () => {
      const subscription = await storage().watch({ resource: freshResource() }, await storage().head());
      const ended = (async () => {
        for (;;) if ((await subscription.next()) === undefined) return true;
      })();
      subscription.close();
      assert.equal(await ended, true);
      assert.equal(await subscription.next(), undefined);
    });

    it('refuses a version below the compact revision and one above the head', async () => {
      const resource = freshResource();
      await assert.rejects(storage().watch({ resource }, 0n), failsWith('Expired'));
      const beyond = (await storage().head()) + 1_000_000n;
      await assert.rejects(storage().watch({ resource }, beyond), failsWith('TooLargeVersion'));
    });
  });

  it('answers ping', async () => {
    await storage().ping();
  });
}
