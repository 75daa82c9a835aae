import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configMap } from '../../src/objects/apis/core/v1/config-map.types.js';
import type { ApiClient, WatchEvent } from './support/api-client.js';
import { decodeObject, ProtobufClient } from './support/protobuf-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';
import {
  brief,
  create,
  follow,
  isBookmark,
  isEnd,
  listVersion,
  ownCollection,
  readUpTo,
  readUpToMark,
  remove,
  setLabels,
  setN,
  streaming,
  versionOf,
  watch,
} from './support/watching.js';

// What a watch shows: selectors and other forms of the same events (specification 4.4, 4.5 and 6.1).

let cluster: TestCluster;
let one: ApiClient;
let two: ApiClient;
/** For tests that mostly wait for the end of a watch; each has a collection of its own. */
const sideBySide = { concurrency: 6 };

before(async () => {
  cluster = await sharedCluster('watches');
  one = cluster.first.client;
  two = cluster.second.client;
});

after(() => cluster.stop());

describe('selectors of a watch', sideBySide, () => {
  it('show leaving as DELETED, nothing while outside, and coming back as ADDED', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    const stream = await watch(two, path, `resourceVersion=${from}&labelSelector=on%3Dyes`);
    const inside = await create(one, path, 'x', { on: 'yes' });
    const left = await setLabels(one, path, 'x', { on: 'no' });
    await setN(two, path, 'x', 'outside');
    const back = await setLabels(two, path, 'x', { on: 'yes' });
    await setN(one, path, 'x', 'inside');
    await remove(one, path, 'x');
    const events = await readUpToMark(two, stream, path, { on: 'yes' });
    assert.deepEqual(events.map(brief), [
      'ADDED x 0',
      'DELETED x 0',
      'ADDED x outside',
      'MODIFIED x inside',
      'DELETED x inside',
    ]);
    // The state while selected, at the version of its leaving: a client continues from there.
    const { resourceVersion } = left.metadata;
    const last = { ...inside, metadata: { ...inside.metadata, resourceVersion } };
    assert.deepEqual(events[1]?.object, last);
    assert.deepEqual(events[2]?.object, back);
    stream.close();
  });

  it('give the same when they are replayed', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    await create(one, path, 'x', { on: 'yes' });
    await setLabels(one, path, 'x', { on: 'no' });
    await setN(one, path, 'x', 'outside');
    await setLabels(one, path, 'x', { on: 'yes' });
    const last = await create(one, path, 'last', { on: 'yes' });
    const replays = cluster.servers.map(async ({ client }) => {
      const stream = await watch(client, path, `resourceVersion=${from}&labelSelector=on%3Dyes`);
      return (await readUpTo(stream, last.metadata.resourceVersion)).map(brief);
    });
    for (const events of await Promise.all(replays)) {
      assert.deepEqual(events, ['ADDED x 0', 'DELETED x 0', 'ADDED x outside', 'ADDED last 0']);
    }
  });

  const selections: readonly (readonly [title: string, query: string, shown: readonly string[]])[] = [
    ['equal', 'labelSelector=tier%3Da', ['p', 'q']],
    ['not equal', 'labelSelector=tier!%3Da', ['r', 's']],
    ['in a set', 'labelSelector=tier+in+(a,b)', ['p', 'q', 'r']],
    ['in no set', 'labelSelector=tier+notin+(a)', ['r', 's']],
    ['there', 'labelSelector=tier', ['p', 'q', 'r']],
    ['not there', 'labelSelector=!tier', ['s']],
    ['two of them', 'labelSelector=tier%3Da,extra', ['q']],
    ['a name', 'fieldSelector=metadata.name%3Dr', ['r']],
    ['not a name', 'fieldSelector=metadata.name!%3Dr', ['p', 'q', 's']],
    ['name and label that meet', 'fieldSelector=metadata.name%3Dq&labelSelector=tier%3Da', ['q']],
    ['name and label that do not meet', 'fieldSelector=metadata.name%3Ds&labelSelector=tier%3Da', []],
  ];
  it('show to each watcher its own and nothing of others', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    let newest: bigint | undefined;
    const isDone = (events: readonly WatchEvent[]) => {
      const last = events.at(-1);
      return last !== undefined && newest !== undefined && versionOf(last) >= newest;
    };
    const reading = selections.map(([, query], i) =>
      follow((start) => watch(i % 2 === 0 ? one : two, path, `${query}&${start}`), from, isDone),
    );
    await create(one, path, 'p', { tier: 'a' });
    await create(two, path, 'q', { tier: 'a', extra: '' });
    await create(one, path, 'r', { tier: 'b' });
    newest = BigInt((await create(two, path, 's')).metadata.resourceVersion);
    const seen = await Promise.all(reading);
    selections.forEach(([title, , shown], i) => {
      const changes = seen[i]?.filter((event) => !isBookmark(event)) ?? [];
      const names = changes.map((event) => event.object.metadata.name);
      assert.deepEqual(names, shown, title);
    });
  });

  const refused: readonly (readonly [query: string, status: number])[] = [
    ['fieldSelector=data%3Dx', 400],
    ['fieldSelector=spec.nodeName%3Dx', 400],
    ['fieldSelector=metadata.name', 400],
    ['labelSelector=a+in+b', 400],
    ['labelSelector=a%3D%3D%3Db', 400],
    ['timeoutSeconds=x', 400],
  ];
  for (const [query, status] of refused) {
    it(`answers ${status} to ${query}`, async () => {
      const path = await ownCollection(one);
      const answer = await one.get(`${path}?watch=1&${query}`);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.kind, 'Status');
      assert.equal(answer.body.reason, 'BadRequest');
    });
  }

  it('select one object, by field and by the old path', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    const old = path.replace('/api/v1/', '/api/v1/watch/');
    const streams = [
      await watch(two, path, `resourceVersion=${from}&fieldSelector=metadata.name%3Dx`),
      await watch(one, `${old}/x`, `resourceVersion=${from}`),
    ];
    await create(one, path, 'w');
    await create(one, path, 'x');
    await create(two, path, 'y');
    await setN(two, path, 'x', '1');
    await remove(one, path, 'x');
    for (const stream of streams) {
      assert.deepEqual((await stream.take(3)).map(brief), ['ADDED x 0', 'MODIFIED x 1', 'DELETED x 1']);
      stream.close();
    }
  });
});

describe('other forms of a watch', sideBySide, () => {
  it('as tables: columns once, a row per event, the version of each', async () => {
    const path = await ownCollection(one);
    const made = await create(one, path, 'x');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { resourceVersion } = made.metadata;
    const stream = await watch(two, path, `resourceVersion=${resourceVersion}`, accept);
    const changed = await setN(one, path, 'x', '1');
    await remove(one, path, 'x');
    const rows = await stream.take(2);
    stream.close();
    assert.deepEqual(
      rows.map(({ type, object }) => [type, object.kind, object.rows.length, object.rows[0].object.metadata.name]),
      [
        ['MODIFIED', 'Table', 1, 'x'],
        ['DELETED', 'Table', 1, 'x'],
      ],
    );
    assert.equal(rows[0]?.object.metadata.resourceVersion, changed.metadata.resourceVersion);
    assert.ok(rows[0]?.object.columnDefinitions.length > 0);
    assert.ok((rows[1]?.object.columnDefinitions ?? []).length === 0, 'columns twice');
    const later = await follow(
      (query) => watch(two, path, query, accept),
      resourceVersion,
      (all) => all.some(isBookmark),
    );
    for (const { object } of later.filter(isBookmark)) assert.match(object.metadata.resourceVersion, /^\d+$/);
  });

  it('as metadata only, bookmarks too', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const isDone = (all: readonly WatchEvent[]) => all.length > 1;
    const reading = follow((query) => watch(two, path, query, accept), from, isDone);
    const made = await create(one, path, 'x', { a: 'b' });
    const [event, ...bookmarks] = await reading;
    assert.equal(event?.type, 'ADDED');
    const { kind, apiVersion, metadata } = event?.object ?? {};
    assert.deepEqual(
      { kind, apiVersion, metadata },
      {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: made.metadata,
      },
    );
    assert.equal(event?.object.data, undefined);
    for (const bookmark of bookmarks) {
      assert.equal(bookmark.type, 'BOOKMARK');
      assert.equal(bookmark.object.kind, 'PartialObjectMetadata');
    }
  });

  it('as protobuf: the same events, bookmarks and end of the initial state', async () => {
    const path = await ownCollection(one);
    const made = await create(one, path, 'x', { on: 'yes' });
    const binary = new ProtobufClient(cluster.second.url, cluster.pki.authority, tokens.admin);
    const plain = await watch(two, path, `${streaming}&labelSelector=on%3Dyes`);
    const stream = binary.watch(`${path}?watch=1&${streaming}&labelSelector=on%3Dyes`);
    const events: WatchEvent[] = [];
    const reading = (async () => {
      for await (const { type, object } of stream) {
        events.push({ type, object: decodeObject(configMap, object) });
        if (type === 'DELETED') break;
      }
    })();
    await eventually(() => events.length >= 2, 'the initial events');
    await setN(one, path, 'x', '1');
    await setLabels(one, path, 'x', { on: 'no' });
    await reading;
    const changes = events.filter((event) => !isBookmark(event));
    assert.deepEqual(changes.map(brief), ['ADDED x 0', 'MODIFIED x 1', 'DELETED x 1']);
    assert.equal(changes[0]?.object.metadata.uid, made.metadata.uid);
    assert.equal(events.filter(isEnd).length, 1);
    assert.ok(isEnd(events[1] as WatchEvent));
    const inJson = await readUpTo(plain, changes[2]?.object.metadata.resourceVersion);
    const shape = (event: WatchEvent) => `${event.type} ${event.object.metadata.resourceVersion}`;
    const ofChanges = (all: readonly WatchEvent[]) => all.filter((event) => !isBookmark(event)).map(shape);
    assert.deepEqual(ofChanges(events), ofChanges(inJson));
  });

  it('the forms of one change have the same version', async () => {
    const path = await ownCollection(one);
    const from = await listVersion(one, path);
    const forms = [undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/yaml'];
    const streams = await Promise.all(
      forms.map((accept) =>
        one.watch(`${path}?watch=1&resourceVersion=${from}`, accept === undefined ? {} : { headers: { accept } }),
      ),
    );
    await create(two, path, 'x');
    const [plain, table, yaml] = streams;
    const version = (await plain?.next())?.object.metadata.resourceVersion;
    assert.equal((await table?.next())?.object.rows[0].object.metadata.resourceVersion, version);
    // Streams have no form in YAML: refused, or sent as JSON.
    if (yaml?.status === 200) assert.equal((await yaml.next())?.object.metadata.resourceVersion, version);
    else assert.equal(yaml?.status, 406);
    for (const stream of streams) stream.close();
  });
});
