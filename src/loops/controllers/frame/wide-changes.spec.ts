import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { type Labels, WideChanges } from './wide-changes.js';

function setUp(find: (namespace: string, labels: Labels | undefined) => void = () => undefined) {
  const queued: string[] = [];
  const found: string[] = [];
  const changes = new WideChanges(
    (key) => queued.push(key),
    (namespace, labels) => {
      found.push(`${namespace} ${JSON.stringify(labels)}`);
      find(namespace, labels);
    },
  );
  return { changes, queued, found };
}

it('finds nothing at a change, and once for all equal labels when the namespace has its turn', () => {
  const { changes, queued, found } = setUp();
  for (let i = 0; i < 100; i++) changes.note('a', { app: i % 2 === 0 ? 'x' : 'y' });
  changes.note('b');
  assert.deepEqual(queued, ['a/*', 'b/*']);
  assert.deepEqual(found, []);
  assert.ok(changes.isKey('a/*'));
  assert.ok(!changes.isKey('a/web'));
  assert.equal(changes.work('a/*'), 'done');
  assert.deepEqual(found, ['a {"app":"x"}', 'a {"app":"y"}']);
  assert.equal(changes.work('b/*'), 'done');
  assert.equal(changes.work('b/*'), 'done');
  assert.deepEqual(found.slice(2), ['b {}']);
});

it('queues everything that selects, once, after changes of very many different labels', () => {
  const { changes, queued, found } = setUp();
  for (let i = 0; i < 1000; i++) changes.note('a', { n: String(i) });
  assert.equal(changes.work('a/*'), 'done');
  assert.deepEqual(found, ['a undefined']);
  changes.note('a', { n: '1' });
  assert.deepEqual(queued, ['a/*', 'a/*']);
});

it('ends a piece of work after a while, and loses no change meanwhile', () => {
  let now = 0;
  const clock = mock.method(performance, 'now', () => now);
  try {
    const { changes, queued, found } = setUp(() => {
      now += 3;
    });
    for (const n of ['1', '2', '3']) changes.note('a', { n });
    assert.equal(changes.work('a/*'), 1);
    assert.equal(found.length, 2);
    changes.note('a', { n: '1' });
    assert.equal(changes.work('a/*'), 'done');
    assert.deepEqual(found.slice(2), ['a {"n":"3"}', 'a {"n":"1"}']);
    assert.deepEqual(queued, ['a/*']);
  } finally {
    clock.mock.restore();
  }
});

it('forgets changes of an earlier term', () => {
  const { changes, found } = setUp();
  changes.note('a');
  changes.clear();
  assert.equal(changes.work('a/*'), 'done');
  assert.deepEqual(found, []);
});
