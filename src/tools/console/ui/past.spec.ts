import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Api } from './api.js';
import { comparedKinds, compareMoments } from './compare-moments.js';
import { fieldChanges } from './field-changes.js';
import type { Kind } from './kinds.js';
import { timeIn, withTime } from './moment.js';
import { namespaceOfRoute } from './namespace-of-route.js';
import { objectChanges, shownChanges } from './object-changes.js';
import { pastRequest } from './past-request.js';
import { formatRoute, parseRoute } from './routes.js';
import { timeBefore } from './time-before.js';
import { TimedApi } from './timed-api.js';
import { writesIn } from './writes-in.js';
import type { ApiObject } from './yaml-text.js';

const kind = (resource: string, more: Partial<Kind> = {}): Kind => ({
  group: '',
  version: 'v1',
  resource,
  kind: 'Any',
  namespaced: true,
  verbs: ['list'],
  shortNames: [],
  ...more,
});

describe('requests about the past', () => {
  const exact = 'resourceVersion=7&resourceVersionMatch=Exact';

  it('read lists and objects at the version, and send nothing that changes anything', () => {
    for (const [method, path, expected] of [
      ['GET', '/api/v1/pods', { kind: 'list', path: `/api/v1/pods?${exact}` }],
      ['GET', '/apis/apps/v1/namespaces/a/deployments?limit=5&resourceVersion=0', 'limit=5&resourceVersion=7'],
      ['GET', '/api/v1/pods?continue=abc&limit=5', { kind: 'list', path: '/api/v1/pods?continue=abc&limit=5' }],
      ['GET', '/api/v1/pods?watch=true&resourceVersion=9', { kind: 'watch' }],
      [
        'GET',
        '/api/v1/namespaces/shop',
        '/api/v1/namespaces?resourceVersion=7&resourceVersionMatch=Exact&fieldSelector=',
      ],
      ['GET', '/api/v1/namespaces/shop/pods/web-0', '/api/v1/namespaces/shop/pods?'],
      ['GET', '/api/v1/namespaces/shop/pods/a%2Cb%3Dc', 'fieldSelector=metadata.name%3Da%5C%2Cb%5C%3Dc'],
      ['GET', '/api/v1/namespaces/shop/pods/web-0/log?follow=true', { kind: 'refused' }],
      ['GET', '/apis/metrics.k8s.io/v1beta1/nodes', { kind: 'refused' }],
      ['GET', '/apis', { kind: 'pass' }],
      ['GET', '/apis/apps/v1', { kind: 'pass' }],
      ['GET', '/metrics', { kind: 'pass' }],
      ['POST', '/console/sql', { kind: 'pass' }],
      ['POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { kind: 'pass' }],
      ['POST', '/api/v1/namespaces/shop/configmaps', { kind: 'refused' }],
      ['PATCH', '/apis/apps/v1/namespaces/shop/deployments/web', { kind: 'refused' }],
      ['POST', '/api/v1/namespaces/shop/pods/selfsubjectaccessreviews/eviction', { kind: 'refused' }],
      ['DELETE', '/api/v1/namespaces/shop', { kind: 'refused' }],
    ] as const) {
      const found = pastRequest(method, path, '7');
      if (typeof expected === 'string') assert.match('path' in found ? found.path : '', new RegExp(escaped(expected)));
      else assert.partialDeepStrictEqual(found, expected);
    }
  });

  it('show an object with the kind that its list lacks, and large numbers with their digits', async () => {
    const asked: string[] = [];
    const list = (items: string) => `{"apiVersion":"v1","kind":"ConfigMapList","metadata":{},"items":[${items}]}`;
    let answer = list('{"metadata":{"name":"a"},"big":12345678901234567890}');
    const api = new TimedApi(
      () => '7',
      () => undefined,
      () => {},
      async (path) => {
        asked.push(path);
        return new Response(answer);
      },
    );
    const text = await api.text('/api/v1/namespaces/x/configmaps/a');
    assert.match(text, /"kind":"ConfigMap"/);
    assert.match(text, /"big":12345678901234567890/);
    answer = list('');
    await assert.rejects(api.text('/api/v1/namespaces/x/configmaps/a'), { code: 404 });
    await assert.rejects(api.text('/api/v1/namespaces/x/configmaps/a', { method: 'DELETE' }), /the past/);
    assert.equal(asked.length, 2, 'the delete was not sent');
    const stop = new AbortController();
    const watched = api.lines('/api/v1/pods?watch=true', { signal: stop.signal }).next();
    stop.abort(new Error('left'));
    await assert.rejects(watched, /left/);
  });
});

describe('addresses of moments', () => {
  it('keep their time, and refuse what is none', () => {
    const time = Date.parse('2026-02-03T14:30:00Z');
    assert.equal(withTime('#/map?ns=a', time), '#/map?ns=a&at=2026-02-03T14%3A30%3A00Z');
    assert.equal(timeIn(withTime('#/', time)), time);
    assert.equal(withTime(withTime('#/map?ns=a', time), undefined), '#/map?ns=a');
    for (const at of ["1'; drop table x; --", '<img src=x>', '', 'yesterday']) {
      assert.equal(timeIn(`#/?at=${encodeURIComponent(at)}`), undefined, at);
    }
    for (const route of [
      { page: 'changes', namespace: 'a', to: '2026-02-03T14:30:00Z' },
      { page: 'restore', namespace: 'a', of: 'deployments.apps/web' },
    ] as const) {
      assert.deepEqual(parseRoute(withTime(formatRoute(route), time)), route);
    }
  });
});

describe('the moment before an object was deleted', () => {
  /** A server whose version 10 was the newest from second 100 on, and 20 from second 110 on; nothing is kept before. */
  const api = {
    json: async <T>(path: string): Promise<T> => {
      const at = Date.parse(decodeURIComponent(path.split('at=')[1] ?? '')) / 1000;
      if (at < 100) throw new Error('too old');
      return { resourceVersion: at < 110 ? '10' : '20' } as T;
    },
  };
  const before = (metadata: Partial<ApiObject['metadata']>, seen: number) =>
    timeBefore(api, { name: 'a', ...metadata }, '20', seen * 1000).then((time) => time / 1000);
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

  it('is that before its deletion was asked for', async () => {
    assert.equal(await before({ deletionTimestamp: iso(109) }, 500), 108.999);
    const grace = { deletionTimestamp: iso(139), deletionGracePeriodSeconds: 30 };
    assert.equal(await before(grace, 500), 108.999);
  });

  it('is looked for before the browser saw it, whose clock may be wrong', async () => {
    assert.equal(await before({}, 110), 109);
    assert.equal(await before({}, 114), 106);
    assert.equal(await before({}, 105), 105);
    await assert.rejects(before({}, 90), /too old/);
  });
});

describe('the namespace of a page', () => {
  it('is that of the object which it shows, or the chosen one', () => {
    for (const [fragment, namespace] of [
      ['#/list/core/v1/namespaces?open=%2Fshop', 'shop'],
      ['#/object/core/v1/namespaces/-/shop', 'shop'],
      ['#/list/apps/v1/deployments?open=shop%2Fweb', 'shop'],
      ['#/object/apps/v1/deployments/shop/web', 'shop'],
      ['#/object/core/v1/nodes/-/a', 'chosen'],
      ['#/list/core/v1/namespaces', 'chosen'],
      ['#/sql', 'chosen'],
    ] as const) {
      assert.equal(namespaceOfRoute(parseRoute(fragment), 'chosen'), namespace, fragment);
    }
  });
});

describe('the bars behind the slider', () => {
  it('count writes between versions whose times are known', () => {
    const times = [
      { time: 0, version: 10 },
      { time: 100, version: 20 },
      { time: 200, version: 20 },
      { time: 300, version: 60 },
    ];
    assert.deepEqual(writesIn(times, 0, 300, 3), [10, 0, 40]);
    assert.deepEqual(writesIn(times, 0, 100, 2), [5, 5]);
    assert.deepEqual(writesIn(times, 250, 350, 2), [20, 0]);
    assert.deepEqual(writesIn([], 0, 100, 2), [0, 0]);
  });
});

describe('what changed between two moments', () => {
  it('names fields as the timeline does', () => {
    for (const [before, after, paths] of [
      [{ a: 1 }, { a: 1 }, []],
      [{ a: 1 }, { a: 2, b: 1 }, ['replace a', 'add b']],
      [{ a: { 'x.y/z': 1 } }, { a: {} }, ['remove a[x.y/z]']],
      [
        { containers: [{ name: 'a', image: '1' }, { name: 'b' }] },
        { containers: [{ name: 'b' }, { name: 'a', image: '2' }] },
        ['replace containers[name=a].image'],
      ],
      [{ args: ['a', 'b'] }, { args: ['a'] }, ['remove args[1]']],
      [
        { metadata: { managedFields: [1], resourceVersion: '1' } },
        { metadata: { managedFields: [], resourceVersion: '2' } },
        [],
      ],
      [{ a: 1n }, { a: 1n }, []],
      [{}, JSON.parse('{"__proto__":{"x":1}}'), ['add __proto__']],
    ] as const) {
      assert.deepEqual(
        fieldChanges(before, after).map(({ op, path }) => `${op} ${path}`),
        paths,
      );
    }
    const many = Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`k${index}`, index]));
    assert.equal(fieldChanges({}, many).length, 1, 'one change where there are too many');
  });

  it('says who wrote what, and hides values of Secrets and writes of the status alone', () => {
    const from = Date.parse('2026-01-01T10:00:00.500Z');
    const object = (name: string, version: string, more: object = {}, managers: readonly object[] = []): ApiObject => ({
      metadata: {
        name,
        namespace: 'a',
        uid: name,
        resourceVersion: version,
        managedFields: managers,
      } as ApiObject['metadata'],
      ...more,
    });
    const later = { manager: 'kubectl-edit', time: '2026-01-01T10:00:07Z' };
    const loop = { manager: 'loop', subresource: 'status', time: '2026-01-01T10:00:09Z' };
    const earlier = { manager: 'installer', time: '2026-01-01T09:00:00Z' };
    const replicas = { 'f:spec': { 'f:replicas': {} } };
    const scaler = { manager: 'kubectl', subresource: 'scale', fieldsV1: replicas };
    const onceScaled = { manager: 'once', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:paused': {} } } };
    const changes = objectChanges(
      kind('pods'),
      [
        object('same', '1'),
        object('gone', '2'),
        object('edited', '3', { spec: 1 }),
        object('scaled', '3', { spec: 1 }, [earlier, { manager: 'scaled-before', subresource: 'scale' }]),
        object('scaled-again', '3', { spec: { replicas: 1 } }, [scaler, onceScaled]),
        object('quiet', '4', { status: 1 }),
      ],
      [
        object('same', '1'),
        object('edited', '5', { spec: 2 }, [earlier, loop, later]),
        object('scaled', '6', { spec: 2 }, [
          { manager: 'scaled-before', subresource: 'scale' },
          { manager: 'kubectl', subresource: 'scale' },
          earlier,
        ]),
        object('scaled-again', '6', { spec: { replicas: 2 } }, [scaler, onceScaled]),
        object('quiet', '6', { status: 2 }, [loop]),
        object('new', '7'),
      ],
      from,
    );
    assert.deepEqual(
      changes.map(({ name, verb, writers, isQuiet }) => [name, verb, writers, isQuiet]),
      [
        ['gone', 'deleted', [], false],
        ['edited', 'changed', ['kubectl-edit', 'loop'], false],
        ['scaled', 'changed', ['kubectl'], false],
        ['scaled-again', 'changed', ['kubectl'], false],
        ['quiet', 'changed', ['loop'], true],
        ['new', 'created', [], false],
      ],
    );
    const [secret] = objectChanges(
      kind('secrets'),
      [object('s', '1', { data: { password: 'b2xk' } })],
      [object('s', '2', { data: { password: 'bmV3' } })],
      from,
    );
    assert.ok(secret !== undefined);
    const shown = JSON.stringify(shownChanges(secret, true));
    assert.match(shown, /data\.password/);
    assert.doesNotMatch(shown, /b2xk|bmV3/);
  });

  it('reads whole objects only where something changed, and goes on where the user may not list', async () => {
    const asked: string[] = [];
    const api = new Api(
      () => undefined,
      () => {},
      async (path) => {
        asked.push(path);
        const isPast = path.includes('resourceVersion=7');
        if (path.includes('/secrets')) return new Response('{"message":"forbidden"}', { status: 403 });
        const version = path.includes('/pods') && !isPast ? '9' : '5';
        const item = { metadata: { name: 'a', namespace: 'x', uid: 'u', resourceVersion: version }, spec: version };
        return new Response(JSON.stringify({ metadata: {}, items: [item] }));
      },
    );
    const kinds = [
      kind('pods'),
      kind('services'),
      kind('secrets'),
      kind('events'),
      kind('nodes', { namespaced: false }),
    ];
    const compared = { namespace: 'x', from: { time: 0, version: '7' }, to: '', withBookkeeping: false };
    const { changes, problems } = await compareMoments(api, kinds, 'k8s.io', compared, new AbortController().signal);
    assert.deepEqual(
      changes.map(({ name, verb }) => [name, verb]),
      [['a', 'changed']],
    );
    assert.deepEqual(problems, ['secrets: forbidden']);
    assert.equal(asked.filter((path) => path.includes('/services')).length, 2);
    assert.equal(asked.filter((path) => path.includes('/pods')).length, 4);
    assert.deepEqual(
      comparedKinds(kinds, '', true).map(({ resource }) => resource),
      ['pods', 'services', 'secrets', 'events', 'nodes'],
    );
  });
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
