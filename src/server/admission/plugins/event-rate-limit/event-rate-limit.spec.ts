import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { EventRateLimit } from './event-rate-limit.js';
import { type EventLimit, type LimitType, readEventLimits } from './event-rate-limit-configuration.js';
import { TokenBuckets } from './token-buckets.js';

const names = vendorNames('k8s.io');
const apiVersion = 'eventratelimit.admission.k8s.io/v1alpha1';

function read(value: unknown) {
  try {
    return readEventLimits({ value, source: 'file', folder: '/' }, names);
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems;
  }
}

describe('the configuration of EventRateLimit', () => {
  const root = { apiVersion, kind: 'Configuration' };
  const limit = { type: 'Server', qps: 10, burst: 50 };
  const rows: readonly (readonly [string, unknown, unknown])[] = [
    ['a limit', { ...root, limits: [limit] }, [{ ...limit, cacheSize: 4096 }]],
    [
      'a cache size',
      { ...root, limits: [{ ...limit, type: 'User', cacheSize: 2 }] },
      [{ ...limit, type: 'User', cacheSize: 2 }],
    ],
    ['no limits', root, ['file: limits must be a list with at least one entry']],
    [
      'every fault at once',
      {
        apiVersion: 'v1',
        kind: 'X',
        more: 1,
        limits: [{ type: 'server', qps: 0, burst: -1, cacheSize: -1, per: 'second' }, 7],
      },
      [
        'file: unknown field more',
        `file: apiVersion must be ${apiVersion}`,
        'file: must be of kind Configuration',
        'file: unknown field limits[0].per',
        'file: limits[0].type must be one of Server, Namespace, User, SourceAndObject',
        'file: limits[0].burst must be positive',
        'file: limits[0].qps must be positive',
        'file: limits[0].cacheSize must not be negative',
        'file: limits[1] must be an object',
        'file: limits[1].type must be one of Server, Namespace, User, SourceAndObject',
        'file: limits[1].burst must be positive',
        'file: limits[1].qps must be positive',
      ],
    ],
    [
      'a fraction',
      { ...root, limits: [{ ...limit, qps: 1.5 }] },
      ['file: limits[0].qps must be a whole number', 'file: limits[0].qps must be positive'],
    ],
  ];
  for (const [what, value, expected] of rows) it(`reads ${what}`, () => assert.deepEqual(read(value), expected));

  it('must be there', () => {
    assert.throws(() => readEventLimits(undefined, names), OptionsError);
  });
});

describe('token buckets', () => {
  it('fill up over time, never above the burst', () => {
    const time = { now: 0 };
    const buckets = new TokenBuckets(2, 3, 10, () => time.now);
    const takes = (count: number) => Array.from({ length: count }, () => buckets.take('a'));
    assert.deepEqual(takes(4), [true, true, true, false]);
    time.now = 499;
    assert.deepEqual(takes(1), [false]);
    time.now = 500;
    assert.deepEqual(takes(2), [true, false]);
    time.now = 100_000;
    assert.deepEqual(takes(4), [true, true, true, false]);
    assert.equal(buckets.take('b'), true);
  });

  it('forget the key that was used longest ago', () => {
    const buckets = new TokenBuckets(1, 1, 2, () => 0);
    assert.deepEqual(
      ['a', 'b', 'a', 'c', 'a', 'b'].map((key) => buckets.take(key)),
      [true, true, false, true, false, true],
    );
    assert.equal(buckets.size, 2);
  });
});

describe('EventRateLimit', () => {
  const event = (fields: object = {}) => ({
    metadata: { name: 'e' },
    involvedObject: { kind: 'Pod', namespace: 'n', name: 'p', uid: 'u', apiVersion: 'v1' },
    source: { component: 'scheduler', host: 'h' },
    reportingComponent: '',
    reportingInstance: '',
    ...fields,
  });
  const limit = (type: LimitType): EventLimit => ({ type, qps: 1, burst: 1, cacheSize: 10 });
  const request = (over: TestRequest = {}) => admissionAttributes({ resource: 'events', object: event(), ...over });
  const bob = { name: 'bob', uid: '', groups: [], extra: {} };
  const outcomes = (types: readonly LimitType[], ...requests: readonly TestRequest[]) => {
    const plugin = new EventRateLimit(types.map(limit), names, () => 0);
    return requests.map((over) => {
      try {
        plugin.validate(request(over));
        return '';
      } catch (error) {
        assert.equal((error as { code?: number }).code, 429);
        return (error as Error).message;
      }
    });
  };
  const reached = (type: LimitType, key: string) => `Too many requests: limit reached on type ${type} for key ${key}`;
  const pod = event({ involvedObject: { ...event().involvedObject, name: 'q' } });
  const newer = event({ source: {}, reportingComponent: 'scheduler', reportingInstance: 'h' });
  const rows: readonly (readonly [LimitType, readonly TestRequest[], readonly string[]])[] = [
    ['Server', [{}, { namespace: 'o', userInfo: bob }], ['', reached('Server', '')]],
    ['Namespace', [{}, { namespace: 'o' }, { userInfo: bob }], ['', '', reached('Namespace', 'n')]],
    ['User', [{}, { userInfo: bob }, { namespace: 'o' }], ['', '', reached('User', 'alice')]],
    [
      'SourceAndObject',
      [{}, { object: pod }, { object: newer, resource: 'events.events.k8s.io' }],
      ['', '', reached('SourceAndObject', 'schedulerhPodnpuv1')],
    ],
  ];
  for (const [type, requests, expected] of rows) {
    it(`counts by ${type}`, () => assert.deepEqual(outcomes([type], ...requests), expected));
  }

  it('names every limit that is reached, and counts for all', () => {
    const text = 'limit reached on type Namespace for key n, limit reached on type User for key alice';
    assert.deepEqual(outcomes(['Namespace', 'User'], {}, {}), ['', `Too many requests: [${text}]`]);
  });

  it('counts neither dry runs nor other kinds, and a write that is tried again once', () => {
    assert.deepEqual(
      outcomes(['Server'], { dryRun: true }, { resource: 'pods' }, { resource: 'events.example.com' }, {}),
      ['', '', '', ''],
    );
    const plugin = new EventRateLimit([limit('Server')], names, () => 0);
    const attributes = request();
    plugin.validate(attributes);
    plugin.validate(attributes);
    assert.throws(() => plugin.validate(request()));
  });
});
