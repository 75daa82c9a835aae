import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random, testSeeds } from '../support/random.js';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { expireHistory } from './support/expire-history.js';
import { allPages, create, isStatus, namesOf, ok, ownCollection, withNewServer, withQuery } from './support/listing.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

// The rules of paged lists (specification 4.3), each against two server processes.

let cluster: TestCluster;
const one = (): ApiClient => cluster.first.client;
const two = (): ApiClient => cluster.second.client;
let later = 0;

before(async () => {
  cluster = await sharedCluster('plain');
});

after(() => cluster.stop());

describe('chunked lists', () => {
  const names = ['b', 'a-b', 'a.b', 'a0', 'z', 'aa', 'a', 'b.c-d', 'b-c', 'b0', '0', '9z', 'z9', 'a-0', 'a.0'];

  for (const seed of testSeeds('chunked lists')) {
    it(`give every item once, in byte order, with right counts, for any limits (seed ${seed})`, async () => {
      const random = new Random(seed);
      const path = await ownCollection(one());
      for (const name of names) await create(one(), path, name);
      for (let round = 0; round < 15; round++) {
        const found: string[] = [];
        let token = '';
        let version: string | undefined;
        do {
          // The limit may change from page to page.
          const limit = 1 + random.below(names.length + 2);
          const client = random.chance(0.5) ? one() : two();
          const query = { limit: String(limit), ...(token === '' ? {} : { continue: token }) };
          const list = await ok(client, withQuery(path, query));
          const { metadata } = list;
          version ??= metadata.resourceVersion;
          assert.equal(metadata.resourceVersion, version);
          found.push(...namesOf(list));
          token = metadata.continue ?? '';
          if (token === '') assert.equal('remainingItemCount' in metadata, false, 'a count on the last page');
          else {
            assert.equal(list.items.length, limit);
            assert.equal(metadata.remainingItemCount, names.length - found.length);
          }
        } while (token !== '');
        assert.deepEqual(found, [...names].sort());
      }
    });
  }

  it('go over namespaces in their order', async () => {
    const collections = [await ownCollection(one()), await ownCollection(one())];
    for (const path of collections) for (const name of ['y', 'x']) await create(one(), path, name, { set: 'across' });
    const pages = await allPages(cluster, '/api/v1/configmaps', { limit: '1', labelSelector: 'set=across' });
    const found = pages.flatMap((list) =>
      list.items.map(
        ({ metadata }: { metadata: { namespace: string; name: string } }) => `${metadata.namespace}/${metadata.name}`,
      ),
    );
    assert.deepEqual(found, [...found].sort());
    assert.equal(found.length, 4);
    assert.equal(new Set(pages.map((list) => list.metadata.resourceVersion)).size, 1);
  });

  it('show the state of the first page, whatever changes after it', async () => {
    const path = await ownCollection(one());
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await create(one(), path, name);
    const first = await ok(one(), `${path}?limit=2`);
    const before = await ok(
      two(),
      `${path}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`,
    );
    await two().delete(`${path}/c`);
    await create(one(), path, 'c');
    await one().patch(`${path}/d`, 'merge', { data: { n: '9' } });
    await one().patch(`${path}/d`, 'merge', { data: { n: '10' } });
    await two().delete(`${path}/e`);
    await create(one(), path, 'bb');
    await create(one(), path, 'zz');
    await two().delete(`${path}/zz`);
    const rest = await ok(two(), withQuery(path, { continue: first.metadata.continue }));
    assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.deepEqual([...first.items, ...rest.items], before.items);
    // The last chunk has an empty token; a list that is not chunked has none.
    assert.equal(rest.metadata.continue, '');
    assert.equal((await ok(one(), `${path}?limit=500`)).metadata.continue, '');
    assert.equal((await ok(one(), path)).metadata.continue, undefined);
    const middle = await ok(one(), withQuery(path, { limit: '3', continue: first.metadata.continue }));
    assert.deepEqual(middle.items, rest.items.slice(0, 3));
    assert.equal(middle.metadata.remainingItemCount, 1);
  });

  it('have no count with selectors, and never more than the limit', async () => {
    const path = await ownCollection(one());
    for (let i = 0; i < 23; i++)
      await create(one(), path, `n${String(i).padStart(2, '0')}`, { third: String(i % 3 === 0) });
    const selections: readonly (readonly [Record<string, string>, (i: number) => boolean])[] = [
      [{ labelSelector: 'third=true' }, (i) => i % 3 === 0],
      [{ labelSelector: 'third!=true' }, (i) => i % 3 !== 0],
      [{ fieldSelector: 'metadata.name!=n05' }, (i) => i !== 5],
      [{ fieldSelector: 'metadata.name=n06', labelSelector: 'third=true' }, (i) => i === 6],
      [{ labelSelector: 'third=perhaps' }, () => false],
    ];
    for (const [selection, isShown] of selections) {
      for (const limit of [1, 2, 3, 8, 50]) {
        const pages = await allPages(cluster, path, { ...selection, limit: String(limit) });
        const expected = Array.from({ length: 23 }, (_, i) => i)
          .filter(isShown)
          .map((i) => `n${String(i).padStart(2, '0')}`);
        assert.deepEqual(pages.flatMap(namesOf), expected, JSON.stringify(selection));
        for (const { metadata, items } of pages) {
          assert.ok(items.length <= limit);
          assert.equal('remainingItemCount' in metadata, false);
        }
        assert.equal(new Set(pages.map((list) => list.metadata.resourceVersion)).size, 1);
      }
    }
  });

  const forms = [
    ['a table', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'rows'],
    ['metadata only', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'items'],
  ] as const;
  for (const [title, accept, member] of forms) {
    it(`come in pages as ${title} too`, async () => {
      const path = await ownCollection(one());
      for (const name of ['a', 'b', 'c']) await create(one(), path, name);
      const first = (await one().get(`${path}?limit=2`, { headers: { accept } })).body;
      assert.equal(first[member].length, 2);
      assert.equal(first.metadata.remainingItemCount, 1);
      const query = withQuery(path, { limit: '2', continue: first.metadata.continue });
      const second = (await two().get(query, { headers: { accept } })).body;
      assert.equal(second[member].length, 1);
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
      assert.equal(second.metadata.continue, '');
    });
  }

  const limits: readonly (readonly [limit: string, items: number | undefined])[] = [
    ['0', 3],
    ['-1', 3],
    ['', undefined],
    ['3', 3],
    ['4', 3],
    ['999999999', 3],
    ['ten', undefined],
    ['1.5', undefined],
    ['99999999999999999999', undefined],
  ];
  for (const [limit, items] of limits) {
    it(`limit=${limit} ${items === undefined ? 'is a bad request' : 'gives all'}`, async () => {
      const path = await ownCollection(one());
      for (const name of ['a', 'b', 'c']) await create(one(), path, name);
      const answer = await two().get(withQuery(path, { limit }));
      if (items === undefined) isStatus(answer, 400, 'BadRequest');
      else {
        assert.equal(answer.body.items.length, items);
        assert.equal(answer.body.metadata.continue, Number(limit) > 0 ? '' : undefined);
        assert.equal('remainingItemCount' in answer.body.metadata, false);
      }
    });
  }

  it('are lists without items where there are no objects', async () => {
    const path = await ownCollection(one());
    for (const query of ['', '?limit=1', '?resourceVersion=0', '?labelSelector=a']) {
      const list = await ok(two(), `${path}${query}`);
      assert.deepEqual(list.items, [], query);
      assert.equal(list.kind, 'ConfigMapList');
      assert.match(list.metadata.resourceVersion, /^[1-9]\d*$/);
    }
  });
});

describe('continue tokens', () => {
  async function started(items = 5): Promise<{ path: string; first: ApiResponse['body']; token: string }> {
    const path = await ownCollection(one());
    for (let i = 0; i < items; i++) await create(one(), path, `n${i}`);
    const first = await ok(one(), `${path}?limit=2`);
    return { path, first, token: first.metadata.continue };
  }

  it('are valid at another process, and after a restart of the one that issued them', async () => {
    const { path, first, token } = await started();
    await create(one(), path, 'n2-late');
    await cluster.restartServer(cluster.first, 'SIGKILL');
    for (const { client } of cluster.servers) {
      const rest = await ok(client, withQuery(path, { continue: token }));
      assert.deepEqual(namesOf(rest), ['n2', 'n3', 'n4']);
      assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion);
    }
  });

  it('can be used again', async () => {
    const { path, token } = await started();
    const query = withQuery(path, { limit: '2', continue: token });
    assert.deepEqual((await ok(one(), query)).items, (await ok(two(), query)).items);
  });

  it('are refused when anything in them was changed', async () => {
    const { path, token } = await started();
    const changed = new Set<string>();
    for (let i = 0; i < token.length; i++) {
      for (const other of ['A', 'z', '_']) {
        const altered = `${token.slice(0, i)}${other}${token.slice(i + 1)}`;
        // Some bits of base64's last character may be unused.
        if (altered !== token && !sameBytes(altered, token)) changed.add(altered);
      }
    }
    for (const text of ['x', '%', '{}', 'e30', 'aGVsbG8', `${token}AAAA`, `AAAA${token}`, token.slice(0, -4)])
      changed.add(text);
    assert.ok(changed.size > 100);
    for (const text of changed) {
      const answer = await two().get(withQuery(path, { continue: text }));
      isStatus(answer, 400, 'BadRequest');
      assert.match(answer.body.message, /continue/);
    }
  });

  it('mean the same place in lists of other namespaces, kinds and selectors', async () => {
    const { path, token } = await started();
    const elsewhere = await ownCollection(one());
    for (const name of ['n0', 'n3']) await create(one(), elsewhere, name);
    const late = (await ok(one(), `${path}?limit=2`)).metadata.continue;
    for (const client of [one(), two()]) {
      const names = async (at: string, query: Record<string, string> = {}) =>
        namesOf(await ok(client, withQuery(at, { continue: late, ...query })));
      assert.deepEqual(await names(elsewhere), ['n3']);
      assert.deepEqual(await names(path.replace('configmaps', 'secrets')), []);
      assert.deepEqual(await names(path, { labelSelector: 'a=b' }), []);
      assert.deepEqual(await names(path, { fieldSelector: 'metadata.name=n3' }), ['n3']);
    }
    const all = await ok(one(), '/api/v1/configmaps?limit=1');
    assert.deepEqual(namesOf(await ok(two(), withQuery('/api/v1/nodes', { continue: all.metadata.continue }))), []);
    // Another limit, or none, does not change the query.
    for (const limit of ['0', '1', '100']) await ok(two(), withQuery(path, { continue: token, limit }));
  });

  it('are refused as too old, with one to go on with', async () => {
    const { path, first, token } = await started(9);
    await one().delete(`${path}/n3`);
    await create(one(), path, 'n35');
    await expireHistory(cluster.databaseUrl);
    await withNewServer(cluster, async (client) => {
      const answer = await client.get(withQuery(path, { limit: '2', continue: token }));
      isStatus(answer, 410, 'Expired');
      assert.match(
        answer.body.message,
        /^The provided continue parameter is too old to display a consistent list result/,
      );
      const fresh = answer.body.metadata.continue;
      assert.ok(typeof fresh === 'string' && fresh !== '' && fresh !== token);
      const second = await ok(two(), withQuery(path, { limit: '2', continue: fresh }));
      // From the same key on, complete, at another version that the server keeps from then on.
      assert.deepEqual(namesOf(second), ['n2', 'n35']);
      assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
      await create(one(), path, `zz-${later++}`);
      const third = await ok(one(), withQuery(path, { limit: '2', continue: second.metadata.continue }));
      assert.deepEqual(namesOf(third), ['n4', 'n5']);
      assert.equal(third.metadata.resourceVersion, second.metadata.resourceVersion);
      assert.equal(third.metadata.remainingItemCount, second.metadata.remainingItemCount - 2);
    });
  });
});

function sameBytes(a: string, b: string): boolean {
  return Buffer.from(a, 'base64url').equals(Buffer.from(b, 'base64url'));
}
