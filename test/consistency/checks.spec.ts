import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { History, type LogEntry } from './history.js';
import { Ledger } from './ledger.js';
import { infoOf, type ObjectInfo } from './object-digest.js';
import { type CheckName, Report } from './report.js';
import { type Received, WatchCheck } from './watch-check.js';

// Tests the rules of the consistency check on logs written by hand: it sees each violation, and nothing else.

const info = (uid: string, digest: string, tier?: string, operation?: number): ObjectInfo => ({
  uid,
  digest,
  tier,
  operation,
});

function entry(
  version: number,
  type: LogEntry['type'],
  name: string,
  after: ObjectInfo,
  previous?: readonly [version: number, facts: ObjectInfo],
): LogEntry {
  const key = { resource: 'things', namespace: 'ns', name };
  return { ...key, version, type, after, before: previous?.[1], previousVersion: previous?.[0] };
}

const event = (version: number, type: string, name: string, digest: string): Received => ({
  kind: 'event',
  type,
  name,
  namespace: 'ns',
  version,
  info: info('u', digest),
  server: 0,
});

const a1 = info('u', 'a1', 'in', 1);
const a2 = info('u', 'a2', 'out', 2);
const b1 = info('v', 'b1', 'in', 3);
/** An object that is created, leaves the selection and is deleted, with another one beside it. */
const log = [
  entry(10, 'create', 'a', a1),
  entry(11, 'create', 'b', b1),
  entry(13, 'update', 'a', a2, [10, a1]),
  entry(17, 'delete', 'b', b1, [11, b1]),
];

let report: Report;
let history: History;
beforeEach(() => {
  report = new Report();
  history = new History(report);
});

/** The checks that found something. */
const failed = (): CheckName[] => [...new Set(report.violations.map(({ check }) => check))];

describe('the history of a consistency check', () => {
  it('takes a log that follows on itself, and knows every state', () => {
    for (const one of log) history.apply(one);
    assert.deepEqual(failed(), []);
    const names = (version: number, tier?: string) =>
      history.list({ resource: 'things', tier }, version).map(({ key, version }) => `${key.name}@${version}`);
    assert.deepEqual(names(9), []);
    assert.deepEqual(names(12), ['a@10', 'b@11']);
    assert.deepEqual(names(16), ['a@13', 'b@11']);
    assert.deepEqual(names(17), ['a@13']);
    assert.deepEqual(names(12, 'in'), ['a@10', 'b@11']);
    assert.deepEqual(names(13, 'in'), ['b@11']);
    const b = { resource: 'things', namespace: 'ns', name: 'b' };
    const shows: readonly (readonly [number | undefined, number, number, boolean])[] = [
      [11, 11, 20, true],
      [11, 16, 16, true],
      [11, 17, 20, false],
      [undefined, 11, 16, false],
      [undefined, 11, 17, true],
      [undefined, 9, 9, true],
      [undefined, 18, 20, true],
    ];
    for (const [version, from, to, was] of shows) assert.equal(history.wasBetween(b, version, from, to), was);
    history.prune(0, 13);
    assert.deepEqual(names(16), ['a@13', 'b@11']);
  });

  const wrong: readonly (readonly [string, CheckName, readonly LogEntry[]])[] = [
    ['a version behind another', 'log-order', [log[1] as LogEntry, log[0] as LogEntry]],
    ['a version twice', 'log-order', [log[0] as LogEntry, log[0] as LogEntry]],
    ['a create over an object', 'log-links', [log[0] as LogEntry, entry(12, 'create', 'a', b1)]],
    ['an update of nothing', 'log-links', [entry(12, 'update', 'a', a2, [10, a1])]],
    ['an update of another version', 'log-links', [log[0] as LogEntry, entry(12, 'update', 'a', a2, [9, a1])]],
    ['another state before', 'log-links', [log[0] as LogEntry, entry(12, 'update', 'a', a2, [10, a2])]],
    ['a delete of nothing', 'log-links', [entry(12, 'delete', 'a', a1, [10, a1])]],
  ];
  for (const [title, check, entries] of wrong) {
    it(`finds ${title}`, () => {
      for (const one of entries) history.apply(one);
      assert.deepEqual(failed(), [check]);
    });
  }
});

describe('the ledger of a consistency check', () => {
  type Step = 'log' | 'acknowledged' | 'elsewhere' | 'refused' | 'unknown';
  const cases: readonly (readonly [readonly Step[], CheckName | undefined])[] = [
    [['log', 'acknowledged'], undefined],
    [['acknowledged'], 'write-once'],
    [['log', 'elsewhere'], 'write-once'],
    [['log', 'log', 'acknowledged'], 'write-once'],
    [['log', 'acknowledged', 'log'], 'write-once'],
    [['refused'], undefined],
    [['log', 'refused'], 'write-at-most-once'],
    [['refused', 'log'], 'write-at-most-once'],
    [['unknown'], undefined],
    [['unknown', 'log'], undefined],
    [['log', 'unknown'], undefined],
    [['unknown', 'log', 'log'], 'write-at-most-once'],
    [['log', 'unknown', 'log'], 'write-at-most-once'],
  ];
  for (const [steps, found] of cases) {
    it(`${steps.join(', ')}: ${found ?? 'nothing wrong'}`, () => {
      const ledger = new Ledger(report);
      const operation = ledger.issue();
      for (const step of steps) {
        if (step === 'log') ledger.observe(entry(5, 'create', 'x', info('u', 'd', undefined, operation)));
        else if (step === 'refused') ledger.settle(operation, { kind: 'refused', status: 409 }, {});
        else if (step === 'unknown') ledger.settle(operation, { kind: 'unknown', why: 'cut' }, {});
        else ledger.settle(operation, { kind: 'acknowledged', version: step === 'elsewhere' ? 6 : 5 }, {});
      }
      assert.deepEqual(failed(), found === undefined ? [] : [found]);
    });
  }

  it('finds a condition that did not hold', () => {
    const ledger = new Ledger(report);
    const operation = ledger.issue();
    const before = info('u', 'd0');
    ledger.observe(entry(5, 'update', 'x', info('u', 'd', undefined, operation), [3, before]));
    ledger.settle(operation, { kind: 'acknowledged', version: 5, follows: 4 }, {});
    assert.deepEqual(failed(), ['write-condition']);
  });

  it('finds a delete that did not happen, or of another version', () => {
    for (const one of log) history.apply(one);
    const ledger = new Ledger(report);
    const key = (name: string) => ({ resource: 'things', namespace: 'ns', name });
    ledger.settleDelete(history, key('b'), 'v', 11, {});
    assert.deepEqual(failed(), []);
    ledger.settleDelete(history, key('b'), 'v', 10, {});
    assert.deepEqual(failed(), ['write-condition']);
    ledger.settleDelete(history, key('a'), 'u', undefined, {});
    assert.deepEqual(failed(), ['write-condition', 'write-once']);
  });
});

describe('the comparison of a watch', () => {
  const bookmark = (version: number): Received => ({ kind: 'bookmark', version, server: 0 });
  const relist = (version: number): Received => ({ kind: 'relist', version, server: 0 });
  const whole = [event(10, 'ADDED', 'a', 'a1'), event(11, 'ADDED', 'b', 'b1')];
  const rest = [event(13, 'MODIFIED', 'a', 'a2'), event(17, 'DELETED', 'b', 'b1')];
  const selected = [...whole, event(13, 'DELETED', 'a', 'a1'), rest[1] as Received];

  const cases: readonly (readonly [string, string | undefined, readonly Received[], readonly CheckName[]])[] = [
    ['everything', undefined, [...whole, ...rest], []],
    ['everything of a selection', 'in', selected, []],
    ['bookmarks where they may be', undefined, [...whole, bookmark(12), ...rest, bookmark(17)], []],
    ['a list in place of events', undefined, [relist(12), ...rest], []],
    ['a missing event', undefined, [whole[0] as Received, ...rest], ['watch-complete']],
    ['an event twice', undefined, [...whole, whole[1] as Received, ...rest], ['watch-events']],
    [
      'events that changed places',
      undefined,
      [whole[1] as Received, whole[0] as Received, ...rest],
      ['watch-complete', 'watch-events'],
    ],
    ['an event of no entry', undefined, [...whole, event(12, 'MODIFIED', 'a', 'a2'), ...rest], ['watch-events']],
    ['another type', undefined, [event(10, 'MODIFIED', 'a', 'a1'), whole[1] as Received, ...rest], ['watch-events']],
    ['other content', undefined, [event(10, 'ADDED', 'a', 'a2'), whole[1] as Received, ...rest], ['watch-events']],
    ['another name', undefined, [event(10, 'ADDED', 'b', 'a1'), whole[1] as Received, ...rest], ['watch-events']],
    [
      'a version that is not there yet',
      undefined,
      [...whole, ...rest, event(30, 'ADDED', 'c', 'c1')],
      ['watch-events'],
    ],
    [
      'a bookmark too early',
      undefined,
      [whole[0] as Received, bookmark(12), whole[1] as Received, ...rest],
      ['watch-bookmarks', 'watch-events'],
    ],
    ['a bookmark from the past', undefined, [...whole, bookmark(10), ...rest], ['watch-bookmarks']],
    [
      'leaving shown as it is outside',
      'in',
      [...whole, event(13, 'DELETED', 'a', 'a2'), rest[1] as Received],
      ['watch-events'],
    ],
    ['leaving not shown', 'in', [...whole, rest[1] as Received], ['watch-complete']],
  ];
  for (const [title, tier, received, found] of cases) {
    it(`${title}: ${found.join(', ') || 'nothing wrong'}`, () => {
      const check = new WatchCheck('w', { resource: 'things', tier }, history, report);
      for (const one of log) history.apply(one);
      for (const one of received) check.receive(one);
      check.advance(received.length);
      assert.deepEqual(failed(), found);
      if (found.length === 0) assert.equal(check.outstanding(), undefined);
    });
  }

  it('waits for the log, and knows what is owed', () => {
    const check = new WatchCheck('w', { resource: 'things' }, history, report);
    history.apply(log[0] as LogEntry);
    for (const one of whole) check.receive(one);
    check.advance(1);
    assert.deepEqual(failed(), []);
    assert.equal(check.backlog, 1);
    for (const one of log.slice(1)) history.apply(one);
    check.advance(2);
    assert.equal(check.backlog, 0);
    assert.equal(check.outstanding()?.version, 13);
  });
});

describe('the digest of an object', () => {
  const object = {
    kind: 'X',
    apiVersion: 'v1',
    metadata: { name: 'a', resourceVersion: '5', labels: { b: '1', a: '2' } },
  };

  it('is about content, not about form, version or order', () => {
    const { digest } = infoOf(object);
    const same = { metadata: { labels: { a: '2', b: '1' }, creationTimestamp: null, resourceVersion: '9', name: 'a' } };
    assert.equal(infoOf(same).digest, digest);
    assert.notEqual(infoOf({ ...object, data: {} }).digest, digest);
    assert.notEqual(infoOf({ metadata: { ...object.metadata, labels: { a: '1', b: '2' } } }).digest, digest);
  });
});
