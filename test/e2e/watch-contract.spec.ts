import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { configMap } from '../../src/apis/core/v1/config-map.types.js';
import { Random, testSeeds } from '../support/random.js';
import type { ApiClient, WatchEvent, WatchStream } from './support/api-client.js';
import { expireHistory } from './support/expire-history.js';
import { decodeObject, ProtobufClient } from './support/protobuf-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

// The rules that clients of a watch rely on (specification 4.4 and 6.1), each against two or more server processes.

let cluster: TestCluster;
let one: ApiClient;
let two: ApiClient;
let counter = 0;
/** For tests that mostly wait for the end of a watch; each has a collection of its own. */
const sideBySide = { concurrency: 6 };

before(async () => {
  cluster = await TestCluster.start({ servers: 3 });
  one = cluster.first.client;
  two = cluster.second.client;
});

after(() => cluster.stop());

/** The ConfigMaps of the test's own namespace. */
async function ownCollection(): Promise<string> {
  const name = `watch-${counter++}`;
  const made = await one.post('/api/v1/namespaces', { metadata: { name } });
  assert.equal(made.status, 201, made.text);
  return `/api/v1/namespaces/${name}/configmaps`;
}

type Labels = Readonly<Record<string, string>>;

async function create(client: ApiClient, path: string, name: string, labels: Labels = {}, n = '0') {
  const answer = await client.post(path, { metadata: { name, labels }, data: { n } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function patch(client: ApiClient, path: string, name: string, body: object) {
  const answer = await client.patch(`${path}/${name}`, 'merge', body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const setN = (client: ApiClient, path: string, name: string, n: string) => patch(client, path, name, { data: { n } });
const setLabels = (client: ApiClient, path: string, name: string, labels: Record<string, string | null>) =>
  patch(client, path, name, { metadata: { labels } });

async function remove(client: ApiClient, path: string, name: string) {
  const answer = await client.delete(`${path}/${name}`);
  assert.equal(answer.status, 200, answer.text);
}

const listVersion = async (client: ApiClient, path: string): Promise<string> =>
  (await client.get(path)).body.metadata.resourceVersion;

const versionOf = (event: WatchEvent): bigint => BigInt(event.object.metadata.resourceVersion);
const brief = (event: WatchEvent) => `${event.type} ${event.object.metadata.name} ${event.object.data?.n ?? ''}`.trim();

async function watch(client: ApiClient, path: string, query: string, accept?: string): Promise<WatchStream> {
  const stream = await client.watch(`${path}?watch=1&${query}`, accept === undefined ? {} : { headers: { accept } });
  assert.equal(stream.status, 200, `${path}?watch=1&${query}`);
  return stream;
}

/** Every event until the server ends the watch. */
async function readAll(stream: WatchStream, timeoutMs = 20_000): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for (let event = await stream.next(timeoutMs); event !== undefined; event = await stream.next(timeoutMs)) {
    events.push(event);
  }
  return events;
}

/** Writes one more object and reads until it arrives, with everything that has to come before it. */
async function readUpToMark(stream: WatchStream, path: string, labels: Labels = {}): Promise<WatchEvent[]> {
  const name = `mark-${counter++}`;
  await create(two, path, name, labels);
  const events: WatchEvent[] = [];
  for (;;) {
    const [event] = await stream.take(1);
    assert.ok(event !== undefined);
    if (event.object.metadata.name === name) return events;
    events.push(event);
  }
}

const isEnd = (event: WatchEvent): boolean =>
  event.object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true';
const streaming = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

describe('where a watch starts', () => {
  it('at a version: everything after it, even of objects that are gone by now', async () => {
    const path = await ownCollection();
    await create(one, path, 'x');
    const first = await setN(two, path, 'x', '1');
    const second = await setN(one, path, 'x', '2');
    await remove(two, path, 'x');
    for (const { client } of cluster.servers) {
      const stream = await watch(client, path, `resourceVersion=${first.metadata.resourceVersion}`);
      const events = await readUpToMark(stream, path);
      assert.deepEqual(events.map(brief).slice(0, 2), ['MODIFIED x 2', 'DELETED x 2']);
      assert.deepEqual(events[0]?.object, second);
      assert.deepEqual(
        events.slice(2).filter((event) => !event.object.metadata.name.startsWith('mark-')),
        [],
      );
      stream.close();
    }
  });

  it('again at its last version, at another process: nothing twice, nothing missing', async () => {
    const path = await ownCollection();
    let from = await listVersion(one, path);
    const expected: string[] = [];
    const got: string[] = [];
    for (let round = 0; round < 9; round++) {
      const client = (cluster.servers[round % 3] as (typeof cluster.servers)[number]).client;
      const stream = await watch(client, path, `resourceVersion=${from}`);
      const name = `r${round}`;
      await create(two, path, name);
      await setN(one, path, name, '1');
      // This connection takes less than everything, so the next one has to fetch the rest.
      const events = await stream.take(1 + (round % 2));
      stream.close();
      await setN(one, path, name, 'between');
      expected.push(`ADDED ${name} 0`, `MODIFIED ${name} 1`, `MODIFIED ${name} between`);
      got.push(...events.map(brief));
      from = events.at(-1)?.object.metadata.resourceVersion;
    }
    const stream = await watch(two, path, `resourceVersion=${from}`);
    got.push(...(await stream.take(expected.length - got.length)).map(brief));
    assert.deepEqual(await readUpToMark(stream, path), []);
    assert.deepEqual(got, expected);
    stream.close();
  });

  for (const version of ['', '0']) {
    it(`at version "${version}": the state as ADDED, then what changes`, async () => {
      const path = await ownCollection();
      for (const name of ['c', 'a', 'b']) await create(one, path, name);
      await setN(one, path, 'b', '5');
      await remove(one, path, 'c');
      const stream = await watch(two, path, `resourceVersion=${version}`);
      const state = new Map<string, string>();
      if (version === '') assert.deepEqual((await stream.take(2)).map(brief).sort(), ['ADDED a 0', 'ADDED b 5']);
      await setN(one, path, 'a', '1');
      // Any state will do for 0; from there on nothing may be missing.
      const isComplete = () => state.get('a') === '1' && !state.has('c') && (version === '' || state.get('b') === '5');
      while (!isComplete()) {
        const [event] = await stream.take(1);
        const { metadata, data } = event?.object ?? {};
        assert.equal(event?.type === 'ADDED', !state.has(metadata.name) && version !== '');
        if (event?.type === 'DELETED') state.delete(metadata.name);
        else state.set(metadata.name, data.n);
      }
      stream.close();
    });
  }

  it('without a version: not older than what any process has acknowledged before', async () => {
    const path = await ownCollection();
    for (let i = 0; i < 25; i++) {
      const [writer, watcher] = i % 2 === 0 ? [one, two] : [two, one];
      await create(writer, path, `fresh-${i}`);
      const stream = await watch(watcher, path, `fieldSelector=metadata.name%3Dfresh-${i}`);
      const [event] = await stream.take(1, 3_000);
      assert.equal(brief(event as WatchEvent), `ADDED fresh-${i} 0`);
      stream.close();
    }
  });
});

describe('selectors of a watch', sideBySide, () => {
  it('show leaving as DELETED, nothing while outside, and coming back as ADDED', async () => {
    const path = await ownCollection();
    const from = await listVersion(one, path);
    const stream = await watch(two, path, `resourceVersion=${from}&labelSelector=on%3Dyes`);
    const inside = await create(one, path, 'x', { on: 'yes' });
    const left = await setLabels(one, path, 'x', { on: 'no' });
    await setN(two, path, 'x', 'outside');
    const back = await setLabels(two, path, 'x', { on: 'yes' });
    await setN(one, path, 'x', 'inside');
    await remove(one, path, 'x');
    const events = await readUpToMark(stream, path, { on: 'yes' });
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
    const path = await ownCollection();
    const from = await listVersion(one, path);
    await create(one, path, 'x', { on: 'yes' });
    await setLabels(one, path, 'x', { on: 'no' });
    await setN(one, path, 'x', 'outside');
    await setLabels(one, path, 'x', { on: 'yes' });
    const replays = cluster.servers.map(async ({ client }) => {
      const stream = await watch(client, path, `resourceVersion=${from}&labelSelector=on%3Dyes&timeoutSeconds=1`);
      return (await readAll(stream)).map(brief);
    });
    for (const events of await Promise.all(replays)) {
      assert.deepEqual(events, ['ADDED x 0', 'DELETED x 0', 'ADDED x outside']);
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
    const path = await ownCollection();
    const from = await listVersion(one, path);
    const streams = await Promise.all(
      selections.map(([, query], i) =>
        watch(i % 2 === 0 ? one : two, path, `resourceVersion=${from}&${query}&timeoutSeconds=3`),
      ),
    );
    await create(one, path, 'p', { tier: 'a' });
    await create(two, path, 'q', { tier: 'a', extra: '' });
    await create(one, path, 'r', { tier: 'b' });
    await create(two, path, 's');
    const seen = await Promise.all(streams.map((stream) => readAll(stream)));
    selections.forEach(([title, , shown], i) => {
      assert.deepEqual(seen[i]?.map((event) => event.object.metadata.name) ?? [], shown, title);
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
      const path = await ownCollection();
      const answer = await one.get(`${path}?watch=1&${query}`);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.kind, 'Status');
      assert.equal(answer.body.reason, 'BadRequest');
    });
  }

  it('select one object, by field and by the old path', async () => {
    const path = await ownCollection();
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

describe('the order of a watch', () => {
  for (const seed of testSeeds('order of watches')) {
    it(`is the same everywhere and from every version on (seed ${seed})`, async () => {
      const random = new Random(seed);
      const path = await ownCollection();
      const from = await listVersion(one, path);
      const first = await watch(one, path, `resourceVersion=${from}`);
      const writes = 160;
      const writer = async (client: ApiClient, own: Random) => {
        for (let i = 0; i < writes / 4; i++) {
          const name = `k${own.below(6)}`;
          const dice = own.below(3);
          if (dice === 0) await client.delete(`${path}/${name}`);
          else if (dice === 1) await client.patch(`${path}/${name}`, 'merge', { data: { n: String(own.next()) } });
          else await client.post(path, { metadata: { name } });
        }
      };
      const forks = [one, two, one, two].map((client) => writer(client, new Random(random.below(2 ** 31))));
      // Watches that start at each arriving event, while the writers go on.
      const later: { from: bigint; stream: WatchStream }[] = [];
      await Promise.all(forks);
      const reference = await readUpToMark(first, path);
      assert.ok(reference.length > 40, `${reference.length} events`);
      for (let i = 0; i < reference.length; i += 3) {
        const { client } = cluster.servers[i % 3] as (typeof cluster.servers)[number];
        const at = versionOf(reference[i] as WatchEvent);
        later.push({ from: at, stream: await watch(client, path, `resourceVersion=${at}`) });
      }
      for (let i = 1; i < reference.length; i++) {
        assert.ok(versionOf(reference[i] as WatchEvent) > versionOf(reference[i - 1] as WatchEvent), 'rising versions');
      }
      for (const { from: at, stream } of later) {
        const expected = reference.filter((event) => versionOf(event) > at);
        assert.deepEqual(await stream.take(expected.length), expected);
        stream.close();
      }
      first.close();
    });
  }

  it('has a DELETED with the full last state, at the version of the deletion', async () => {
    const path = await ownCollection();
    const made = await create(one, path, 'x', { some: 'label' }, 'last');
    const stream = await watch(two, path, `resourceVersion=${made.metadata.resourceVersion}`);
    await remove(one, path, 'x');
    const [event] = await stream.take(1);
    assert.equal(event?.type, 'DELETED');
    assert.ok(versionOf(event as WatchEvent) > BigInt(made.metadata.resourceVersion));
    const { resourceVersion } = event?.object.metadata ?? {};
    assert.deepEqual(event?.object, { ...made, metadata: { ...made.metadata, resourceVersion } });
    // A watch from there shows later changes, and not the deletion again.
    const next = await watch(one, path, `resourceVersion=${resourceVersion}`);
    await create(two, path, 'x', {}, 'new');
    for (const open of [stream, next]) {
      assert.equal(brief((await open.take(1))[0] as WatchEvent), 'ADDED x new');
      open.close();
    }
  });

  it('has no event for a write that changes nothing', async () => {
    const path = await ownCollection();
    const made = await create(one, path, 'x', { l: '1' });
    const stream = await watch(two, path, `resourceVersion=${made.metadata.resourceVersion}`);
    const same = [
      await two.put(`${path}/x`, made),
      await one.put(`${path}/x`, { ...made, metadata: { ...made.metadata, resourceVersion: undefined } }),
      await one.patch(`${path}/x`, 'merge', { data: { n: '0' } }),
      await two.patch(`${path}/x`, 'strategic-merge', { metadata: { labels: { l: '1' } } }),
      await one.patch(`${path}/x`, 'json', [{ op: 'replace', path: '/data/n', value: '0' }]),
      await one.patch(`${path}/x`, 'json', []),
    ];
    for (const answer of same) {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.metadata.resourceVersion, made.metadata.resourceVersion);
    }
    assert.deepEqual(await readUpToMark(stream, path), []);
    stream.close();
  });
});

describe('bookmarks', sideBySide, () => {
  it('carry the progress of everything, even where nothing happens', async () => {
    const idle = await ownCollection();
    const busy = await ownCollection();
    const from = await listVersion(one, idle);
    const stream = await watch(two, idle, `resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=3`);
    const made = await create(one, busy, 'x');
    const events = await readAll(stream);
    assert.ok(events.length > 0, 'no bookmark before the end');
    for (const event of events) {
      assert.equal(event.type, 'BOOKMARK');
      const { kind, apiVersion, metadata, ...rest } = event.object;
      assert.deepEqual({ kind, apiVersion, rest }, { kind: 'ConfigMap', apiVersion: 'v1', rest: {} });
      const { resourceVersion: _version, ...other } = metadata;
      assert.deepEqual(other, {});
    }
    const last = versionOf(events.at(-1) as WatchEvent);
    assert.ok(last >= BigInt(made.metadata.resourceVersion), `${last} is before ${made.metadata.resourceVersion}`);
    // And a client can go on from it, at every process.
    const next = cluster.servers.map(async ({ client }) =>
      readAll(await watch(client, idle, `resourceVersion=${last}&timeoutSeconds=1`)),
    );
    assert.deepEqual(await Promise.all(next), [[], [], []]);
  });

  it('come only after everything up to them', async () => {
    const path = await ownCollection();
    const from = await listVersion(one, path);
    let running = true;
    const writing = (async () => {
      for (let i = 0; running; i++) await create(i % 2 === 0 ? one : two, path, `n${i}`);
    })();
    const query = 'allowWatchBookmarks=true&timeoutSeconds=3';
    const streams = await Promise.all(
      cluster.servers.map(({ client }) => watch(client, path, `resourceVersion=${from}&${query}`)),
    );
    const seen = await Promise.all(streams.map((stream) => readAll(stream)));
    running = false;
    await writing;
    const { items } = (await one.get(path)).body;
    for (const events of seen) {
      const bookmarks = events.filter(({ type }) => type === 'BOOKMARK');
      assert.ok(bookmarks.length > 0);
      for (const bookmark of bookmarks) {
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
    const path = await ownCollection();
    const stream = await watch(one, path, `resourceVersion=${await listVersion(one, path)}&timeoutSeconds=3`);
    await create(one, await ownCollection(), 'elsewhere');
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
    it(`answers 400 to ${query}`, async () => {
      const path = await ownCollection();
      const answer = await one.get(`${path}?watch=1&${query}`);
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.body.message, /resourceVersionMatch/);
    });
  }

  for (const start of ['anywhere', 'at the newest version']) {
    for (const selector of ['', '&labelSelector=l+in+(a,b)']) {
      it(`end with one bookmark at a version that is new enough, then go on (${start}${selector})`, async () => {
        const path = await ownCollection();
        for (const name of ['a', 'b', 'c']) await create(one, path, name, { l: name });
        const newest = await setN(one, path, 'b', '1');
        const { resourceVersion } = newest.metadata;
        const version = start === 'anywhere' ? '' : resourceVersion;
        const query = `${streaming}&resourceVersion=${version}${selector}&timeoutSeconds=3`;
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
        await setN(one, path, 'a', `${counter++}`);
        const rest = await readAll(stream);
        assert.equal(rest[0]?.type, 'MODIFIED');
        assert.equal(rest.filter(isEnd).length, 0, 'a second end');
      });
    }
  }

  it('end with a bookmark even where there are no objects', async () => {
    const path = await ownCollection();
    const made = await create(one, await ownCollection(), 'elsewhere');
    const stream = await watch(two, path, streaming);
    const [end] = await stream.take(1);
    assert.ok(isEnd(end as WatchEvent));
    assert.ok(versionOf(end as WatchEvent) >= BigInt(made.metadata.resourceVersion));
    stream.close();
  });

  it('are not announced to those who ask for no bookmarks', async () => {
    const path = await ownCollection();
    await create(one, path, 'a');
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=3';
    const events = await readAll(await watch(one, path, query));
    assert.deepEqual(events.map(brief), ['ADDED a 0']);
  });

  it('are left out when sendInitialEvents is false', async () => {
    const path = await ownCollection();
    const made = await create(one, path, 'a');
    for (const version of ['', made.metadata.resourceVersion]) {
      const query = `sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${version}`;
      const stream = await watch(two, path, query);
      await setN(one, path, 'a', `${counter++}`);
      const [event] = await stream.take(1);
      assert.equal(event?.type, 'MODIFIED');
      stream.close();
    }
  });

  it('wait for a version that is not committed yet', async () => {
    const path = await ownCollection();
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

describe('versions that a watch can not start at', () => {
  const future = (answer: { status: number; text: string; headers: object; body: WatchEvent['object'] }) => {
    assert.equal(answer.status, 504, answer.text);
    assert.equal(answer.body.reason, 'Timeout');
    assert.match(answer.body.message, /^Timeout: Too large resource version: 999999999999, current: \d+$/);
    assert.deepEqual(answer.body.details.causes, [
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
    ]);
    const { 'retry-after': retryAfter } = answer.headers as Record<string, string>;
    assert.match(retryAfter ?? '', /^[1-9]\d*$/);
    assert.equal(answer.body.details.retryAfterSeconds, Number(retryAfter));
  };

  it('answers 504 to one from the future', async () => {
    const path = await ownCollection();
    const answers = [
      one.get(`${path}?watch=1&resourceVersion=999999999999`),
      two.get(`${path}?watch=1&${streaming}&resourceVersion=999999999999`),
    ];
    for (const answer of await Promise.all(answers)) future(answer);
  });

  for (const version of ['abc', '-1', '1.5', '0x10', '99999999999999999999']) {
    it(`answers 400 to ${version}`, async () => {
      const path = await ownCollection();
      const answer = await one.get(`${path}?watch=1&resourceVersion=${version}`);
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.reason, 'BadRequest');
    });
  }

  it('answers an expired one with a 410 as the only event', async () => {
    const path = await ownCollection();
    const made = await create(one, path, 'x');
    await setN(one, path, 'x', '1');
    const open = await watch(two, path, `resourceVersion=${made.metadata.resourceVersion}`);
    await open.take(1);
    await expireHistory(cluster.databaseUrl);
    // Others may remember some of the history, and may use that.
    const late = await cluster.addServer();
    for (const version of [made.metadata.resourceVersion, '2']) {
      const answer = await late.client.get(`${path}?watch=1&resourceVersion=${version}&timeoutSeconds=5`);
      const [line, ...more] = answer.text.trim().split('\n');
      const told = JSON.parse(line ?? '{}');
      assert.deepEqual(more, [], answer.text);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(told.type, 'ERROR');
      const status = told.object;
      assert.equal(status.kind, 'Status');
      assert.equal(status.code, 410);
      assert.equal(status.reason, 'Expired');
    }
    cluster.servers.splice(cluster.servers.indexOf(late), 1);
    await late.stop();
    // An open watch goes on, or gets the 410 too if it had not read since; it never stays silent.
    await setN(one, path, 'x', '2');
    const [next] = await open.take(1);
    if (next?.type === 'ERROR') assert.equal(next.object.reason, 'Expired');
    else assert.equal(brief(next as WatchEvent), 'MODIFIED x 2');
    open.close();
    // And a list returns a version to start at.
    const from = await listVersion(two, path);
    const stream = await watch(one, path, `resourceVersion=${from}`);
    await setN(two, path, 'x', '3');
    assert.equal(brief((await stream.take(1))[0] as WatchEvent), 'MODIFIED x 3');
    stream.close();
  });
});

describe('the end of a watch', sideBySide, () => {
  it('comes after timeoutSeconds, without an error and with whole lines', async () => {
    const path = await ownCollection();
    const from = await listVersion(one, path);
    const began = performance.now();
    const answer = await two.get(`${path}?watch=1&resourceVersion=${from}&timeoutSeconds=2`);
    const took = performance.now() - began;
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '');
    assert.ok(took > 1_500 && took < 15_000, `${took} ms`);
  });

  it('comes to a client that does not read, which then resumes where it was', async () => {
    const path = await ownCollection();
    const made = await create(one, path, 'x');
    const { resourceVersion } = made.metadata;
    const slow = await watch(one, path, `resourceVersion=${resourceVersion}`);
    const attentive = await watch(two, path, `resourceVersion=${resourceVersion}`);
    // Far more than sockets and buffers hold.
    const writes = 100;
    const filler = 'x'.repeat(900_000);
    const reading = attentive.take(writes, 60_000);
    for (let i = 0; i < writes; i++) await patch(two, path, 'x', { data: { n: String(i), filler: `${i}${filler}` } });
    assert.equal((await reading).length, writes);
    attentive.close();

    const got = (await readAll(slow)).filter(({ type }) => type !== 'ERROR');
    assert.ok(got.length < writes, 'the server kept everything for a client that did not read');
    const from = got.at(-1)?.object.metadata.resourceVersion ?? resourceVersion;
    const rest = await watch(two, path, `resourceVersion=${from}`);
    got.push(...(await rest.take(writes - got.length, 60_000)));
    rest.close();
    assert.deepEqual(
      got.map(({ object }) => object.data.n),
      Array.from({ length: writes }, (_, i) => String(i)),
    );
  });

  it('leaves nothing behind: a server ends in time despite open watches', async () => {
    const extra = await cluster.addServer();
    const path = await ownCollection();
    const stream = await watch(extra.client, path, `resourceVersion=${await listVersion(extra.client, path)}`);
    cluster.servers.splice(cluster.servers.indexOf(extra), 1);
    const ended = readAll(stream, 60_000);
    extra.process.kill('SIGTERM');
    await ended;
    await eventually(() => extra.process.exitCode !== null, 'the end of the server', 60_000);
    assert.equal(extra.process.exitCode, 0, extra.log);
    extra.client.close();
  });
});

describe('other forms of a watch', sideBySide, () => {
  it('as tables: columns once, a row per event, the version of each', async () => {
    const path = await ownCollection();
    const made = await create(one, path, 'x');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const query = `resourceVersion=${made.metadata.resourceVersion}&allowWatchBookmarks=true&timeoutSeconds=3`;
    const stream = await watch(two, path, query, accept);
    const changed = await setN(one, path, 'x', '1');
    await remove(one, path, 'x');
    const events = await readAll(stream);
    const rows = events.filter(({ type }) => type !== 'BOOKMARK');
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
    const bookmarks = events.filter(({ type }) => type === 'BOOKMARK');
    assert.ok(bookmarks.length > 0);
    for (const { object } of bookmarks) assert.match(object.metadata.resourceVersion, /^\d+$/);
  });

  it('as metadata only, bookmarks too', async () => {
    const path = await ownCollection();
    const from = await listVersion(one, path);
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const query = `resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=3`;
    const stream = await watch(two, path, query, accept);
    const made = await create(one, path, 'x', { a: 'b' });
    const [event, ...bookmarks] = await readAll(stream);
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
    assert.ok(bookmarks.length > 0);
    for (const bookmark of bookmarks) {
      assert.equal(bookmark.type, 'BOOKMARK');
      assert.equal(bookmark.object.kind, 'PartialObjectMetadata');
    }
  });

  it('as protobuf: the same events, bookmarks and end of the initial state', async () => {
    const path = await ownCollection();
    const made = await create(one, path, 'x', { on: 'yes' });
    const binary = new ProtobufClient(cluster.second.url, cluster.pki.authority, tokens.admin);
    const plain = await watch(two, path, `${streaming}&labelSelector=on%3Dyes&timeoutSeconds=4`);
    const stream = binary.watch(`${path}?watch=1&${streaming}&labelSelector=on%3Dyes&timeoutSeconds=4`);
    const events: WatchEvent[] = [];
    const reading = (async () => {
      for await (const { type, object } of stream) events.push({ type, object: decodeObject(configMap, object) });
    })();
    await eventually(() => events.length >= 2, 'the initial events');
    await setN(one, path, 'x', '1');
    await setLabels(one, path, 'x', { on: 'no' });
    await reading;
    const changes = events.filter(({ type }) => type !== 'BOOKMARK');
    assert.deepEqual(changes.map(brief), ['ADDED x 0', 'MODIFIED x 1', 'DELETED x 1']);
    assert.equal(changes[0]?.object.metadata.uid, made.metadata.uid);
    assert.equal(events.filter(isEnd).length, 1);
    assert.ok(isEnd(events[1] as WatchEvent));
    const inJson = await readAll(plain);
    const shape = (event: WatchEvent) => `${event.type} ${event.object.metadata.resourceVersion}`;
    const ofChanges = (all: readonly WatchEvent[]) => all.filter(({ type }) => type !== 'BOOKMARK').map(shape);
    assert.deepEqual(ofChanges(events), ofChanges(inJson));
  });

  it('the forms of one change have the same version', async () => {
    const path = await ownCollection();
    const from = await listVersion(one, path);
    const forms = [undefined, 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/yaml'];
    const answers = Promise.all(
      forms.map((accept) =>
        one.get(
          `${path}?watch=1&resourceVersion=${from}&timeoutSeconds=2`,
          accept === undefined ? {} : { headers: { accept } },
        ),
      ),
    );
    await create(two, path, 'x');
    const [plain, table, yaml] = await answers;
    const version = JSON.parse(plain?.text ?? '').object.metadata.resourceVersion;
    assert.equal(JSON.parse(table?.text ?? '').object.rows[0].object.metadata.resourceVersion, version);
    // Streams have no form in YAML: refused, or sent as JSON.
    if (yaml?.status === 200) assert.equal(JSON.parse(yaml.text).object.metadata.resourceVersion, version);
    else assert.equal(yaml?.status, 406);
  });
});
