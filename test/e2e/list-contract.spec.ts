import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { expireHistory } from './support/expire-history.js';
import { allPages, create, isStatus, namesOf, ok, ownCollection, withNewServer, withQuery } from './support/listing.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

// The versions of lists that clients rely on (specification 4.4), each against two server processes.

let cluster: TestCluster;
const one = (): ApiClient => cluster.first.client;
const two = (): ApiClient => cluster.second.client;

before(async () => {
  cluster = await sharedCluster('plain');
});

after(() => cluster.stop());

describe('versions of a list', () => {
  let path: string;
  /** An earlier version with its objects. */
  let then: string;
  const thenNames = ['a', 'b', 'c', 'd', 'e'];
  const nowNames = ['a', 'b', 'd', 'e', 'f'];
  let newest: string;
  let token: string;
  let tokenVersion: string;

  before(async () => {
    path = await ownCollection(one());
    for (const name of thenNames) await create(one(), path, name);
    const list = await ok(one(), path);
    then = list.metadata.resourceVersion;
    const first = await ok(one(), `${path}?limit=2`);
    token = first.metadata.continue;
    tokenVersion = first.metadata.resourceVersion;
    await one().delete(`${path}/c`);
    newest = (await create(one(), path, 'f')).metadata.resourceVersion;
  });

  type Expected =
    | 'most recent'
    | 'any'
    | 'not older than'
    | 'exact'
    | 'continued'
    | 'invalid'
    | 'bad request'
    | 'too large';

  /** The table of specification 4.4, and the rules for versions that nobody has seen. */
  function expectedOf(match: string, limit: string, isContinued: boolean, version: string): Expected {
    const isFuture = version === 'future';
    if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan') return 'invalid';
    if (isContinued) {
      if (match !== '') return 'invalid';
      return version === '' || version === '0' ? 'continued' : 'bad request';
    }
    if (match !== '' && version === '') return 'invalid';
    if (match === 'Exact' && version === '0') return 'invalid';
    if (version === '') return 'most recent';
    if (version === '0') return 'any';
    if (isFuture) return 'too large';
    if (match === 'Exact') return 'exact';
    return match === '' && limit !== '' ? 'exact' : 'not older than';
  }

  function check(expected: Expected, answer: ApiResponse, limit: string): void {
    const version = BigInt(answer.body?.metadata?.resourceVersion ?? -1);
    const shown = (names: readonly string[]) => (limit === '' ? names : names.slice(0, Number(limit)));
    switch (expected) {
      case 'invalid':
        // The specification's table says 400; an unknown match is not in it.
        if (/is invalid: resourceVersionMatch: Unsupported value/.test(answer.body.message))
          isStatus(answer, 422, 'Invalid');
        else isStatus(answer, 400, 'BadRequest');
        assert.match(answer.body.message, /^ListOptions\.meta\.k8s\.io "" is invalid: .*resourceVersionMatch: /);
        return;
      case 'bad request':
        isStatus(answer, 400, 'BadRequest');
        assert.equal(answer.body.message, 'specifying resource version is not allowed when using continue');
        return;
      case 'too large':
        isStatus(answer, 504, 'Timeout');
        assert.equal(answer.body.details.causes[0].reason, 'ResourceVersionTooLarge');
        assert.ok(Number(answer.headers['retry-after']) >= 1);
        return;
      case 'continued':
        assert.equal(answer.status, 200, answer.text);
        assert.equal(String(version), tokenVersion);
        assert.deepEqual(namesOf(answer.body), limit === '' ? ['c', 'd', 'e'] : ['c', 'd']);
        return;
      case 'exact':
        assert.equal(answer.status, 200, answer.text);
        assert.equal(String(version), then);
        assert.deepEqual(namesOf(answer.body), shown(thenNames));
        return;
      case 'most recent':
        assert.equal(answer.status, 200, answer.text);
        assert.ok(version >= BigInt(newest));
        assert.deepEqual(namesOf(answer.body), shown(nowNames));
        return;
      case 'any':
      case 'not older than': {
        assert.equal(answer.status, 200, answer.text);
        if (expected === 'not older than') assert.ok(version >= BigInt(then));
        // Any state that existed is right, but it must be a single one, and the version must be its own.
        const states = version >= BigInt(newest) ? [nowNames] : [thenNames, nowNames.slice(0, 4), nowNames];
        assert.ok(
          states.some((names) => namesOf(answer.body).join() === shown(names).join()),
          `${namesOf(answer.body)} at ${version}`,
        );
      }
    }
  }

  for (const match of ['', 'Exact', 'NotOlderThan', 'Newest', 'exact']) {
    for (const limit of ['', '2']) {
      for (const isContinued of [false, true]) {
        for (const version of ['', '0', 'then', 'future']) {
          const expected = expectedOf(match, limit, isContinued, version);
          const title = `match "${match}", limit "${limit}", ${isContinued ? 'continued, ' : ''}version "${version}"`;
          it(`${title}: ${expected}`, async () => {
            const query: Record<string, string> = {};
            if (match !== '') query.resourceVersionMatch = match;
            if (limit !== '') query.limit = limit;
            if (isContinued) query.continue = token;
            if (version !== '') {
              query.resourceVersion = version === 'then' ? then : version === 'future' ? '999999999999' : version;
            }
            const clients = expected === 'too large' ? [two()] : [one(), two()];
            for (const client of clients) check(expected, await client.get(withQuery(path, query)), limit);
          });
        }
      }
    }
  }

  it('an empty match is none', async () => {
    await ok(one(), withQuery(path, { resourceVersionMatch: '' }));
  });

  for (const version of ['abc', '-1', '1.5', '0x10', '99999999999999999999', ' ']) {
    it(`answers 400 to a list of version "${version}", and 500 to a get, as the release does`, async () => {
      const query = { resourceVersion: version };
      isStatus(await two().get(withQuery(path, query)), 400, 'BadRequest');
      const { status, text } = await two().get(withQuery(`${path}/a`, query));
      assert.equal(status, 500, text);
      assert.match(text, /"message":"resourceVersion: Invalid value: /);
    });
  }

  it('are those of the request for exact lists with selectors and names too', async () => {
    const own = await ownCollection(one());
    await create(one(), own, 'x', { on: 'yes' });
    const { metadata } = await create(one(), own, 'y', { on: 'yes' });
    await one().patch(`${own}/x`, 'merge', { metadata: { labels: { on: 'no' } } });
    await one().delete(`${own}/y`);
    const exact = { resourceVersion: metadata.resourceVersion, resourceVersionMatch: 'Exact' };
    for (const client of [one(), two()]) {
      assert.deepEqual(namesOf(await ok(client, withQuery(own, { ...exact, labelSelector: 'on=yes' }))), ['x', 'y']);
      assert.deepEqual(namesOf(await ok(client, withQuery(own, { ...exact, labelSelector: 'on=no' }))), []);
      assert.deepEqual(namesOf(await ok(client, withQuery(own, { ...exact, fieldSelector: 'metadata.name=y' }))), [
        'y',
      ]);
      assert.deepEqual(namesOf(await ok(client, withQuery(own, { labelSelector: 'on' }))), ['x']);
    }
  });

  it('show each earlier version unchanged', async () => {
    const own = await ownCollection(one());
    const states: { version: string; items: readonly unknown[] }[] = [];
    for (let i = 0; i < 12; i++) {
      const name = `n${i % 4}`;
      if (i % 5 === 4) await one().delete(`${own}/${name}`);
      else if (i < 4) await create(one(), own, name);
      else await two().patch(`${own}/${name}`, 'merge', { data: { n: String(i) } });
      const { metadata, items } = await ok(i % 2 === 0 ? one() : two(), own);
      states.push({ version: metadata.resourceVersion, items });
    }
    for (const { version, items } of states) {
      for (const client of [one(), two()]) {
        const exact = { resourceVersion: version, resourceVersionMatch: 'Exact' };
        assert.deepEqual((await ok(client, withQuery(own, exact))).items, items);
      }
      const pages = await allPages(cluster, own, { resourceVersion: version, limit: '1' });
      assert.deepEqual(
        pages.flatMap((list) => list.items),
        items,
      );
    }
  });

  it('are never older than what any process has acknowledged before, without a version', async () => {
    const own = await ownCollection(one());
    for (let i = 0; i < 40; i++) {
      const [writer, reader] = i % 2 === 0 ? [one(), two()] : [two(), one()];
      const made = await writer.post(own, { metadata: { name: `f${i}` } });
      const list = await ok(reader, i % 4 < 2 ? own : `${own}?limit=500`);
      assert.ok(namesOf(list).includes(`f${i}`), `f${i} is missing`);
      assert.ok(BigInt(list.metadata.resourceVersion) >= BigInt(made.body.metadata.resourceVersion));
      assert.equal((await reader.get(`${own}/f${i}`)).status, 200);
    }
  });

  it('move on for a resource where nothing happens', async () => {
    const idle = await ownCollection(one());
    const made = await create(one(), await ownCollection(one()), 'elsewhere');
    const { resourceVersion } = made.metadata;
    // A version that was seen anywhere can be requested everywhere.
    for (const client of [one(), two()]) {
      const list = await ok(client, withQuery(idle, { resourceVersion, resourceVersionMatch: 'NotOlderThan' }));
      assert.ok(BigInt(list.metadata.resourceVersion) >= BigInt(resourceVersion));
      const exact = await ok(client, withQuery(idle, { resourceVersion, resourceVersionMatch: 'Exact' }));
      assert.equal(exact.metadata.resourceVersion, resourceVersion);
    }
  });

  it('can be asked for with get: not older than, any, and too large', async () => {
    const own = await ownCollection(one());
    const made = await create(one(), own, 'x');
    for (const client of [one(), two()]) {
      for (const version of ['', made.metadata.resourceVersion]) {
        const answer = await client.get(withQuery(`${own}/x`, { resourceVersion: version }));
        assert.deepEqual(answer.body, made, `version "${version}"`);
      }
      // Any state is right for 0, even one from before the object existed.
      const any = await client.get(`${own}/x?resourceVersion=0`);
      if (any.status === 200) assert.deepEqual(any.body, made);
      else isStatus(any, 404, 'NotFound');
    }
    check('too large', await two().get(`${own}/x?resourceVersion=999999999999`), '');
  });

  // Last, because the history of everything above is gone after it.
  it('that are gone get 410, those that need not be exact do not', async () => {
    const own = await ownCollection(one());
    const made = await create(one(), own, 'x');
    await one().patch(`${own}/x`, 'merge', { data: { n: '1' } });
    await expireHistory(cluster.databaseUrl);
    const { resourceVersion } = made.metadata;
    const exactOnes: readonly Readonly<Record<string, string>>[] = [
      { resourceVersionMatch: 'Exact' },
      { limit: '1' },
      { resourceVersionMatch: 'Exact', limit: '1' },
    ];
    await withNewServer(cluster, async (client) => {
      for (const query of exactOnes) {
        isStatus(await client.get(withQuery(own, { ...query, resourceVersion })), 410, 'Expired');
      }
      const list = await ok(client, withQuery(own, { resourceVersion, resourceVersionMatch: 'NotOlderThan' }));
      assert.equal(list.items[0].data.n, '1');
      await ok(client, withQuery(`${own}/x`, { resourceVersion }));
      // The newest version can still be requested exactly.
      const newestList = await ok(client, own);
      const exact = { resourceVersion: newestList.metadata.resourceVersion, resourceVersionMatch: 'Exact' };
      assert.deepEqual((await ok(client, withQuery(own, exact))).items, newestList.items);
    });
  });
});
