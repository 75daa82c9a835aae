import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { Random, testSeeds } from '../../../test/support/random.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { parseFieldSelector } from '../../base/machinery/field-selector.js';
import { parseLabelSelector } from '../../base/machinery/label-selector.js';
import { CachedStorage } from '../cacher/cached-storage.js';
import { isSealed, type Sealing } from '../encryption/sealing.js';
import type { AttributeSource } from '../selection-predicate.js';
import type { ListQuery } from '../storage.interface.js';
import type { StorageKey } from '../storage-key.js';
import { patient } from '../testing/cached-scene.js';
import { put, remove } from '../testing/storage-contract.js';
import { createPostgresStorage, type PostgresStorage } from './postgres-storage.js';
import { silentObserver } from './postgres-storage-options.js';

const resource = 'things';
const present = '{"v":1,';

/** Objects whose text is in an older form have a node that the text does not contain. */
const source: AttributeSource = {
  presentPrefix: present,
  extract: (json) => {
    const { labels, node } = JSON.parse(json) as { labels?: Record<string, string>; node?: unknown };
    const made = json.startsWith(present) ? (node ?? '') : (node ?? 'node-1');
    return { source, labels, fields: { 'spec.node': String(made) } };
  },
};
const select = (labels: string, fields = '') => ({
  source,
  labels: parseLabelSelector(labels),
  fields: parseFieldSelector(fields),
});

/** Keeps some objects encrypted. */
const sealing: Sealing = {
  seal: ({ name }, json) => (name.endsWith('5') ? `"enc:test:key:${Buffer.from(json).toString('base64')}"` : json),
  open: (_key, stored) =>
    isSealed(stored) ? Buffer.from(stored.slice('"enc:test:key:'.length, -1), 'base64').toString() : stored,
  isOutdated: () => false,
  prepare: () => undefined,
};

const nodes = ['node-1', 'node-2', 'nöde "3"\\', 'emoji \u{1F600}', '\u0001', 'true', '17', true, 17, '10.0.0.1', ''];

function textOf(random: Random, i: number): string {
  const labels = {
    app: random.pick(['fill', 'other']),
    ...(random.chance(0.3) ? { group: `g${random.below(40)}` } : {}),
    ...(random.chance(0.02) ? { special: random.pick(['', 'yes', '7']) } : {}),
  };
  const node = random.chance(0.05) ? random.pick(nodes) : undefined;
  const text = JSON.stringify({ v: 1, labels, node, filling: `"group":"g1" ${i} `.padEnd(300, 'x') });
  return random.chance(0.01) ? text.replace('{', '{ ') : text;
}

const selections = [
  select('group=g7'),
  select('app=fill,group=g3'),
  select('group in (g1,g2)'),
  select('group in (g5),app!=other'),
  select('special'),
  select('special=,app=fill'),
  select('special>6'),
  select('special=yes,group notin (g1)'),
  select('group=none'),
  ...nodes.map((node) => select('', `spec.node=${String(node).replaceAll(/[\\,=]/g, (c) => `\\${c}`)}`)),
  select('app=fill', 'spec.node=node-2'),
  select('group=g7', 'metadata.namespace=a'),
];

/** A database with 20,000 objects in some 1,500 blocks. */
async function fill(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const random = new Random(7);
  for (let start = 0; start < 20_000; start += 1_000) {
    const all = Array.from({ length: 1_000 }, (_, i) => start + i);
    const keys = all.map((i) => ({ resource, namespace: 'abé'.charAt(i % 3), name: nameOf(i) }));
    const texts = all.map((i) => textOf(random, i));
    await client.query(
      'select from plinth.write_batch(null, $1, $2, null, $3, $4, $5, $6, $7, $8, null, null, null, true)',
      [
        String(start + 1),
        keys.map(() => 0),
        keys.map((key) => key.resource),
        keys.map((key) => key.namespace),
        keys.map((key) => key.name),
        keys.map(() => randomUUID()),
        keys.map(() => null),
        keys.map((key, i) => sealing.seal(key, texts[i] as string)),
      ],
    );
  }
  await client.end();
}

const nameOf = (i: number) => `n${(i * 7919) % 20_011}`;

describe('a selection of few of very many objects', () => {
  let server: TestPostgres;
  let storage: PostgresStorage;
  let memory: CachedStorage;
  let writer: PostgresStorage;
  let client: pg.Client;
  let statements: Record<string, number> = {};
  let onSearch = () => {};
  before(async () => {
    server = await startTestPostgres();
    const databaseUrl = await server.createTestDatabase();
    await fill(databaseUrl);
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const query = (name: string) => {
      statements[name] = (statements[name] ?? 0) + 1;
      if (name === 'find-blocks') onSearch();
    };
    storage = await createPostgresStorage({ databaseUrl, sealing, observer: { ...silentObserver, query } });
    writer = await createPostgresStorage({ databaseUrl, sealing });
    memory = new CachedStorage(writer, patient);
  });
  after(async () => {
    await client.end();
    await memory.stop();
    await Promise.all([storage.stop(), writer.stop()]);
    await server.stop();
  });

  const write = async (random: Random): Promise<void> => {
    const i = random.below(21_000);
    const key: StorageKey = { resource, namespace: 'abé'.charAt(i % 3), name: nameOf(i) };
    if ((await writer.get(key)) === undefined) await writer.create(key, randomUUID(), textOf(random, i));
    else if (random.chance(0.2)) await remove(writer, key);
    else await put(writer, key, textOf(random, i));
  };
  /** All pages of a list. */
  const walk = async (query: ListQuery) => {
    const found: string[] = [];
    let { at, after: last } = query;
    for (;;) {
      const page = await storage.list({ ...query, at, after: last });
      at = page.resourceVersion;
      for (const { key, uid, resourceVersion, json } of page.items) {
        found.push(`${key.namespace}/${key.name} ${uid} ${resourceVersion} ${json}`);
      }
      last = page.items.at(-1)?.key ?? last;
      if (!page.more || query.limit === undefined) return { found, at };
    }
  };
  const remembered = async (query: ListQuery) => {
    const { items, resourceVersion: at } = await memory.list(query);
    const found = items.map((o) => `${o.key.namespace}/${o.key.name} ${o.uid} ${o.resourceVersion} ${o.json}`);
    return { found, at };
  };

  it('is what memory selects, at any version, in pages or not, while objects change', async () => {
    for (const seed of testSeeds('finder')) {
      const random = new Random(seed);
      // From here on, the cached keys include earlier versions too.
      const { at: start } = await remembered({ resource, select: select('group=none') });
      const versions = [start];
      for (let round = 0; round < 20; round++) {
        for (let i = random.below(8); i > 0; i--) await write(random);
        const chosen = random.pick(selections);
        const at = random.chance(0.4) ? random.pick(versions) : undefined;
        const query: ListQuery = {
          resource,
          select: chosen,
          at,
          namespace: random.chance(0.2) ? 'b' : undefined,
          after: random.chance(0.2) ? { namespace: 'b', name: 'n4' } : undefined,
        };
        const label = `seed ${seed}, round ${round}: ${JSON.stringify([chosen, `${at}`, query.namespace, query.after])}`;
        // The version of a list may also be one at which nothing was written.
        const all = await walk(query);
        assert.deepEqual(all.found, (await remembered({ ...query, at: all.at })).found, label);
        const paged = await walk({ ...query, limit: 10 + random.below(60) });
        assert.deepEqual(paged.found, all.found, `${label}, in pages`);
        versions.push(all.at);
      }
    }
    assert.ok((statements['find-blocks'] ?? 0) > 10, JSON.stringify(statements));
    assert.ok((statements['objects-at'] ?? 0) > 100, JSON.stringify(statements));
  });

  it('reads the table once, whoever asks how often', async () => {
    const query = { resource, select: select('group=g11') };
    statements = {};
    await Promise.all(Array.from({ length: 10 }, () => storage.list(query)));
    const { 'find-blocks': blocks = 0, 'find-page': pages = 0 } = statements;
    assert.ok(blocks > 1 && blocks < 80, `${blocks} parts of the table`);
    // Each list reads the first objects in order, to estimate how many are selected.
    assert.ok(pages <= 30, `${pages} pages`);
    statements = {};
    // The version jumps, as when the log gets a new partition.
    await client.query(`select setval('plinth.resource_version', last_value + 200000) from plinth.resource_version`);
    await put(writer, { resource, namespace: 'a', name: nameOf(0) }, textOf(new Random(1), 0));
    assert.deepEqual((await walk({ ...query, limit: 20 })).found, (await remembered(query)).found);
    const scans = ['find-blocks', 'find-page', 'list-page'].filter((name) => statements[name] !== undefined);
    assert.deepEqual(scans, []);
  });

  it('has what is changed and removed during the search as it was at the version of the list', async () => {
    await remembered({ resource, select: select('group=none') });
    for (const group of [21, 22, 23]) {
      const query = { resource, select: select(`group=g${group}`) };
      const { items } = await memory.list(query);
      statements = {};
      const began = new Promise<void>((resolve) => {
        onSearch = resolve;
      });
      const walking = walk(query);
      await began;
      await Promise.all(
        items.map(({ key }) =>
          key.name.endsWith('1') ? remove(writer, key) : put(writer, key, '{"v":1,"labels":{}}'),
        ),
      );
      const { found, at } = await walking;
      // The first `find-blocks` call reads no block yet.
      assert.ok((statements['find-blocks'] ?? 0) > 1, JSON.stringify(statements));
      const then = await remembered({ ...query, at });
      assert.equal(then.found.length, items.length, 'the list is from before');
      assert.deepEqual(found, then.found, `group ${group}`);
    }
  });

  it('is complete when objects move meanwhile, and ends with the log', async () => {
    const query = { resource, select: select('group=g12') };
    const expected = await remembered(query);
    const walking = walk(query);
    await client.query('vacuum full plinth.objects');
    assert.deepEqual((await walking).found, expected.found);
    await client.query(`update plinth.retention set compact_revision = ${expected.at} + 1`);
    await assert.rejects(walk({ ...query, at: expected.at }), { code: 'Expired' });
    await put(writer, { resource, namespace: 'a', name: nameOf(0) }, textOf(new Random(2), 0));
    assert.deepEqual((await walk(query)).found, (await remembered(query)).found);
  });

  it('goes on by key when the database refuses or interrupts a search', async () => {
    const query = { resource, select: select('group=g13') };
    const expected = await remembered(query);
    await client.query('alter function plinth.find_blocks rename to find_blocks_elsewhere');
    try {
      statements = {};
      assert.deepEqual((await walk(query)).found, expected.found);
      assert.ok(statements['find-blocks'] !== undefined, 'a search was tried');
      statements = {};
      assert.deepEqual((await walk(query)).found, expected.found);
      assert.ok((statements['find-blocks'] ?? 0) <= 1, 'it is not tried again and again');
    } finally {
      await client.query('alter function plinth.find_blocks_elsewhere rename to find_blocks');
    }
  });

  it('searches again when very much was changed', async () => {
    const query = { resource, select: select('special=many') };
    const key = { resource, namespace: 'a', name: nameOf(0) };
    await put(writer, key, '{"v":1,"labels":{"special":"many"}}');
    assert.equal((await walk(query)).found.length, 1);
    const { at } = await walk(query);
    for (const batch of [1, 2]) {
      await client.query(
        `select w.version from (
          select array_agg(1::smallint) as ops, array_agg(resource) as resources, array_agg(namespace) as namespaces,
            array_agg(name) as names, array_agg(uid) as uids, array_agg(resource_version) as versions,
            array_agg('{"v":1,"labels":{"app":"fill"},"filling":{"special":"many"}}'::text) as texts
          from plinth.objects where resource = $1) o
        cross join lateral plinth.write_batch(
          null, $2, ops, null, resources, namespaces, names, uids, versions, texts, null, null, null, true) w`,
        [resource, batch],
      );
    }
    await put(writer, key, '{"v":1,"labels":{"special":"many"}}');
    const changed = await client.query(
      `select from plinth.changed_keys($1, '', '', U&'\\+10FFFF', '', $2, true, '{', $3, null)`,
      [resource, `${at}`, ['"special":"many"']],
    );
    assert.equal(changed.rowCount, 20_002, 'the bounds, and more keys than are of use');
    assert.deepEqual((await walk(query)).found, (await remembered(query)).found);
  });

  it('looks at large texts in parts', async () => {
    await client.query(`
      insert into plinth.objects (resource, namespace, name, uid, resource_version, data)
      select 'large', '', 'n' || i, 'u', 1, ('{"filling":"' || repeat('y', 50000) || '","labels":{"app":"x"}}')::json
      from generate_series(1, 6000) i`);
    const { rows } = await client.query<{ blocks: number }>(
      `select (pg_relation_size('plinth.objects') / 8192)::integer as blocks`,
    );
    const { blocks = 0 } = rows[0] ?? {};
    const names = new Set<string>();
    let parts = 0;
    for (let next = 0; next < blocks; parts++) {
      const found = await client.query<{ blocks: string | null; name: string | null }>(
        `select blocks, name from plinth.find_blocks('large', '', '', U&'\\+10FFFF', '', $1, $2, '{', $3, null)`,
        [next, blocks - next, ['"app":"x"']],
      );
      const end = Number(found.rows.at(-1)?.blocks);
      assert.ok(end > next && end <= blocks, `from ${next} to ${end}`);
      next = end;
      for (const { name } of found.rows) if (name !== null) names.add(name);
    }
    assert.equal(names.size, 6_000);
    // No machine reads all 300 MB in the time of one part.
    assert.ok(parts > 2, `${parts} parts`);
  });
});
