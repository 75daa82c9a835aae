import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Api } from './api.js';
import { LiveTable } from './table.js';

const columnDefinitions = [
  { name: 'Name', type: 'string', priority: 0 },
  { name: 'Ready', type: 'string', priority: 0 },
];
const row = (name: string, version = '1', ready = 'yes') => ({
  cells: [name, ready],
  object: { metadata: { name, namespace: 'a', resourceVersion: version, creationTimestamp: '2026-01-01T00:00:00Z' } },
});
const page = (names: readonly string[], resourceVersion: string, next = '') =>
  JSON.stringify({
    kind: 'Table',
    columnDefinitions,
    metadata: { resourceVersion, continue: next },
    rows: names.map((name) => row(name)),
  });
const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const table = (...rows: object[]) => ({ kind: 'Table', columnDefinitions: null, rows });
const gone = (status = 410) =>
  new Response(JSON.stringify({ kind: 'Status', code: status, message: 'too old' }), { status });

/** Answers requests in their order; the table is stopped when there is none left. */
async function run(answers: readonly (string | Response | Error)[], query: Record<string, string> = {}) {
  const asked: string[] = [];
  const seen: string[] = [];
  const stop = new AbortController();
  const left = [...answers];
  const api = new Api(
    () => 'key',
    () => {},
    async (path) => {
      const answer = left.shift();
      if (answer === undefined) {
        stop.abort();
        throw new Error('no more');
      }
      asked.push(path);
      if (answer instanceof Error) throw answer;
      return answer instanceof Response ? answer : new Response(answer);
    },
  );
  const shown = new LiveTable(api, '/api/v1/pods', query, 'k8s.io', () => {
    seen.push(`${shown.state}:${shown.all.map(({ name }) => name).join()}`);
  });
  const waits: number[] = [];
  await shown.run(stop.signal, async (ms) => void waits.push(ms));
  return { asked, seen, shown, waits };
}

describe('a live table', () => {
  it('lists in pages and watches from the version of the list', async () => {
    const { asked, shown, seen } = await run(
      [
        page(['c', 'a'], '7', 'next'),
        page(['b'], '7'),
        event('ADDED', table(row('d', '8'))) +
          event('MODIFIED', table(row('a', '9', 'no'))) +
          event('DELETED', table(row('c', '10'))),
        '',
      ],
      { labelSelector: 'x=y' },
    );
    const first = '/api/v1/pods?labelSelector=x%3Dy';
    assert.deepEqual(asked, [
      `${first}&limit=250`,
      `${first}&limit=1000&continue=next`,
      `${first}&watch=true&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=7`,
      `${first}&watch=true&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=10`,
    ]);
    assert.ok(seen.includes('loading:a,c'), 'the first page is shown before the second is there');
    assert.deepEqual(
      shown.all.map(({ name, cells }) => [name, cells[1]]),
      [
        ['a', 'no'],
        ['b', 'yes'],
        ['d', 'yes'],
      ],
    );
  });

  it('takes the version of bookmarks, and goes on there', async () => {
    const bookmark = event('BOOKMARK', table({ cells: [], object: { metadata: { name: '', resourceVersion: '99' } } }));
    const { asked, shown } = await run([page(['a'], '7'), bookmark, '']);
    assert.match(asked[2] ?? '', /resourceVersion=99$/);
    assert.equal(shown.all.length, 1);
  });

  it('lists anew when its version is gone, by answer or by event, and shows the old rows until then', async () => {
    const error = event('ERROR', { kind: 'Status', code: 410, message: 'too old' });
    const { asked, seen, shown } = await run([
      page(['a', 'b'], '7'),
      gone(),
      page(['b', 'c'], '20'),
      error,
      page(['c'], '30'),
      '',
    ]);
    assert.deepEqual(
      asked.map((path) => (path.includes('watch') ? path.slice(path.indexOf('resourceVersion')) : 'list')),
      ['list', 'resourceVersion=7', 'list', 'resourceVersion=20', 'list', 'resourceVersion=30'],
    );
    assert.ok(!seen.slice(3).some((text) => text.endsWith(':')));
    assert.deepEqual(
      shown.all.map(({ name }) => name),
      ['c'],
    );
  });

  it('lists from the start when a page has expired', async () => {
    const { asked, shown } = await run([page(['a'], '7', 'next'), gone(), page(['b'], '8'), '']);
    assert.deepEqual(asked[2], '/api/v1/pods?limit=250');
    assert.deepEqual(
      shown.all.map(({ name }) => name),
      ['b'],
    );
  });

  it('tries again after growing pauses while the server is away', async () => {
    const { asked, waits, seen } = await run([
      page(['a'], '7'),
      new Error('refused'),
      gone(503),
      new Error('refused'),
      '',
    ]);
    assert.ok(asked.slice(1).every((path) => path.endsWith('resourceVersion=7')));
    assert.deepEqual(waits.slice(0, 3), [500, 1000, 2000]);
    assert.ok(seen.some((text) => text === 'waiting:a'));
  });

  it('stops where the user may not', async () => {
    const { shown, asked } = await run([gone(403), page(['a'], '7')]);
    assert.deepEqual([shown.state, shown.message, asked.length], ['failed', 'too old', 1]);
  });

  it('keeps nothing in sight that the user may no longer read', async () => {
    const { shown, asked } = await run([page(['a'], '7'), event('ADDED', table(row('b', '8'))), gone(403)]);
    assert.deepEqual([shown.state, shown.message, asked.length], ['failed', 'too old', 3]);
    assert.deepEqual(shown.all, []);
  });

  it('shows lists of servers that make no tables', async () => {
    const items = [{ metadata: { name: 'a', namespace: 'n' } }];
    const added = event('ADDED', { kind: 'Thing', metadata: { name: 'b', namespace: 'n', resourceVersion: '5' } });
    const { shown } = await run([
      JSON.stringify({ kind: 'ThingList', metadata: { resourceVersion: '4' }, items }),
      added,
      '',
    ]);
    assert.deepEqual(
      shown.all.map(({ key, cells }) => [key, cells[0]]),
      [
        ['n/a', 'a'],
        ['n/b', 'b'],
      ],
    );
  });
});
