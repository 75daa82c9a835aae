import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fixedAccess } from '../../../base/outgoing/api-access.js';
import { RecordingServer } from '../../console/testing/recording-server.js';
import type { NotTaken } from '../format/lines.js';
import { ClusterClient } from './cluster-client.js';
import { dump } from './dump.js';
import { servedKinds } from './kinds.js';

const signal = new AbortController().signal;
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=250';
const maps = '/api/v1/configmaps';
const atVersion = `${maps}?limit=500&resourceVersion=5&resourceVersionMatch=Exact`;
const words = { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['list', 'create'] };
const item = { metadata: { name: 'a', namespace: 'shop' } };

describe('a cluster that answers anything', () => {
  let server: RecordingServer;
  let client: ClusterClient;
  const answer = (path: string, body: unknown, status = 200) =>
    server.answers.set(path, (response: ServerResponse) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  const list = (path: string, token: unknown, items: readonly unknown[] = [item]) =>
    answer(path, { metadata: { resourceVersion: '5', continue: token }, items });
  const dumped = async () => {
    const objects: string[] = [];
    const notTaken = await dump({
      client,
      selection: { namespaces: [], include: [], exclude: [] },
      sink: {
        begin: async () => {},
        kind: async () => {},
        object: async (object) => void objects.push(String(object)),
      },
      signal,
      warn: () => {},
    });
    return { objects, notTaken };
  };

  before(async () => {
    server = await RecordingServer.start();
    client = new ClusterClient(fixedAccess(server.url, { ca: server.authority.cert } as never), async () => {});
  });
  after(() => {
    client.close();
    server.stop();
  });
  beforeEach(() => {
    server.answers.clear();
    answer('/version', { gitVersion: 'v1.2.3' });
    answer('/api', { versions: ['v1'] });
    answer('/apis', { groups: [] });
    answer('/api/v1', { resources: [words] });
    list(`${maps}?limit=1`, '');
    list(atVersion, '');
  });

  const nothings: readonly unknown[] = [null, 1, 'text', [], {}, [null], [1], [[]], [{}], { a: null }];

  it('is dumped as far as it makes sense', async () => {
    assert.deepEqual((await dumped()).objects, [
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}',
    ]);
    for (const nothing of nothings) {
      answer('/version', { gitVersion: nothing });
      answer('/apis', { groups: nothing });
      answer('/api/v1', {
        resources: [words, nothing, { ...words, name: nothing }, { name: 'x', kind: 'X', verbs: nothing }],
      });
      assert.equal((await dumped()).objects.length, 1, JSON.stringify(nothing));
      const settled = { name: 'apiextensions.k8s.io', versions: [{ version: 'v1' }] };
      answer('/apis', { groups: [settled, { name: nothing, versions: nothing, preferredVersion: nothing }] });
      list(definitions, '', [{ metadata: nothing, spec: nothing }, { spec: { names: nothing, versions: nothing } }]);
      assert.equal((await dumped()).objects.length, 1, JSON.stringify(nothing));
    }
  });

  it('is told to have nothing where it has no kinds', async () => {
    for (const nothing of nothings) {
      for (const path of ['/api', '/apis', '/api/v1']) {
        server.answers.clear();
        answer('/version', nothing);
        for (const one of ['/api', '/apis', '/api/v1']) answer(one, one === path ? nothing : { versions: nothing });
        await assert.rejects(dumped(), {
          message: /has no kinds|no object of the API/,
        });
      }
    }
  });

  it('is asked for no paths but those of its API', async () => {
    const names = ['../../version', 'x/../..', 'configmaps?a=b#', '', ' ', 'a b', '%2e%2e', '..'];
    answer('/apis', { groups: names.map((name) => ({ name, versions: [{ version: name }] })) });
    answer('/api', { versions: ['v1', ...names] });
    answer('/api/v1', { resources: [words, ...names.map((name) => ({ ...words, name }))] });
    server.forget();
    const { kinds } = await servedKinds(client, signal);
    assert.deepEqual(
      kinds.map(({ resource }) => resource),
      ['configmaps'],
    );
    assert.deepEqual(new Set(server.arrived.map(({ url }) => url)), new Set(['/api', '/apis', '/api/v1']));
  });

  it('can not keep anybody reading the same part of a list', async () => {
    const endless = { message: /does not end/ };
    for (const token of ['again', { a: 1 }, 7, ['x']]) {
      list(atVersion, token);
      list(`${maps}?limit=500&continue=again`, token);
      await assert.rejects(dumped(), endless, JSON.stringify(token));
    }
    list(atVersion, '');
    answer('/apis', { groups: [{ name: 'apiextensions.k8s.io', versions: [{ version: 'v1' }] }] });
    list(definitions, 'again');
    list(`${definitions}&continue=again`, 'again');
    await assert.rejects(dumped(), endless);
  });

  it('is not asked for more groups than any cluster has', async () => {
    answer('/apis', {
      groups: Array.from({ length: 6000 }, (_, i) => ({ name: `g${i}`, versions: [{ version: 'v1' }] })),
    });
    server.forget();
    await assert.rejects(dumped(), { message: /more groups/ });
    assert.ok(server.arrived.length < 10);
  });

  it('has what is missing named within bounds', async () => {
    const names = ['apiregistration.k8s.io', 'refused', ...Array.from({ length: 1200 }, (_, i) => `g${i}`)];
    answer('/apis', { groups: names.map((name) => ({ name, versions: [{ version: 'v1' }] })) });
    answer('/apis/refused/v1', { message: 'x'.repeat(100_000) }, 403);
    list(
      '/apis/apiregistration.k8s.io/v1/apiservices?limit=250',
      '',
      names.slice(2).map((name) => ({ metadata: { name: `v1.${name}` }, spec: { service: {} } })),
    );
    const { notTaken } = await dumped();
    assert.ok(JSON.stringify(notTaken).length < 500_000);
    assert.deepEqual(notTaken.at(-1), { what: '201 more', why: 'not named', asked: false } satisfies NotTaken);
  });
});
