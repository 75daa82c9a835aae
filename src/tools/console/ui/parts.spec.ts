import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkPath } from './api.js';
import { kindOf, pathOf, searchKinds } from './kinds.js';
import { formatRoute, parseRoute, type Route } from './routes.js';
import { ageOf, shownRows, windowOf } from './rows.js';

const kind = (resource: string, kindName: string, group = '', shortNames: string[] = []) => ({
  group,
  version: 'v1',
  resource,
  kind: kindName,
  namespaced: true,
  verbs: ['list'],
  shortNames,
});
const row = (name: string, ...more: string[]) => ({
  key: `n/${name}`,
  namespace: 'n',
  name,
  created: `2026-01-0${name.length}T00:00:00Z`,
  isGoing: false,
  cells: [name, ...more],
  labels: {},
  uid: name,
  owner: '',
  owners: [],
});

describe('the parts of the page', () => {
  it('keep what is shown in the address', () => {
    const routes: Route[] = [
      { page: 'home' },
      { page: 'server' },
      { page: 'map', namespace: 'a' },
      {
        page: 'list',
        group: '',
        version: 'v1',
        resource: 'pods',
        namespace: 'a',
        labels: 'a in (b,c)',
        fields: '',
        text: 'x y',
      },
      {
        page: 'object',
        group: 'a.b',
        version: 'v1',
        resource: 'things',
        namespace: '',
        name: 'a/../%2e<"',
        tab: 'owners',
      },
    ];
    for (const route of routes) assert.deepEqual(parseRoute(formatRoute(route)), route);
    for (const text of [
      '',
      '#',
      '#/list',
      '#/object/core/v1/pods/a',
      '#/object/%zz/v1/pods/a/b',
      '#/javascript:alert(1)',
    ]) {
      assert.deepEqual(parseRoute(text), { page: 'home' }, text);
    }
  });

  it('ask about nothing else than what a name says', () => {
    for (const path of [
      '/api/v1/pods/..',
      '/api/v1/namespaces/../pods/x?limit=1',
      '/apis/%2e%2E/api/v1',
      '/api/v1/.',
    ]) {
      assert.throws(() => checkPath(path), /dots alone/, path);
    }
    for (const path of [
      '/api/v1/pods/...',
      '/api/v1/pods/a..b',
      '/api/v1/pods/x?fieldSelector=/../',
      '/api/v1/..pods',
    ]) {
      assert.doesNotThrow(() => checkPath(path), path);
    }
  });

  it('encode names in paths', () => {
    const things = { group: 'a.b', version: 'v1', resource: 'things' };
    assert.equal(pathOf(things, 'n', '../x?y#z'), '/apis/a.b/v1/namespaces/n/things/..%2Fx%3Fy%23z');
    assert.equal(pathOf({ group: '', version: 'v1', resource: 'nodes' }, ''), '/api/v1/nodes');
  });

  it('find kinds by name, short name and group', () => {
    const kinds = [
      kind('deployments', 'Deployment', 'apps', ['deploy']),
      kind('pods', 'Pod', '', ['po']),
      kind('podtemplates', 'PodTemplate'),
    ];
    assert.deepEqual(
      searchKinds(kinds, 'po').map(({ resource }) => resource),
      ['pods', 'podtemplates'],
    );
    assert.deepEqual(
      searchKinds(kinds, 'APPS').map(({ resource }) => resource),
      ['deployments'],
    );
    assert.equal(kindOf(kinds, 'apps/v1beta1', 'Deployment')?.resource, 'deployments');
  });

  it('filter and sort rows', () => {
    const columns = ['Name', 'Restarts', 'Age'].map((name) => ({ name, type: '', priority: 0 }));
    const rows = [row('a', '10', '1d'), row('bb', '9', '5m'), row('ccc', '<none>', '3h')];
    const names = (text: string, column?: number, isDown = false) =>
      shownRows(rows, columns, text, column === undefined ? undefined : { column, isDown }).map(({ name }) => name);
    assert.deepEqual(names('B'), ['bb']);
    assert.deepEqual(names('n/ 10'), ['a']);
    assert.deepEqual(names('', 1), ['bb', 'a', 'ccc']);
    assert.deepEqual(names('', 2), ['ccc', 'bb', 'a'], 'the youngest first');
    assert.deepEqual(names('', 2, true), ['a', 'bb', 'ccc']);
  });

  it('draw the rows in sight only', () => {
    assert.deepEqual(windowOf(10_000, 28, 0, 600), { first: 0, end: 30 });
    assert.deepEqual(windowOf(10_000, 28, 28_000, 560), { first: 992, end: 1028 });
    assert.deepEqual(windowOf(3, 28, 28_000, 560), { first: 0, end: 3 });
    assert.deepEqual(windowOf(0, 28, 0, 0), { first: 0, end: 0 });
  });

  it('show ages as command-line clients do', () => {
    const at = (seconds: number) => ageOf('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:00:00Z') + seconds * 1000);
    assert.deepEqual(
      [0, 119, 120, 150, 3600, 4 * 3600 + 60, 47 * 3600, 3 * 86_400 + 7200, 400 * 86_400, 800 * 86_400].map(at),
      ['0s', '119s', '2m', '2m30s', '60m', '4h1m', '47h', '3d2h', '400d', '2y'],
    );
    assert.equal(ageOf('', 0), '');
  });
});
