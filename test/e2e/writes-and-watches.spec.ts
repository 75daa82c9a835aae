import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, WatchEvent } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let one: ApiClient;
let two: ApiClient;

const ns = 'writes';
const configMaps = `/api/v1/namespaces/${ns}/configmaps`;
const configMap = (name: string, extra: object = {}, meta: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  ...extra,
});

before(async () => {
  cluster = await sharedCluster('plain');
  one = cluster.first.client;
  two = cluster.second.client;
  const made = await one.post('/api/v1/namespaces', { metadata: { name: ns } });
  assert.equal(made.status, 201, made.text);
});

after(() => cluster.stop());

describe('writes', () => {
  it('creates, and every process reads it at once', async () => {
    const created = await one.post(configMaps, configMap('a', { data: { k: 'v' } }));
    assert.equal(created.status, 201, created.text);
    const { uid, resourceVersion, creationTimestamp, namespace } = created.body.metadata;
    assert.match(uid, /^[0-9a-f-]{36}$/);
    assert.match(resourceVersion, /^[1-9]\d*$/);
    assert.match(creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(namespace, ns);
    const read = await two.get(`${configMaps}/a`);
    assert.deepEqual(read.body, created.body);
    const again = await two.post(configMaps, configMap('a'));
    assert.equal(again.status, 409);
    assert.equal(again.body.reason, 'AlreadyExists');
  });

  it('lets exactly one of two concurrent updates of a version win', async () => {
    const { body } = await one.post(configMaps, configMap('race', { data: { n: '0' } }));
    let live = body;
    for (let round = 1; round <= 25; round++) {
      const attempt = (client: ApiClient, by: string) =>
        client.put(`${configMaps}/race`, { ...live, data: { n: String(round), by } });
      const answers = await Promise.all([attempt(one, 'one'), attempt(two, 'two'), attempt(one, 'three')]);
      const won = answers.filter((a) => a.status === 200);
      assert.equal(won.length, 1, answers.map((a) => a.text).join('\n'));
      for (const lost of answers.filter((a) => a.status !== 200)) {
        assert.equal(lost.status, 409);
        assert.equal(lost.body.reason, 'Conflict');
      }
      live = won[0]?.body;
    }
    assert.deepEqual((await two.get(`${configMaps}/race`)).body, live);
  });

  it('writes nothing for an update that changes nothing', async () => {
    const { body } = await one.post(configMaps, configMap('noop', { data: { k: 'v' } }));
    const put = await two.put(`${configMaps}/noop`, body);
    assert.equal(put.body.metadata.resourceVersion, body.metadata.resourceVersion);
    const patched = await one.patch(`${configMaps}/noop`, 'merge', { data: { k: 'v' } });
    assert.equal(patched.status, 200);
    assert.equal(patched.body.metadata.resourceVersion, body.metadata.resourceVersion);
  });

  it('merges concurrent unconditional patches without losing one', async () => {
    await one.post(configMaps, configMap('merge', { data: {} }));
    const keys = Array.from({ length: 40 }, (_, i) => `k${i}`);
    const answers = await Promise.all(
      keys.map((key, i) => (i % 2 === 0 ? one : two).patch(`${configMaps}/merge`, 'merge', { data: { [key]: 'x' } })),
    );
    for (const answer of answers) assert.equal(answer.status, 200, answer.text);
    const { body } = await one.get(`${configMaps}/merge`);
    assert.deepEqual(Object.keys(body.data).sort(), keys.sort());
  });

  it('applies JSON patches with their tests', async () => {
    await one.post(configMaps, configMap('json', { data: { a: '1' } }));
    const good = await one.patch(`${configMaps}/json`, 'json', [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'add', path: '/data/b', value: '2' },
    ]);
    assert.deepEqual(good.body.data, { a: '1', b: '2' });
    const bad = await one.patch(`${configMaps}/json`, 'json', [{ op: 'test', path: '/data/a', value: 'no' }]);
    assert.equal(bad.status, 422);
  });

  it('makes names from generateName', async () => {
    const made = await one.post(configMaps, { metadata: { generateName: 'gen-' } });
    assert.match(made.body.metadata.name, /^gen-[a-z0-9]{5}$/);
  });

  it('leaves nothing behind in a dry run', async () => {
    const made = await one.post(`${configMaps}?dryRun=All`, configMap('dry'));
    assert.equal(made.status, 201);
    assert.equal(made.body.metadata.resourceVersion, undefined);
    assert.equal((await two.get(`${configMaps}/dry`)).status, 404);
    const live = (await one.post(configMaps, configMap('wet', { data: { a: '1' } }))).body;
    const dry = await one.patch(`${configMaps}/wet?dryRun=All`, 'merge', { data: { a: '2' } });
    assert.equal(dry.body.data.a, '2');
    const gone = await one.delete(`${configMaps}/wet`, { dryRun: ['All'] });
    assert.equal(gone.status, 200);
    assert.deepEqual((await two.get(`${configMaps}/wet`)).body, live);
    const unknown = await one.post(`${configMaps}?dryRun=Some`, configMap('x'));
    assert.equal(unknown.status, 422);
  });

  it('keeps an object until its last finalizer is gone', async () => {
    await one.post(configMaps, configMap('fin', {}, { finalizers: ['example.com/hold'] }));
    const marked = await one.delete(`${configMaps}/fin`);
    assert.equal(marked.status, 200);
    assert.ok(marked.body.metadata.deletionTimestamp);
    const recreated = await two.post(configMaps, configMap('fin'));
    assert.equal(recreated.status, 409);
    assert.match(recreated.body.message, /^object is being deleted: /);
    const more = await two.patch(`${configMaps}/fin`, 'merge', {
      metadata: { finalizers: ['example.com/hold', 'a.b/c'] },
    });
    assert.equal(more.status, 422);
    const freed = await two.patch(`${configMaps}/fin`, 'merge', { metadata: { finalizers: null } });
    assert.equal(freed.status, 200);
    assert.equal((await one.get(`${configMaps}/fin`)).status, 404);
  });

  it('honours delete preconditions and propagation', async () => {
    const { body } = await one.post(configMaps, configMap('pre'));
    const wrong = await one.delete(`${configMaps}/pre`, {
      preconditions: { uid: '11111111-2222-3333-4444-555555555555' },
    });
    assert.equal(wrong.status, 409);
    const orphan = await one.delete(`${configMaps}/pre`, { propagationPolicy: 'Orphan', dryRun: ['All'] });
    assert.deepEqual(orphan.body.metadata.finalizers, ['orphan']);
    const right = await one.delete(`${configMaps}/pre`, { preconditions: { uid: body.metadata.uid } });
    assert.equal(right.body.status, 'Success');
    assert.equal(right.body.details.uid, body.metadata.uid);
  });

  it('refuses bad selectors and unknown fields to select by', async () => {
    assert.equal((await one.get(`${configMaps}?labelSelector=a+in+b`)).status, 400);
    assert.equal((await one.get(`${configMaps}?fieldSelector=data%3Dx`)).status, 400);
    assert.equal((await one.get(`${configMaps}?watch=1&fieldSelector=data%3Dx`)).status, 400);
  });

  it('deletes a selected part of a collection', async () => {
    for (const [name, set] of [
      ['c1', 'x'],
      ['c2', 'x'],
      ['c3', 'y'],
    ] as const) {
      await one.post(configMaps, configMap(name, {}, { labels: { set } }));
    }
    const deleted = await two.delete(`${configMaps}?labelSelector=set%3Dx`);
    assert.equal(deleted.status, 200);
    assert.equal(deleted.body.kind, 'ConfigMapList');
    const namesOf = ({ body }: typeof deleted) =>
      body.items.map((i: { metadata: { name: string } }) => i.metadata.name);
    assert.deepEqual(namesOf(deleted), ['c1', 'c2']);
    const left = await one.get(`${configMaps}?labelSelector=set`);
    assert.deepEqual(namesOf(left), ['c3']);
  });

  it('answers HEAD like GET, without a body', async () => {
    const head = await one.send('HEAD', `${configMaps}/a`);
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
  });
});

describe('lists', () => {
  it('pages through one snapshot in byte order, from any process', async () => {
    const list = '/api/v1/namespaces/paged/configmaps';
    await one.post('/api/v1/namespaces', { metadata: { name: 'paged' } });
    const names = ['b', 'a-b', 'a.b', 'a0', 'z', 'aa', 'a'].sort();
    await Promise.all(names.map((name) => one.post(list, configMap(name))));
    const seen: string[] = [];
    const versions = new Set<string>();
    let token = '';
    let page = 0;
    do {
      const client = page++ % 2 === 0 ? one : two;
      const answer = await client.get(`${list}?limit=2${token === '' ? '' : `&continue=${encodeURIComponent(token)}`}`);
      assert.equal(answer.status, 200, answer.text);
      for (const item of answer.body.items) seen.push(item.metadata.name);
      versions.add(answer.body.metadata.resourceVersion);
      const { remainingItemCount } = answer.body.metadata;
      if (answer.body.metadata.continue) assert.equal(seen.length + remainingItemCount, names.length);
      else assert.equal(remainingItemCount, undefined);
      token = answer.body.metadata.continue ?? '';
      // Changes after the first page must not show.
      if (page === 1) {
        await two.delete(`${list}/z`);
        await one.post(list, configMap('c-late'));
        await one.patch(`${list}/b`, 'merge', { data: { late: 'x' } });
      }
    } while (token !== '');
    assert.deepEqual(seen, names);
    assert.equal(versions.size, 1);
    const fresh = await two.get(list);
    assert.deepEqual(
      fresh.body.items.map((i: { metadata: { name: string } }) => i.metadata.name),
      [...names.filter((n) => n !== 'z'), 'c-late'].sort(),
    );
  });

  it('lists at an exact old version', async () => {
    const { body } = await one.post(configMaps, configMap('old', { data: { n: '1' } }));
    await two.put(`${configMaps}/old`, { ...body, data: { n: '2' } });
    const query = `resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    const then = await two.get(`${configMaps}?${query}`);
    assert.equal(then.body.metadata.resourceVersion, body.metadata.resourceVersion);
    const item = then.body.items.find((i: { metadata: { name: string } }) => i.metadata.name === 'old');
    assert.equal(item.data.n, '1');
  });

  it('answers 504 for a version from the future', async () => {
    const answer = await one.get(`${configMaps}?resourceVersion=999999999999`);
    assert.equal(answer.status, 504);
    assert.equal(answer.body.details.causes[0].reason, 'ResourceVersionTooLarge');
    assert.ok(answer.headers['retry-after']);
  });
});

describe('watches', () => {
  it('shows writes of one process to watchers of the other, in order', async () => {
    const start = (await one.get(configMaps)).body.metadata.resourceVersion;
    const watch = await two.watch(`${configMaps}?watch=1&resourceVersion=${start}`);
    assert.equal(watch.status, 200);
    const created = (await one.post(configMaps, configMap('w', { data: { n: '0' } }))).body;
    await one.patch(`${configMaps}/w`, 'merge', { data: { n: '1' } });
    await two.patch(`${configMaps}/w`, 'merge', { data: { n: '2' } });
    await one.delete(`${configMaps}/w`);
    const events = await watch.take(4);
    assert.deepEqual(
      events.map((e) => e.type),
      ['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED'],
    );
    assert.deepEqual(events[0]?.object, created);
    assert.deepEqual(
      events.map((e) => e.object.data.n),
      ['0', '1', '2', '2'],
    );
    const versions = events.map((e) => BigInt(e.object.metadata.resourceVersion));
    for (let i = 1; i < versions.length; i++) assert.ok((versions[i] as bigint) > (versions[i - 1] as bigint));
    watch.close();
  });

  it('replays history from a version, even of objects that are gone', async () => {
    const first = (await one.post(configMaps, configMap('h', { data: { n: '0' } }))).body;
    await two.patch(`${configMaps}/h`, 'merge', { data: { n: '1' } });
    await one.delete(`${configMaps}/h`);
    const watch = await two.watch(`${configMaps}?watch=1&resourceVersion=${first.metadata.resourceVersion}`);
    const events = await watch.take(2);
    assert.deepEqual(
      events.map((e) => e.type),
      ['MODIFIED', 'DELETED'],
    );
    assert.equal(events[1]?.object.data.n, '1');
    watch.close();
  });

  it('starts with the state when no version is given', async () => {
    await one.post(configMaps, configMap('s', {}, { labels: { state: 'yes' } }));
    const watch = await two.watch(`${configMaps}?watch=1&labelSelector=state%3Dyes`);
    const [event] = await watch.take(1);
    assert.equal(event?.type, 'ADDED');
    assert.equal(event?.object.metadata.name, 's');
    watch.close();
  });

  it('turns entering and leaving a selector into ADDED and DELETED', async () => {
    const start = (await one.get(configMaps)).body.metadata.resourceVersion;
    const watch = await two.watch(`${configMaps}?watch=1&resourceVersion=${start}&labelSelector=on%3Dyes`);
    await one.post(configMaps, configMap('t', { data: { n: '0' } }, { labels: { on: 'yes' } }));
    await one.patch(`${configMaps}/t`, 'merge', { metadata: { labels: { on: 'no' } }, data: { n: '1' } });
    await one.patch(`${configMaps}/t`, 'merge', { data: { n: '2' } });
    await one.patch(`${configMaps}/t`, 'merge', { metadata: { labels: { on: 'yes' } } });
    await one.patch(`${configMaps}/t`, 'merge', { data: { n: '3' } });
    await one.delete(`${configMaps}/t`);
    const events = await watch.take(5);
    assert.deepEqual(
      events.map((e) => e.type),
      ['ADDED', 'DELETED', 'ADDED', 'MODIFIED', 'DELETED'],
    );
    // The object in its last selected state.
    assert.equal(events[1]?.object.data.n, '0');
    watch.close();
  });

  it('sees one object through a field selector and through the old watch path', async () => {
    const start = (await one.get(configMaps)).body.metadata.resourceVersion;
    const byField = await two.watch(
      `${configMaps}?watch=1&resourceVersion=${start}&fieldSelector=metadata.name%3Dsolo`,
    );
    const byPath = await one.watch(`/api/v1/watch/namespaces/${ns}/configmaps/solo?resourceVersion=${start}`);
    await one.post(configMaps, configMap('other'));
    await two.post(configMaps, configMap('solo'));
    for (const watch of [byField, byPath]) {
      const [event] = await watch.take(1);
      assert.equal(event?.object.metadata.name, 'solo');
      watch.close();
    }
  });

  it('ends by itself after timeoutSeconds, without an error', async () => {
    const watch = await one.watch(`${configMaps}?watch=1&resourceVersion=0&timeoutSeconds=1&labelSelector=none%3Dx`);
    assert.equal(await watch.next(60_000), undefined);
  });

  it('bookmarks the end of the initial state exactly once when asked, also of watches that name no version or 0', async () => {
    const isEnd = (e: WatchEvent) => e.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
    const forms = ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan&', '', 'resourceVersion=0&'];
    for (const [number, form] of forms.entries()) {
      const query = `watch=1&${form}allowWatchBookmarks=true&labelSelector=state%3Dyes`;
      const watch = await two.watch(`${configMaps}?${query}`);
      const events: WatchEvent[] = [];
      while (!events.some(isEnd)) events.push(...(await watch.take(1)));
      const late = configMap(`after-the-end-${number}`, {}, { labels: { state: 'yes' } });
      await one.post(configMaps, late);
      while (events.at(-1)?.object.metadata.name !== late.metadata.name) events.push(...(await watch.take(1)));
      watch.close();
      const ends = events.filter(isEnd);
      assert.equal(ends.length, 1, form);
      assert.equal(ends[0]?.type, 'BOOKMARK');
      assert.equal(events[0]?.type, 'ADDED');
    }
    const without = await two.get(`${configMaps}?watch=1&sendInitialEvents=true`);
    assert.equal(without.status, 422);
  });

  it('sends tables to clients that ask, with the columns once', async () => {
    const start = (await one.get(configMaps)).body.metadata.resourceVersion;
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1,application/json';
    const watch = await two.watch(`${configMaps}?watch=1&resourceVersion=${start}`, { headers: { accept } });
    await one.post(configMaps, configMap('table1', { data: { a: '1' } }));
    await one.post(configMaps, configMap('table2'));
    const events = await watch.take(2);
    assert.equal(events[0]?.object.kind, 'Table');
    assert.ok(events[0]?.object.columnDefinitions.length > 0);
    assert.deepEqual(events[0]?.object.rows[0].cells.slice(0, 2), ['table1', 1]);
    assert.equal(events[1]?.object.columnDefinitions, null);
    watch.close();
  });
});
