import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Random, testSeeds } from '../support/random.js';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { expireHistory } from './support/expire-history.js';
import { TestCluster } from './support/test-cluster.js';

// The rules that clients of a list rely on (specification 4.3 and 4.4), each against two server processes.

let cluster: TestCluster;
let counter = 0;
const one = (): ApiClient => cluster.first.client;
const two = (): ApiClient => cluster.second.client;

before(async () => {
  cluster = await TestCluster.start({ servers: 2 });
});

after(() => cluster.stop());

/** The ConfigMaps of the test's own namespace. */
async function ownCollection(): Promise<string> {
  const name = `list-${counter++}`;
  const made = await one().post('/api/v1/namespaces', { metadata: { name } });
  assert.equal(made.status, 201, made.text);
  return `/api/v1/namespaces/${name}/configmaps`;
}

async function create(path: string, name: string, labels: Readonly<Record<string, string>> = {}) {
  const answer = await one().post(path, { metadata: { name, labels }, data: { n: '0' } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function ok(client: ApiClient, path: string): Promise<ApiResponse['body']> {
  const answer = await client.get(path);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body;
}

const namesOf = (list: ApiResponse['body']): string[] =>
  list.items.map((item: { metadata: { name: string } }) => item.metadata.name);
const withQuery = (path: string, query: Readonly<Record<string, string>>) => `${path}?${new URLSearchParams(query)}`;

/** All pages after the first request, each from the other process than the one before. */
async function allPages(path: string, query: Readonly<Record<string, string>>): Promise<ApiResponse['body'][]> {
  const pages = [await ok(one(), withQuery(path, query))];
  const { resourceVersion: _version, resourceVersionMatch: _match, ...kept } = query;
  for (;;) {
    const token: string | undefined = pages.at(-1).metadata.continue;
    if (token === undefined || token === '') return pages;
    const client = pages.length % 2 === 1 ? two() : one();
    pages.push(await ok(client, withQuery(path, { ...kept, continue: token })));
  }
}

/**
 * Runs work with a process that started after the history was gone. Others may remember some of it, and may use that.
 */
async function withNewServer(work: (client: ApiClient) => Promise<void>): Promise<void> {
  const server = await cluster.addServer();
  try {
    await work(server.client);
  } finally {
    cluster.servers.splice(cluster.servers.indexOf(server), 1);
    await server.stop();
  }
}

function isStatus(answer: ApiResponse, code: number, reason: string): void {
  assert.equal(answer.status, code, answer.text);
  assert.equal(answer.body.kind, 'Status');
  assert.equal(answer.body.status, 'Failure');
  assert.equal(answer.body.code, code);
  assert.equal(answer.body.reason, reason);
}

describe('chunked lists', () => {
  const names = ['b', 'a-b', 'a.b', 'a0', 'z', 'aa', 'a', 'b.c-d', 'b-c', 'b0', '0', '9z', 'z9', 'a-0', 'a.0'];

  for (const seed of testSeeds('chunked lists')) {
    it(`give every item once, in byte order, with right counts, for any limits (seed ${seed})`, async () => {
      const random = new Random(seed);
      const path = await ownCollection();
      for (const name of names) await create(path, name);
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
    const collections = [await ownCollection(), await ownCollection()];
    for (const path of collections) for (const name of ['y', 'x']) await create(path, name, { set: 'across' });
    const pages = await allPages('/api/v1/configmaps', { limit: '1', labelSelector: 'set=across' });
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
    const path = await ownCollection();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await create(path, name);
    const first = await ok(one(), `${path}?limit=2`);
    const before = await ok(
      two(),
      `${path}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`,
    );
    await two().delete(`${path}/c`);
    await create(path, 'c');
    await one().patch(`${path}/d`, 'merge', { data: { n: '9' } });
    await one().patch(`${path}/d`, 'merge', { data: { n: '10' } });
    await two().delete(`${path}/e`);
    await create(path, 'bb');
    await create(path, 'zz');
    await two().delete(`${path}/zz`);
    const rest = await ok(two(), withQuery(path, { continue: first.metadata.continue }));
    assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion);
    assert.deepEqual([...first.items, ...rest.items], before.items);
    const middle = await ok(one(), withQuery(path, { limit: '3', continue: first.metadata.continue }));
    assert.deepEqual(middle.items, rest.items.slice(0, 3));
    assert.equal(middle.metadata.remainingItemCount, 1);
  });

  it('have no count with selectors, and never more than the limit', async () => {
    const path = await ownCollection();
    for (let i = 0; i < 23; i++) await create(path, `n${String(i).padStart(2, '0')}`, { third: String(i % 3 === 0) });
    const selections: readonly (readonly [Record<string, string>, (i: number) => boolean])[] = [
      [{ labelSelector: 'third=true' }, (i) => i % 3 === 0],
      [{ labelSelector: 'third!=true' }, (i) => i % 3 !== 0],
      [{ fieldSelector: 'metadata.name!=n05' }, (i) => i !== 5],
      [{ fieldSelector: 'metadata.name=n06', labelSelector: 'third=true' }, (i) => i === 6],
      [{ labelSelector: 'third=perhaps' }, () => false],
    ];
    for (const [selection, isShown] of selections) {
      for (const limit of [1, 2, 3, 8, 50]) {
        const pages = await allPages(path, { ...selection, limit: String(limit) });
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
      const path = await ownCollection();
      for (const name of ['a', 'b', 'c']) await create(path, name);
      const first = (await one().get(`${path}?limit=2`, { headers: { accept } })).body;
      assert.equal(first[member].length, 2);
      assert.equal(first.metadata.remainingItemCount, 1);
      const query = withQuery(path, { limit: '2', continue: first.metadata.continue });
      const second = (await two().get(query, { headers: { accept } })).body;
      assert.equal(second[member].length, 1);
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
      assert.equal(second.metadata.continue ?? '', '');
    });
  }

  const limits: readonly (readonly [limit: string, items: number | undefined])[] = [
    ['0', 3],
    ['-1', 3],
    ['', 3],
    ['3', 3],
    ['4', 3],
    ['999999999', 3],
    ['ten', undefined],
    ['1.5', undefined],
    ['99999999999999999999', undefined],
  ];
  for (const [limit, items] of limits) {
    it(`limit=${limit} ${items === undefined ? 'is a bad request' : 'gives all'}`, async () => {
      const path = await ownCollection();
      for (const name of ['a', 'b', 'c']) await create(path, name);
      const answer = await two().get(withQuery(path, { limit }));
      if (items === undefined) isStatus(answer, 400, 'BadRequest');
      else {
        assert.equal(answer.body.items.length, items);
        assert.equal('continue' in answer.body.metadata, false);
        assert.equal('remainingItemCount' in answer.body.metadata, false);
      }
    });
  }

  it('are lists without items where there are no objects', async () => {
    const path = await ownCollection();
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
    const path = await ownCollection();
    for (let i = 0; i < items; i++) await create(path, `n${i}`);
    const first = await ok(one(), `${path}?limit=2`);
    return { path, first, token: first.metadata.continue };
  }

  it('are valid at another process, and after a restart of the one that issued them', async () => {
    const { path, first, token } = await started();
    await create(path, 'n2-late');
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
        // The last character of base64 may hold bits that mean nothing.
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

  it('are refused for any other query than the one they came from', async () => {
    const { path, token } = await started();
    const elsewhere = await ownCollection();
    const others = [
      withQuery(elsewhere, { continue: token }),
      withQuery('/api/v1/configmaps', { continue: token }),
      withQuery(path.replace('configmaps', 'secrets'), { continue: token }),
      withQuery(path, { continue: token, labelSelector: 'a=b' }),
      withQuery(path, { continue: token, fieldSelector: 'metadata.name=n3' }),
    ];
    for (const other of others) {
      for (const client of [one(), two()]) {
        const answer = await client.get(other);
        assert.equal(answer.status, 400, `${other}: ${answer.text}`);
        assert.equal(answer.body.reason, 'BadRequest');
      }
    }
    // Another limit, or none, does not make another query.
    for (const limit of ['', '0', '1', '100']) await ok(two(), withQuery(path, { continue: token, limit }));
  });

  it('are refused as too old, with one to go on with', async () => {
    const { path, first, token } = await started(9);
    await one().delete(`${path}/n3`);
    await create(path, 'n35');
    await expireHistory(cluster.databaseUrl);
    await withNewServer(async (client) => {
      const answer = await client.get(withQuery(path, { limit: '2', continue: token }));
      isStatus(answer, 410, 'Expired');
      assert.match(
        answer.body.message,
        /^The provided continue parameter is too old to display a consistent list result/,
      );
      const fresh = answer.body.metadata.continue;
      assert.ok(typeof fresh === 'string' && fresh !== '' && fresh !== token);
      const second = await ok(two(), withQuery(path, { limit: '2', continue: fresh }));
      // From the same key on, complete, at another version that is kept from here on.
      assert.deepEqual(namesOf(second), ['n2', 'n35']);
      assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
      await create(path, `zz-${counter++}`);
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
    path = await ownCollection();
    for (const name of thenNames) await create(path, name);
    const list = await ok(one(), path);
    then = list.metadata.resourceVersion;
    const first = await ok(one(), `${path}?limit=2`);
    token = first.metadata.continue;
    tokenVersion = first.metadata.resourceVersion;
    await one().delete(`${path}/c`);
    newest = (await create(path, 'f')).metadata.resourceVersion;
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
        isStatus(answer, 400, 'BadRequest');
        assert.match(answer.body.message, /^resourceVersionMatch /);
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
        // Any state that existed will do, but it must be a single one, and the version must be its own.
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
    it(`answers 400 to version "${version}"`, async () => {
      for (const target of [path, `${path}/a`]) {
        isStatus(await two().get(withQuery(target, { resourceVersion: version })), 400, 'BadRequest');
      }
    });
  }

  it('are those of the request for exact lists with selectors and names too', async () => {
    const own = await ownCollection();
    await create(own, 'x', { on: 'yes' });
    const { metadata } = await create(own, 'y', { on: 'yes' });
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
    const own = await ownCollection();
    const states: { version: string; items: readonly unknown[] }[] = [];
    for (let i = 0; i < 12; i++) {
      const name = `n${i % 4}`;
      if (i % 5 === 4) await one().delete(`${own}/${name}`);
      else if (i < 4) await create(own, name);
      else await two().patch(`${own}/${name}`, 'merge', { data: { n: String(i) } });
      const { metadata, items } = await ok(i % 2 === 0 ? one() : two(), own);
      states.push({ version: metadata.resourceVersion, items });
    }
    for (const { version, items } of states) {
      for (const client of [one(), two()]) {
        const exact = { resourceVersion: version, resourceVersionMatch: 'Exact' };
        assert.deepEqual((await ok(client, withQuery(own, exact))).items, items);
      }
      const pages = await allPages(own, { resourceVersion: version, limit: '1' });
      assert.deepEqual(
        pages.flatMap((list) => list.items),
        items,
      );
    }
  });

  it('are never older than what any process has acknowledged before, without a version', async () => {
    const own = await ownCollection();
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
    const idle = await ownCollection();
    const made = await create(await ownCollection(), 'elsewhere');
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
    const own = await ownCollection();
    const made = await create(own, 'x');
    for (const client of [one(), two()]) {
      for (const version of ['', made.metadata.resourceVersion]) {
        const answer = await client.get(withQuery(`${own}/x`, { resourceVersion: version }));
        assert.deepEqual(answer.body, made, `version "${version}"`);
      }
      // Any state will do for 0, even one from before the object existed.
      const any = await client.get(`${own}/x?resourceVersion=0`);
      if (any.status === 200) assert.deepEqual(any.body, made);
      else isStatus(any, 404, 'NotFound');
    }
    check('too large', await two().get(`${own}/x?resourceVersion=999999999999`), '');
  });

  // Last, because the history of everything above is gone after it.
  it('that are gone get 410, those that need not be exact do not', async () => {
    const own = await ownCollection();
    const made = await create(own, 'x');
    await one().patch(`${own}/x`, 'merge', { data: { n: '1' } });
    await expireHistory(cluster.databaseUrl);
    const { resourceVersion } = made.metadata;
    const exactOnes: readonly Readonly<Record<string, string>>[] = [
      { resourceVersionMatch: 'Exact' },
      { limit: '1' },
      { resourceVersionMatch: 'Exact', limit: '1' },
    ];
    await withNewServer(async (client) => {
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
