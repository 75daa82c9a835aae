import assert from 'node:assert/strict';
import { eventually } from '../e2e/support/test-cluster.js';
import type { Answer, DocumentClient } from './document-client.js';
import type { Json } from './document-schemas.js';
import type { Collection } from './samples.js';

/** Where a parameter is described: on a collection, in one namespace or all, or on one object. */
export interface Place {
  readonly client: DocumentClient;
  readonly collection: Collection;
  /** Path of the collection to list. */
  readonly list: string;
  readonly isObject: boolean;
}

/** Tries a parameter; rejects when it does not have its described effect. */
type Effect = (place: Place) => Promise<void>;

/** Two objects, made one after the other, with labels that no other object has. */
interface Pair {
  readonly older: string;
  readonly newer: string;
  readonly selector: string;
  /** A version at which only the older one existed. */
  readonly between: string;
  /** A version at which both existed. */
  readonly after: string;
}

async function must(answer: Promise<Answer>, status = 200): Promise<Answer> {
  const got = await answer;
  assert.equal(got.status, status, got.text.slice(0, 300));
  return got;
}

function labelled({ make, nextName }: Collection, labels: Json, name = nextName()): Json {
  const body = make(name);
  return { ...body, metadata: { ...body.metadata, labels } };
}

/** Waits for the server's own writes to a new object, if there are any for its kind, and then returns the object. */
export async function settled(client: DocumentClient, { definition }: Collection, url: string): Promise<Json> {
  if (definition.resource !== 'flowschemas') return undefined;
  return eventually(async () => {
    const { value } = await must(client.send('GET', url));
    return value.status?.conditions === undefined ? undefined : value;
  }, `the status of ${url}`);
}

async function makeOne(
  { client, collection }: Place,
  labels: Json = { made: 'yes' },
): Promise<{ url: string; live: Json }> {
  const { value: made } = await must(client.send('POST', collection.path, { body: labelled(collection, labels) }), 201);
  const url = `${collection.path}/${made.metadata.name}`;
  return { url, live: (await settled(client, collection, url)) ?? made };
}

async function remove({ client }: Place, url: string): Promise<void> {
  const { status, text } = await client.send('DELETE', `${url}?gracePeriodSeconds=0`);
  assert.ok(status === 200 || status === 404, text);
}

async function withOne(place: Place, work: (url: string, live: Json) => Promise<void>): Promise<void> {
  const { url, live } = await makeOne(place);
  await work(url, live);
  await remove(place, url);
}

async function withPair(place: Place, work: (pair: Pair) => Promise<void>): Promise<void> {
  const set = place.collection.nextName();
  const first = await makeOne(place, { set, age: `older-${set}` });
  const second = await makeOne(place, { set, age: `newer-${set}` });
  await work({
    older: first.live.metadata.name,
    newer: second.live.metadata.name,
    selector: encodeURIComponent(`set=${set}`),
    between: first.live.metadata.resourceVersion,
    after: second.live.metadata.resourceVersion,
  });
  await remove(place, first.url);
  await remove(place, second.url);
}

/** Names of the objects of a list that are not being deleted. */
function namesIn({ value }: Answer): string[] {
  const left = value.items.filter((item: Json) => item.metadata.deletionTimestamp === undefined);
  return left.map((item: Json) => item.metadata.name).sort();
}

/** Lists the pair with a query and compares which objects are in the list. */
async function assertListed(place: Place, query: string, expected: readonly string[]): Promise<Answer> {
  const answer = await must(place.client.send('GET', `${place.list}?${query}`));
  assert.deepEqual(namesIn(answer), [...expected].sort(), query);
  return answer;
}

/** Deletes some of the pair by a query and compares which objects are left. */
async function assertLeft(place: Place, pair: Pair, query: string, expected: readonly string[]): Promise<void> {
  const { path } = place.collection;
  await must(place.client.send('DELETE', `${path}?${query}`));
  await assertListed(place, `labelSelector=${pair.selector}`, expected);
}

/** Texts of the events that a watch of the pair gets within a second, by type. */
async function watched({ client, list }: Place, { selector }: Pair, query: string): Promise<string[]> {
  const watch = `${list}?labelSelector=${selector}&watch=true&timeoutSeconds=1&${query}`;
  const { text } = await must(client.send('GET', watch));
  return [...text.matchAll(/^\{"type":"([A-Z]+)"/gm)].map(([, type]) => type as string);
}

/** For parameters whose value is read, although it has no effect on these objects. */
function isRead(method: string, query: string): Effect {
  return async ({ client, collection, isObject }) => {
    const name = collection.nextName();
    const url = isObject ? `${collection.path}/${name}` : collection.path;
    const sent = method === 'POST' ? { body: collection.make(name) } : {};
    const { status, text } = await client.send(method, `${url}?${query}`, sent);
    assert.ok(status === 400 || status === 422, `${status} ${text.slice(0, 200)}`);
  };
}

/** A write of each method that changes an existing object. */
const writes = {
  put: (live: Json) => ({ body: { ...live, metadata: { ...live.metadata, labels: { changed: 'yes' } } } }),
  patch: () => ({ contentType: 'application/merge-patch+json', body: { metadata: { labels: { changed: 'yes' } } } }),
} as const;

function assertIndented({ text }: Answer): void {
  assert.match(text, /^\{\n {2}"/);
}

/** Effects of parameters on the change of one object. */
function changeEffects(method: keyof typeof writes): Record<string, Effect> {
  const write = writes[method];
  const verb = method.toUpperCase();
  return {
    [`${method} dryRun`]: (place) =>
      withOne(place, async (url, live) => {
        const { value } = await must(place.client.send(verb, `${url}?dryRun=All`, write(live)));
        assert.equal(value.metadata.labels.changed, 'yes');
        const { value: kept } = await must(place.client.send('GET', url));
        assert.equal(kept.metadata.labels?.changed, undefined);
      }),
    [`${method} fieldManager`]: (place) =>
      withOne(place, async (url, live) => {
        const { value } = await must(place.client.send(verb, `${url}?fieldManager=prober`, write(live)));
        assert.ok(value.metadata.managedFields.some((entry: Json) => entry.manager === 'prober'));
      }),
    [`${method} fieldValidation`]: (place) =>
      withOne(place, (url, live) => {
        const { body, ...sent } = { contentType: 'application/json', ...write(live) };
        const refusal = method === 'patch' ? 422 : 400;
        return assertValidated(place, verb, url, { ...sent, body: { ...body, noSuchField: 1 } }, refusal);
      }),
    [`${method} pretty`]: (place) =>
      withOne(place, async (url, live) => {
        assertIndented(await must(place.client.send(verb, `${url}?pretty=true`, write(live))));
      }),
  };
}

/** A body with an unknown field is refused, accepted with a warning or without, as the parameter demands. */
async function assertValidated(place: Place, verb: string, url: string, sent: Json, refusal = 400): Promise<void> {
  const ask = (value: string) => place.client.send(verb, `${url}?dryRun=All&fieldValidation=${value}`, sent);
  assert.equal((await ask('Strict')).status, refusal);
  const [warned, ignored] = [await ask('Warn'), await ask('Ignore')];
  assert.ok(warned.status < 300 && ignored.status < 300, `${warned.text} ${ignored.text}`);
  assert.match(warned.warning ?? '', /unknown field/);
  assert.doesNotMatch(ignored.warning ?? '', /unknown field/);
}

/** Effects of the parameters that select objects, for lists and for the deletion of listed objects. */
const selections: Readonly<Record<string, (place: Place, pair: Pair, select: Select) => Promise<void>>> = {
  continue: async (place, pair, select) => {
    const page = await must(place.client.send('GET', `${place.list}?labelSelector=${pair.selector}&limit=1`));
    const [first] = namesIn(page);
    const rest = [pair.older, pair.newer].filter((name) => name !== first);
    await select(`labelSelector=${pair.selector}&continue=${page.value.metadata.continue}`, rest);
  },
  fieldSelector: (_place, pair, select) => select(`fieldSelector=metadata.name%3D${pair.older}`, [pair.older]),
  labelSelector: (_place, { selector, newer }, select) => {
    return select(`labelSelector=${selector.replace('set', 'age').replace('%3D', '%3Dnewer-')}`, [newer]);
  },
  limit: (_place, pair, select) => {
    return select(`labelSelector=${pair.selector}&limit=1`, [[pair.older, pair.newer].sort()[0] as string]);
  },
  resourceVersion: (_place, { selector, between, older }, select) => {
    return select(`labelSelector=${selector}&resourceVersion=${between}&resourceVersionMatch=Exact`, [older]);
  },
  resourceVersionMatch: (_place, { selector, between, older, newer }, select) => {
    const query = `labelSelector=${selector}&resourceVersion=${between}&resourceVersionMatch=NotOlderThan`;
    return select(query, [older, newer]);
  },
};

type Select = (query: string, names: readonly string[]) => Promise<void>;

function selectionEffects(): Record<string, Effect> {
  const effects: Record<string, Effect> = {};
  for (const [name, select] of Object.entries(selections)) {
    effects[`get ${name}`] = (place) => {
      // A single object leaves nothing to select; the value still has to be a version.
      if (place.isObject) return isRead('GET', `${name}=x`)(place);
      return withPair(place, (pair) => {
        return select(place, pair, async (query, names) => void (await assertListed(place, query, names)));
      });
    };
    effects[`delete ${name}`] = (place) =>
      withPair(place, (pair) => {
        return select(place, pair, async (query, names) => {
          const left = [pair.older, pair.newer].filter((one) => !names.includes(one));
          await assertLeft(place, pair, query, left);
        });
      });
  }
  return effects;
}

/** The effect of each parameter, by its method and name. */
export const effects: Readonly<Record<string, Effect>> = {
  ...selectionEffects(),
  ...changeEffects('put'),
  ...changeEffects('patch'),
  'get pretty': async (place) => {
    const { client, list, isObject } = place;
    if (!isObject) return assertIndented(await must(client.send('GET', `${list}?pretty=true&limit=1`)));
    await withOne(place, async (url) => assertIndented(await must(client.send('GET', `${url}?pretty=true`))));
  },
  'get watch': (place) =>
    withPair(place, async (pair) => {
      assert.deepEqual(await watched(place, pair, ''), ['ADDED', 'ADDED']);
    }),
  'get timeoutSeconds': async ({ client, list }) => {
    const began = performance.now();
    await must(client.send('GET', `${list}?watch=true&resourceVersion=0&timeoutSeconds=1`));
    const seconds = (performance.now() - began) / 1000;
    assert.ok(seconds > 0.9 && seconds < 30, `the watch took ${seconds} s`);
  },
  'get sendInitialEvents': (place) =>
    withPair(place, async (pair) => {
      const from = `resourceVersion=${pair.after}`;
      const [without, withThem] = await Promise.all([
        watched(place, pair, from),
        watched(place, pair, `${from}&resourceVersionMatch=NotOlderThan&sendInitialEvents=true`),
      ]);
      assert.deepEqual([without, withThem], [[], ['ADDED', 'ADDED']]);
    }),
  // Without the feature gate ShardedListAndWatch, which is off by default, it selects nothing.
  'get shardSelector': (place) =>
    withPair(place, async (pair) => {
      await assertListed(place, `labelSelector=${pair.selector}&shardSelector=x`, [pair.older, pair.newer]);
    }),
  'get allowWatchBookmarks': (place) =>
    withPair(place, async (pair) => {
      const query = `resourceVersion=${pair.after}&resourceVersionMatch=NotOlderThan&sendInitialEvents=true`;
      const types = await watched(place, pair, `${query}&allowWatchBookmarks=true`);
      assert.deepEqual(types.slice(0, 3), ['ADDED', 'ADDED', 'BOOKMARK']);
    }),
  'post dryRun': async (place) => {
    const { client, collection } = place;
    if (!collection.isStored) return isRead('POST', 'dryRun=x')(place);
    const body = labelled(collection, {});
    await must(client.send('POST', `${collection.path}?dryRun=All`, { body }), 201);
    await must(client.send('GET', `${collection.path}/${body.metadata.name}`), 404);
  },
  'post fieldManager': async (place) => {
    const { client, collection } = place;
    if (!collection.isStored) return isRead('POST', 'fieldManager=%07')(place);
    const body = labelled(collection, { a: 'b' });
    const { value } = await must(
      client.send('POST', `${collection.path}?dryRun=All&fieldManager=prober`, { body }),
      201,
    );
    assert.equal(value.metadata.managedFields[0].manager, 'prober');
  },
  'post fieldValidation': async (place) => {
    const { client, collection } = place;
    const name = collection.nextName();
    if (collection.definition.resource === 'bindings') await makePod(client, name);
    const body = { ...collection.make(name), noSuchField: 1 };
    await assertValidated(place, 'POST', collection.path, { body });
  },
  'post pretty': async ({ client, collection }) => {
    const name = collection.nextName();
    if (collection.definition.resource === 'bindings') await makePod(client, name);
    const url = `${collection.path}?dryRun=All&pretty=true`;
    assertIndented(await must(client.send('POST', url, { body: collection.make(name) }), 201));
  },
  'patch force': (place) =>
    withOne(place, async (url, { apiVersion, kind }) => {
      const apply = (manager: string, value: string, force = '') => {
        const body = { apiVersion, kind, metadata: { labels: { applied: value } } };
        const sent = { contentType: 'application/apply-patch+yaml', body };
        return place.client.send('PATCH', `${url}?fieldManager=${manager}${force}`, sent);
      };
      await must(apply('one', '1'));
      await must(apply('other', '2'), 409);
      const { value } = await must(apply('other', '2', '&force=true'));
      assert.equal(value.metadata.labels.applied, '2');
    }),
  'delete pretty': async ({ client, collection, isObject }) => {
    const url = isObject ? `${collection.path}/${collection.nextName()}` : collection.path;
    assertIndented(await client.send('DELETE', `${url}?dryRun=All&pretty=true&labelSelector=none`));
  },
  'delete dryRun': async (place) => {
    if (!place.isObject) {
      return withPair(place, (pair) => {
        return assertLeft(place, pair, `labelSelector=${pair.selector}&dryRun=All`, [pair.older, pair.newer]);
      });
    }
    await withOne(place, async (url) => {
      await must(place.client.send('DELETE', `${url}?dryRun=All`));
      const { value } = await must(place.client.send('GET', url));
      assert.equal(value.metadata.deletionTimestamp, undefined);
    });
  },
  'delete shardSelector': (place) =>
    withPair(place, (pair) => assertLeft(place, pair, `labelSelector=${pair.selector}&shardSelector=x`, [])),
  'delete sendInitialEvents': isRead('DELETE', 'sendInitialEvents=true&labelSelector=none'),
  'delete ignoreStoreReadErrorWithClusterBreakingPotential': async (place) => {
    const query = 'ignoreStoreReadErrorWithClusterBreakingPotential=true';
    if (!place.isObject) return isRead('DELETE', `${query}&labelSelector=none`)(place);
    // It is for objects that cannot be read.
    await withOne(place, async (url) => void (await must(place.client.send('DELETE', `${url}?${query}`), 409)));
  },
  'delete timeoutSeconds': isRead('DELETE', 'timeoutSeconds=x&labelSelector=none'),
  'delete gracePeriodSeconds': isRead('DELETE', 'gracePeriodSeconds=x'),
  'delete orphanDependents': isRead('DELETE', 'orphanDependents=true&propagationPolicy=Background'),
  'delete propagationPolicy': isRead('DELETE', 'propagationPolicy=x'),
};

async function makePod(client: DocumentClient, name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await must(client.send('POST', '/api/v1/namespaces/default/pods', { body }), 201);
}
