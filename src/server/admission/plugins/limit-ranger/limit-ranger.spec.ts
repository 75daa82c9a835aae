import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LimitRange, LimitRangeItem } from '../../../../objects/apis/core/v1/limit-range.types.js';
import type { PersistentVolumeClaim } from '../../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { claimLimitCheck, podLimitCheck, problemsText } from './limit-checks.js';
import { applyLimitDefaults } from './limit-defaults.js';

const range = (...limits: Partial<LimitRangeItem>[]) => ({ spec: { limits } }) as LimitRange;
const container = (name: string, requests?: object, limits?: object) => ({
  name,
  resources: { ...(requests === undefined ? {} : { requests }), ...(limits === undefined ? {} : { limits }) },
});
const pod = (spec: object) => ({ spec: { containers: [], ...spec } }) as unknown as Pod;

describe('default limits', () => {
  it('complete containers, and say what they did', () => {
    const given = pod({
      containers: [container('a'), container('b', { cpu: '1' }, { cpu: '2', memory: '3' })],
      initContainers: [container('i', undefined, { memory: '1' })],
    });
    const limits = range(
      { type: 'Container', defaultRequest: { cpu: '100m' }, default: { memory: '1Gi', cpu: '1' } },
      { type: 'Pod', defaultRequest: { memory: '9' } },
    );
    assert.equal(
      applyLimitDefaults(given, limits),
      'cpu request for container a; cpu, memory limit for container a; ' +
        'cpu request for init container i; cpu limit for init container i',
    );
    assert.deepEqual(
      given.spec.containers?.map(({ resources }) => resources),
      [
        { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi' } },
        { requests: { cpu: '1' }, limits: { cpu: '2', memory: '3' } },
      ],
    );
    assert.equal(applyLimitDefaults(given, limits), '');
  });
});

describe('limit ranges', () => {
  const one = (requests?: object, limits?: object) => pod({ containers: [container('c', requests, limits)] });
  const cases: [string, Pod, Partial<LimitRangeItem>, string[]][] = [
    ['enough', one({ cpu: '1' }), { min: { cpu: '1' } }, []],
    ['no request', one(), { min: { cpu: '1' } }, ['minimum cpu usage per Container is 1.  No request is specified']],
    [
      'a small request',
      one({ cpu: '999m' }),
      { min: { cpu: '1' } },
      ['minimum cpu usage per Container is 1, but request is 999m'],
    ],
    [
      'a small limit',
      one({ cpu: '1' }, { cpu: '1' }),
      { min: { cpu: '2' } },
      ['minimum cpu usage per Container is 2, but request is 1'],
    ],
    [
      'no limit',
      one({ cpu: '1' }),
      { max: { cpu: '1' } },
      ['maximum cpu usage per Container is 1.  No limit is specified'],
    ],
    [
      'a large limit',
      one({ cpu: '1' }, { cpu: '1001m' }),
      { max: { cpu: '1' } },
      ['maximum cpu usage per Container is 1, but limit is 1001m'],
    ],
    ['a good ratio', one({ cpu: '1' }, { cpu: '1500m' }), { maxLimitRequestRatio: { cpu: '1.5' } }, []],
    [
      'a bad ratio',
      one({ cpu: '1' }, { cpu: '1501m' }),
      { maxLimitRequestRatio: { cpu: '1.5' } },
      ['cpu max limit to request ratio per Container is 1.5, but provided ratio is 1.501000'],
    ],
    [
      'a ratio to nothing',
      one({ cpu: '0' }, { cpu: '1' }),
      { maxLimitRequestRatio: { cpu: '2' } },
      ['cpu max limit to request ratio per Container is 2, but no request is specified or request is 0'],
    ],
    [
      'a ratio of nothing',
      one({ cpu: '1' }),
      { maxLimitRequestRatio: { cpu: '2' } },
      ['cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0'],
    ],
  ];
  for (const [about, given, item, expected] of cases) {
    it(`judge ${about}`, () => assert.deepEqual(podLimitCheck(given)(range({ type: 'Container', ...item })), expected));
  }

  it('judge pods by all their containers, without what the runtime needs', () => {
    const containers = [container('a', { cpu: '1' }, { cpu: '1' }), container('b', { cpu: '1' }, { cpu: '1' })];
    const item = { type: 'Pod', max: { cpu: '1900m' } } as const;
    const expected = ['maximum cpu usage per Pod is 1900m, but limit is 2'];
    assert.deepEqual(podLimitCheck(pod({ containers }))(range(item)), expected);
    const small = pod({ containers, overhead: { cpu: '10' } });
    assert.deepEqual(podLimitCheck(small)(range({ ...item, max: { cpu: '2' } })), []);
  });

  it('judge claims', () => {
    const claim = { spec: { resources: { requests: { storage: '1Gi' } } } } as unknown as PersistentVolumeClaim;
    const judge = (item: Partial<LimitRangeItem>) =>
      claimLimitCheck(claim)(range({ type: 'PersistentVolumeClaim', ...item }));
    assert.deepEqual(judge({ min: { storage: '1Gi' }, max: { storage: '1Gi' } }), []);
    assert.deepEqual(judge({ max: { storage: '1M' } }), [
      'maximum storage usage per PersistentVolumeClaim is 1M, but request is 1Gi',
    ]);
    assert.deepEqual(judge({ min: { storage: '2Gi' } }), [
      'minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi',
    ]);
  });

  it('name several problems together', () => {
    assert.equal(problemsText(['a']), 'a');
    assert.equal(problemsText(['a', 'b']), '[a, b]');
  });
});
