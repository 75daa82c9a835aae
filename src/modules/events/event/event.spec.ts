import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { decode } from '../../../base/machinery/schema/index.js';
import type { Event as CoreEvent } from '../../../objects/apis/core/v1/event.types.js';
import { event as coreType } from '../../../objects/apis/core/v1/event.types.js';
import { fromCoreEvent, toCoreEvent } from '../../../objects/apis/events/event-conversion.js';
import type { Event } from '../../../objects/apis/events/v1/event.types.js';
import { coreEventResource, eventResource } from './event.resource.js';

const core = new DefinitionTester(coreEventResource(testNames));
const strict = new DefinitionTester(eventResource(testNames), 'v1');
const beta = new DefinitionTester(eventResource(testNames), 'v1beta1');
const noMatch = 'Invalid | involvedObject.namespace | Invalid value';
const report = {
  eventTime: '2029-12-31T23:59:00.000000Z',
  reportingController: 'a.b/c',
  reportingInstance: 'i',
  action: 'a',
  reason: 'r',
  type: 'Normal',
  regarding: { namespace: 'default' },
};

describe('events', () => {
  it('are the same in both groups', () => {
    const everything = {
      metadata: { name: 'a', namespace: 'n' },
      involvedObject: { kind: 'Pod', namespace: 'n', name: 'p' },
      reason: 'r',
      message: 'm',
      source: { component: 'c', host: 'h' },
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-02T00:00:00Z',
      count: 3,
      type: 'Normal',
      eventTime: '2030-01-01T00:00:00.000000Z',
      series: { count: 2, lastObservedTime: '2030-01-01T00:00:00.000000Z' },
      action: 'a',
      related: { kind: 'X' },
      reportingComponent: 'rc',
      reportingInstance: 'ri',
    };
    for (const input of [everything, { metadata: {}, involvedObject: {} }]) {
      const stored = decode(coreType, input).value as CoreEvent;
      const there = fromCoreEvent(stored);
      assert.deepEqual(toCoreEvent(there), stored);
      assert.equal(JSON.stringify(toCoreEvent(there)), JSON.stringify(stored));
    }
    const converted = fromCoreEvent(decode(coreType, everything).value as CoreEvent) as Event & Record<string, unknown>;
    assert.equal(converted.note, 'm');
    assert.deepEqual(converted.regarding, everything.involvedObject);
    assert.deepEqual(converted.deprecatedSource, { component: 'c', host: 'h' });
    assert.equal(converted.involvedObject, undefined);
  });

  const ofCore: [string, Record<string, unknown>, string[]][] = [
    ['the default namespace for objects of none', {}, []],
    ['the namespace of its object', { involvedObject: { namespace: 'default' } }, []],
    ['another namespace', { involvedObject: { namespace: 'x' } }, [`${noMatch}: "x": does not match event.namespace`]],
    [
      'a namespace for objects of none',
      { metadata: { namespace: 'n' } },
      [`${noMatch}: "": does not match event.names`],
    ],
    ['any name that fits into a path', { metadata: { name: 'A_b' } }, []],
    ['a name with a slash', { metadata: { name: 'a/b' } }, ['Invalid | metadata.name | Invalid value: "a/b": may not']],
    ['any type', { type: 'Odd' }, []],
    [
      'a time without a report',
      { eventTime: report.eventTime },
      [
        'Required | reportingComponent | Required value',
        'Invalid | reportingComponent | Invalid value: "": name part must be non-empty',
        'Invalid | reportingComponent | Invalid value: "": name part must consist',
        'Required | reportingInstance | Required value',
        'Required | action | Required value',
        'Required | reason | Required value',
      ],
    ],
  ];
  for (const [name, body, expected] of ofCore) {
    it(`core v1: ${name}`, () => assertCauses(core.create(body).causes, expected));
  }

  const long = 'x'.repeat(129);
  const ofGroup: [string, Record<string, unknown>, string[]][] = [
    ['a full report', {}, []],
    [
      'long texts',
      { reportingInstance: long, action: long, reason: long, note: long.repeat(8) },
      ['reportingInstance', 'action', 'reason', 'message'].map(
        (f) => `Invalid | ${f} | Invalid value: "": can have at`,
      ),
    ],
    ['a bad name', { metadata: { name: 'A_b' } }, ['Invalid | metadata.name | Invalid value: "A_b": a lowercase']],
    [
      'no time and type',
      { eventTime: null, type: null },
      ['Required | eventTime | Required value', 'Invalid | type | Invalid value: "": has invalid value: '],
    ],
    [
      'what the old form had',
      {
        deprecatedFirstTimestamp: '2030-01-01T00:00:00Z',
        deprecatedLastTimestamp: '2030-01-01T00:00:00Z',
        deprecatedCount: 1,
        deprecatedSource: { host: 'h' },
      },
      ['firstTimestamp', 'lastTimestamp', 'count', 'source'].map(
        (f) => `Invalid | ${f} | Invalid value: "": needs to be`,
      ),
    ],
    [
      'a series of one',
      { series: { count: 1 } },
      [
        'Invalid | series.count | Invalid value: "": should be at least 2',
        'Required | series.lastObservedTime | Required value',
      ],
    ],
  ];
  for (const [name, body, expected] of ofGroup) {
    it(`events v1: ${name}`, () => assertCauses(strict.create({ ...report, ...body }).causes, expected));
  }

  it('events v1: only the series and the metadata change', () => {
    const { object } = strict.create(report);
    const regarding = { ...report.regarding, name: 'other' };
    const changes = { note: 'n', reason: 'x', action: 'x', type: 'Warning', reportingInstance: 'x', regarding };
    const { causes } = strict.patch(object, { ...changes, reportingController: 'a.b/x', deprecatedCount: 2 });
    assert.deepEqual(
      causes.map((cause) => cause.split(' | ')[1]),
      ['involvedObject', 'reason', 'message', 'count', 'type', 'action', 'reportingController', 'reportingInstance'],
    );
    assert.match(causes[1] ?? '', /field is immutable$/);
    const counted = strict.create({ ...report, series: undefined }).object;
    const without = strict.patch({ ...counted, count: 1 } as typeof counted, { deprecatedCount: null });
    assertCauses(without.causes, ['Invalid | count | Invalid value: 0: field is immutable']);
    assertCauses(strict.patch(object, { eventTime: '2029-12-31T23:59:00.000001Z' }).causes, [
      'Invalid | eventTime | Invalid value',
    ]);
    const series = { count: 2, lastObservedTime: '2029-12-31T23:59:30.000000Z' };
    assertCauses(strict.patch(object, { series, metadata: { labels: { a: 'b' } } }).causes, []);
    assertCauses(strict.patch(object, { series: { ...series, count: 1 } }).causes, [
      'Invalid | series.count | Invalid',
    ]);
    assertCauses(core.patch(object, { reason: 'x' }).causes, []);
  });

  it('events v1beta1: asks for no more than core', () => {
    const body = { ...report, type: 'Odd', series: { count: 1 }, deprecatedCount: 1 };
    assertCauses(beta.create(body).causes, []);
  });

  it('are shown alike in both groups', () => {
    const { object } = core.create({
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'p', fieldPath: 'f' },
      reason: 'R',
      message: ' m ',
      source: { component: 'x', host: 'h' },
      firstTimestamp: '2029-12-31T23:58:00Z',
      lastTimestamp: '2029-12-31T23:59:00Z',
      count: 3,
      type: 'Normal',
    });
    const cells = ['60s', 'Normal', 'R', 'pod/p', 'f', 'x, h', 'm', '2m', 3, 'a'];
    assert.deepEqual(core.cells(object), cells);
    assert.deepEqual(strict.cells(object), cells);
    assert.deepEqual(core.cells(core.create({}).object), ['<unknown>', '', '', '', '', '', '', '<unknown>', 1, 'a']);
  });

  it('show the count of a series', () => {
    const series = { count: 4, lastObservedTime: '2029-12-31T23:59:30.000000Z' };
    const { object } = strict.create({ ...report, series });
    const cells = core.cells(object);
    assert.deepEqual([cells[0], cells[7], cells[8], cells[5]], ['30s', '60s', 4, 'a.b/c, i']);
  });
});
