import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, WatchEvent } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';
import {
  brief,
  create,
  follow,
  isBookmark,
  isEnd,
  listVersion,
  ownCollection,
  readAll,
  readUpTo,
  readUpToMark,
  setN,
  streaming,
  versionOf,
  watch,
} from './support/watching.js';

// The events of a watch other than changes: bookmarks and initial events (specification 4.4 and 6.1).

let cluster: TestCluster;
let one: ApiClient;
let two: ApiClient;
/** For tests that mostly wait for the end of a watch; each has a collection of its own. */
const sideBySide = { concurrency: 6 };
/** Makes each change differ from the one before. */
let written = 1;

before(async () => {
  cluster = await sharedCluster('watches');
  one = cluster.first.client;
  two = cluster.second.client;
});

after(() => cluster.stop());

describe('bookmarks', sideBySide, () => {
  it('carry the progress of everything, even where nothing happens', async () => {
    const idle = await ownCollection(one);
    const busy = await ownCollection(one);
    const from = await listVersion(one, idle);
    let newest: bigint | undefined;
    const reading = follow(
      (query) => watch(two, idle, query),
      from,
      (events) => events.some((event) => newest !== undefined && versionOf(event) >= newest),
    );
    newest = BigInt((await create(one, busy, 'x')).metadata.resourceVersion);
    const events = await reading;
    for (const event of events) {
      assert.equal(event.type, 'BOOKMARK');
      const { kind, apiVersion, metadata, ...rest } = event.object;
      assert.deepEqual({ kind, apiVersion, rest }, { kind: 'ConfigMap', apiVersion: 'v1', rest: {} });
      const { resourceVersion: _version, ...other } = metadata;
      assert.deepEqual(other, {});
    }
    const last = versionOf(events.at(-1) as WatchEvent);
    // And a client can resume from it, at every process.
    const next = cluster.servers.map(async ({ client }) =>
      readAll(await watch(client, idle, `resourceVersion=${last}&timeoutSeconds=1`)),
    );
    assert.deepEqual(await Promise.all(next), [[], [], []]);
  });

  it('come only after everything up to them', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    let running = true;
    const writing = (async () => {
      for (let i = 0; running; i++) await create(i % 2 === 0 ? one : two, path, `n${i}`);
    })();
    const seen = await Promise.all(
      cluster.servers.map(({ client }) =>
        follow(
          (query) => watch(client, path, query),
          from,
          (events) => events.some(isBookmark),
        ),
      ),
    );
    running = false;
    await writing;
    const { items } = (await one.get(path)).body;
    for (const events of seen) {
      for (const bookmark of events.filter(isBookmark)) {
        const upTo = versionOf(bookmark);
        const before = events.slice(0, events.indexOf(bookmark)).filter(({ type }) => type === 'ADDED');
        const owed = items.filter(
          (item: { metadata: { resourceVersion: string } }) => BigInt(item.metadata.resourceVersion) <= upTo,
        );
        assert.equal(before.length, owed.length);
        assert.ok(before.every((event) => versionOf(event) <= upTo));
      }
    }
  });

  it('are not sent to those who did not ask', async () => {
    const path = await ownCollection(one);
    const stream = await watch(one, path, `resourceVersion=${await listVersion(one, path)}&timeoutSeconds=3`);
    await create(one, await ownCollection(one), 'elsewhere');
    assert.deepEqual(await readAll(stream), []);
  });
});

describe('initial events on request', sideBySide, () => {
  const refused: readonly string[] = [
    'sendInitialEvents=true',
    'sendInitialEvents=false',
    'sendInitialEvents=true&resourceVersionMatch=Exact',
    'sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
    'resourceVersionMatch=NotOlderThan',
    'resourceVersionMatch=NotOlderThan&resourceVersion=1',
    'resourceVersionMatch=Exact&resourceVersion=1',
  ];
  for (const query of refused) {
    it(`answers 422 to ${query}`, async () => {
      const path = await ownCollection(one);
      const answer = await one.get(`${path}?watch=1&${query}`);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.body.message, /resourceVersionMatch/);
    });
  }

  for (const start of ['anywhere', 'at the newest version']) {
    for (const selector of ['', '&labelSelector=l+in+(a,b)']) {
      it(`end with one bookmark at a version that is new enough, then go on (${start}${selector})`, async () => {
        const path = await ownCollection(one);
        for (const name of ['a', 'b', 'c']) await create(one, path, name, { l: name });
        const newest = await setN(one, path, 'b', '1');
        const { resourceVersion } = newest.metadata;
        const version = start === 'anywhere' ? '' : resourceVersion;
        const query = `${streaming}&resourceVersion=${version}${selector}`;
        const stream = await watch(two, path, query);
        const shown = selector === '' ? ['a', 'b', 'c'] : ['a', 'b'];
        const initial = await stream.take(shown.length + 1);
        const end = initial.pop() as WatchEvent;
        assert.deepEqual(
          initial.map(({ type, object }) => `${type} ${object.metadata.name}`).sort(),
          shown.map((name) => `ADDED ${name}`),
        );
        assert.equal(end.type, 'BOOKMARK', query);
        assert.ok(isEnd(end), query);
        assert.equal(end.object.kind, 'ConfigMap');
        assert.equal(end.object.apiVersion, 'v1');
        assert.ok(versionOf(end) >= BigInt(resourceVersion), `${versionOf(end)} is before ${resourceVersion}`);
        const changed = await setN(one, path, 'a', `${written++}`);
        const rest = await readUpTo(stream, changed.metadata.resourceVersion);
        assert.equal(rest.filter((event) => !isBookmark(event))[0]?.type, 'MODIFIED');
        assert.equal(rest.filter(isEnd).length, 0, 'a second end');
      });
    }
  }

  it('end with a bookmark even where there are no objects', async () => {
    const path = await ownCollection(one);
    const made = await create(one, await ownCollection(one), 'elsewhere');
    const stream = await watch(two, path, streaming);
    const [end] = await stream.take(1);
    assert.ok(isEnd(end as WatchEvent));
    assert.ok(versionOf(end as WatchEvent) >= BigInt(made.metadata.resourceVersion));
    stream.close();
  });

  it('are not announced to those who ask for no bookmarks', async () => {
    const path = await ownCollection(one);
    await create(one, path, 'a');
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const stream = await watch(one, path, query);
    const [added] = await stream.take(1);
    assert.equal(added && brief(added), 'ADDED a 0');
    const events = await readUpToMark(one, stream, path);
    stream.close();
    assert.deepEqual(events, []);
  });

  it('are left out when sendInitialEvents is false', async () => {
    const path = await ownCollection(one);
    const made = await create(one, path, 'a');
    for (const version of ['', made.metadata.resourceVersion]) {
      const query = `sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${version}`;
      const stream = await watch(two, path, query);
      await setN(one, path, 'a', `${written++}`);
      const [event] = await stream.take(1);
      assert.equal(event?.type, 'MODIFIED');
      stream.close();
    }
  });

  it('wait for a version that is not committed yet', async () => {
    const path = await ownCollection(one);
    await create(one, path, 'a');
    for (let i = 0; i < 10; i++) {
      const changed = await setN(one, path, 'a', `${i}`);
      const { resourceVersion } = changed.metadata;
      const stream = await watch(two, path, `${streaming}&resourceVersion=${resourceVersion}`);
      const [event, end] = await stream.take(2);
      assert.deepEqual(event?.object, changed);
      assert.ok(isEnd(end as WatchEvent));
      stream.close();
    }
  });
});
