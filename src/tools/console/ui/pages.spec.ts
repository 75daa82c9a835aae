import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Sample, Span } from '../../../base/observability/scrape/sample.js';
import { readScrape } from '../../../base/observability/scrape/scrape.js';
import { namespaceMap, type Selecting, selects } from './map-graph.js';
import { bytesText, rateText, serverNumbers, timeText } from './server-numbers.js';

function object(
  resource: string,
  name: string,
  more: { owner?: string; labels?: Record<string, string>; spec?: object } = {},
): Selecting {
  const kind = { group: '', version: 'v1', resource, kind: resource, namespaced: true, verbs: [], shortNames: [] };
  const ownerReferences =
    more.owner === undefined ? [] : [{ apiVersion: 'v1', kind: 'X', name: more.owner, uid: more.owner }];
  return {
    kind,
    metadata: { name, uid: name, labels: more.labels ?? {}, ownerReferences },
    spec: (more.spec ?? {}) as Record<string, unknown>,
  };
}

describe('the map of a namespace', () => {
  const labels = { app: 'web' };
  const objects = [
    object('ingresses', 'ing', { spec: { rules: [{ http: { paths: [{ backend: { service: { name: 'svc' } } }] } }] } }),
    object('services', 'svc', { spec: { selector: labels } }),
    object('services', 'none'),
    object('deployments', 'web'),
    object('replicasets', 'rs', { owner: 'web' }),
    ...Array.from({ length: 8 }, (_, index) => object('pods', `p${index}`, { owner: 'rs', labels })),
    object('configmaps', 'alone'),
  ];

  it('shows owners, selectors and routes, and many siblings as one', () => {
    const { nodes, edges } = namespaceMap(objects);
    assert.deepEqual(edges.map(({ from, to, how }) => `${from} ${how} ${to}`).sort(), [
      'ing routes svc',
      'rs owns p0',
      'svc selects p0',
      'web owns rs',
    ]);
    assert.deepEqual(nodes.map(({ id, more }) => [id, more]).sort(), [
      ['ing', 0],
      ['p0', 7],
      ['rs', 0],
      ['svc', 0],
      ['web', 0],
    ]);
  });

  it('places each where no other is, owners before what they own', () => {
    const { nodes, edges, columns, rows } = namespaceMap(objects);
    const places = new Map(nodes.map(({ id, column, row }) => [id, { column, row }]));
    assert.equal(new Set([...places.values()].map(({ column, row }) => `${column}/${row}`)).size, nodes.length);
    for (const { from, to } of edges) assert.ok((places.get(from)?.column ?? 0) < (places.get(to)?.column ?? 0));
    for (const { column, row } of places.values()) assert.ok(column < columns && row < rows);
  });

  it('ends with circles and without objects', () => {
    const circle = [object('a', 'x', { owner: 'y' }), object('b', 'y', { owner: 'x' })];
    assert.equal(namespaceMap(circle).nodes.length, 2);
    assert.deepEqual(namespaceMap([]).nodes, []);
  });

  it('knows the operators of selectors', () => {
    const one = (operator: string, values?: string[]) => ({
      matchExpressions: [{ key: 'app', operator, ...(values === undefined ? {} : { values }) }],
    });
    assert.ok(selects({}, {}));
    assert.ok(
      selects(one('In', ['web']), labels) && !selects(one('In', ['db']), labels) && !selects(one('In', ['web']), {}),
    );
    assert.ok(selects(one('NotIn', ['db']), labels) && selects(one('NotIn', ['db']), {}));
    assert.ok(selects(one('Exists'), labels) && selects(one('DoesNotExist'), {}) && !selects(one('Other'), labels));
  });
});

describe('the numbers of the server', () => {
  it('are rates and latencies between two scrapes', () => {
    const scrape = (count: number, failed: number) =>
      readScrape(
        [
          `apiserver_request_total{verb="GET",resource="pods",code="200"} ${count}`,
          `apiserver_request_total{verb="GET",resource="pods",code="500"} ${failed}`,
          `apiserver_request_duration_seconds_bucket{verb="GET",resource="pods",le="0.1"} ${count}`,
          `apiserver_request_duration_seconds_bucket{verb="GET",resource="pods",le="+Inf"} ${count}`,
          `apiserver_request_duration_seconds_bucket{verb="WATCH",resource="pods",le="0.1"} 0`,
          `apiserver_request_duration_seconds_bucket{verb="WATCH",resource="pods",le="+Inf"} ${count * 9}`,
          'plinth_registered_watchers{kind="Pod"} 2',
          'storage_feed_age_seconds 0.25',
        ].join('\n'),
      );
    const numbers = serverNumbers(new Span(new Sample(scrape(30, 5), 10_000), new Sample(scrape(10, 1), 8_000)));
    assert.deepEqual([numbers.requests, numbers.errors, numbers.watches, numbers.feedAge], [12, 2, 2, 0.25]);
    assert.ok((numbers.p99 ?? 1) <= 0.1, 'watches do not count');
  });

  it('are written with units', () => {
    assert.deepEqual([undefined, 0.0000042, 0.0042, 0.25, 2.5, 75].map(timeText), [
      '—',
      '4 µs',
      '4.2 ms',
      '250 ms',
      '2.50 s',
      '75 s',
    ]);
    assert.deepEqual([0, 1023, 1536, 5 * 2 ** 30].map(bytesText), ['0 B', '1023 B', '1.5 KiB', '5.0 GiB']);
    assert.deepEqual([0.5, 12.34, 1234.5].map(rateText), ['0.50', '12.3', '1235']);
  });
});
