import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readScrape, sumOf } from '../support/scrape.js';
import { customDefinition, define, definitionsPath, objectsPath, undefine } from './support/custom-definitions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;

before(async () => {
  cluster = await sharedCluster('loops');
});

after(() => cluster.stop());

describe('rules of a schema', () => {
  const counters = customDefinition({ plural: 'counters', kind: 'Counter', scope: 'Cluster' }, [
    {
      name: 'v1',
      schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: { n: { type: 'integer', maximum: 100 }, name: { type: 'string', maxLength: 5 } },
            'x-kubernetes-validations': [
              {
                rule: '!has(self.n) || self.n % 2 == 0',
                messageExpression: "'odd: ' + string(self.n)",
                fieldPath: '.n',
              },
              { rule: '!has(oldSelf.n) || self.n >= oldSelf.n', message: 'must not shrink' },
            ],
          },
        },
      },
    },
  ]);
  const clients = () => cluster.servers.map(({ client }) => client);
  const counter = (name: string, spec: object) => ({
    apiVersion: 'test.example/v1',
    kind: 'Counter',
    metadata: { name },
    spec,
  });
  const causes = (body: { details: { causes: { field: string; message: string }[] } }) =>
    body.details.causes.map(({ field, message }) => `${field}: ${message}`);

  before(() => define(counters, clients()));
  after(() => undefine(counters, clients()));

  it('refuse new objects, changes and applies that break them, in every process', async () => {
    const { first, second } = cluster;
    const path = objectsPath(counters);
    for (const { client } of [first, second]) {
      const odd = await client.post(path, counter('a', { n: 3 }));
      assert.equal(odd.status, 422, odd.text);
      assert.deepEqual(causes(odd.body), ['spec.n: Invalid value: odd: 3']);
    }
    assert.equal((await first.client.post(path, counter('a', { n: 4 }))).status, 201);
    const shrunk = await second.client.patch(`${path}/a`, 'merge', { spec: { n: 2 } });
    assert.equal(shrunk.status, 422, shrunk.text);
    assert.match(shrunk.body.message, /must not shrink/);
    const applied = await second.client.send('PATCH', `${path}/a?fieldManager=x&force=true`, {
      body: counter('a', { n: 7 }),
      contentType: 'application/apply-patch+yaml',
    });
    assert.equal(applied.status, 422, applied.text);
    const nothing = await first.client.send('PATCH', `${path}/a?fieldManager=x&force=true`, {
      body: counter('a', { n: 4, name: null }),
      contentType: 'application/apply-patch+yaml',
    });
    assert.equal(nothing.status, 422, nothing.text);
    const nullFault = 'spec.name: Invalid value: "null": spec.name in body must be of type string: "null"';
    assert.equal(causes(nothing.body)[0], nullFault);
    assert.equal((await second.client.patch(`${path}/a`, 'merge', { spec: { n: 6 } })).status, 200);
  });

  it('are not checked where the schema is broken already', async () => {
    const long = await cluster.first.client.post(objectsPath(counters), counter('b', { n: 3, name: 'too long' }));
    assert.deepEqual([long.status, causes(long.body).length], [422, 2], long.text);
    assert.match(long.body.message, /some validation rules were not checked because the object was invalid/);
    const high = await cluster.first.client.post(objectsPath(counters), counter('b', { n: 101 }));
    assert.deepEqual([high.status, causes(high.body).length], [422, 2], high.text);
  });
});

it('warns of rules that an update leaves broken', async () => {
  const { client } = cluster.first;
  const versionOf = (rules: readonly object[]) => {
    const spec = { type: 'object', properties: { n: { type: 'integer' } }, 'x-kubernetes-validations': rules };
    return { name: 'v1', schema: { type: 'object', properties: { spec } } };
  };
  const named = { plural: 'gauges', kind: 'Gauge' };
  const gauges = customDefinition(named, [versionOf([])]);
  await define(gauges, [client]);
  const path = objectsPath(gauges);
  const gauge = { apiVersion: 'test.example/v1', kind: 'Gauge', spec: { n: 9 } };
  const made = await client.post(path, { ...gauge, metadata: { name: 'a' } });
  assert.equal(made.status, 201, made.text);
  const { spec } = customDefinition(named, [versionOf([{ rule: 'self.n < 5', message: 'too much' }])]);
  await client.patch(`${definitionsPath}/${gauges.metadata.name}`, 'merge', { spec });
  await eventually(
    async () => (await client.post(`${path}?dryRun=All`, { ...gauge, metadata: { name: 'b' } })).status === 422,
    'the new rule',
  );
  const labelled = await client.patch(`${path}/a`, 'merge', { metadata: { labels: { x: 'y' } } });
  assert.equal(labelled.status, 200, labelled.text);
  assert.equal(labelled.headers.warning, '299 - "spec: Invalid value: too much"');
  const refused = await client.patch(`${path}/a`, 'merge', { spec: { n: 8 } });
  assert.deepEqual([refused.status, refused.headers.warning], [422, undefined]);
  await undefine(gauges, [client]);
});

it('shows the time of rules, the state of its cache and lists of watches in metrics', async () => {
  const { client } = cluster.second;
  const scrape = async () => readScrape((await client.get('/metrics')).text);
  const rule = { rule: 'self.size < 10' };
  const spec = { type: 'object', properties: { size: { type: 'integer' } }, 'x-kubernetes-validations': [rule] };
  const dials = customDefinition({ plural: 'dials', kind: 'Dial' }, [
    { name: 'v1', schema: { type: 'object', properties: { spec } } },
  ]);
  await define(dials, [client]);
  const path = objectsPath(dials);
  const made = await client.post(path, {
    apiVersion: `${dials.spec.group}/v1`,
    kind: 'Dial',
    metadata: { name: 'a' },
    spec: { size: 1 },
  });
  assert.equal(made.status, 201, made.text);
  const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const watch = await client.watch(`${path}?${query}`);
  const [first, end] = await watch.take(2);
  assert.deepEqual([first?.type, first?.object.metadata?.name, end?.type], ['ADDED', 'a', 'BOOKMARK']);
  watch.close();
  const labels = { group: dials.spec.group, resource: 'dials' };
  const series = await eventually(async () => {
    const found = await scrape();
    const shown = sumOf(found, 'apiserver_watch_cache_resource_version', labels);
    return shown >= Number(made.body.metadata.resourceVersion) && found;
  }, 'the position of the cache');
  assert.ok(sumOf(series, 'apiserver_cel_compilation_duration_seconds_count') > 0);
  assert.ok(sumOf(series, 'apiserver_cel_evaluation_duration_seconds_count') > 0);
  const fills = 'apiserver_watch_cache_initialization';
  for (const name of [
    `${fills}s_total`,
    `${fills}_duration_seconds_count`,
    'apiserver_watch_list_duration_seconds_count',
  ])
    assert.ok(sumOf(series, name, labels) > 0, name);
  const changed = await client.patch(`${path}/a`, 'merge', { spec: { size: 2 } });
  assert.equal(changed.status, 200, changed.text);
  for (const name of ['apiserver_storage_events_received_total', 'apiserver_watch_cache_events_received_total'])
    await eventually(async () => sumOf(await scrape(), name, labels) > 0, name);
  await undefine(
    dials,
    cluster.servers.map((server) => server.client),
  );
});
