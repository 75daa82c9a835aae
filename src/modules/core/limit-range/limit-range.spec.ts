import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { limitRangeResource } from './limit-range.resource.js';

const tester = new DefinitionTester(limitRangeResource(testNames));
const at = 'spec.limits[0]';
const limits = (...items: object[]) => ({ spec: { limits: items } });
const container = (item: object) => limits({ type: 'Container', ...item });

describe('limit ranges', () => {
  it('derive defaults for containers only', () => {
    const filled = (item: object) => (tester.create(limits(item)).object.spec as { limits: object[] }).limits[0];
    const max = { cpu: '2' };
    assert.deepEqual(filled({ type: 'Container', max, min: { cpu: '1m', memory: '1' } }), {
      type: 'Container',
      max,
      min: { cpu: '1m', memory: '1' },
      default: { cpu: '2' },
      defaultRequest: { cpu: '2', memory: '1' },
    });
    assert.deepEqual(filled({ type: 'Pod', max }), { type: 'Pod', max });
    assert.deepEqual(filled({ type: 'Container' }), { type: 'Container' });
  });

  it('have whole thousandths', () => {
    const amounts = {
      max: { cpu: '1.5m' },
      min: { cpu: '500u' },
      default: { cpu: '1m' },
      defaultRequest: { cpu: '1m' },
    };
    const { object } = tester.create(container(amounts));
    assert.deepEqual((object.spec as { limits: object[] }).limits[0], {
      type: 'Container',
      ...amounts,
      max: { cpu: '2m' },
      min: { cpu: '1m' },
    });
  });

  it('get a name', () => {
    const { object, causes } = tester.create({ ...limits(), metadata: { name: '' } });
    assert.deepEqual(causes, []);
    assert.match(object.metadata.name ?? '', /^[0-9a-f-]{36}$/);
  });

  const bad: [string, Record<string, unknown>, string[]][] = [
    [
      'one type twice',
      limits({ type: 'Container' }, { type: 'Container' }),
      ['Duplicate | spec.limits[1].type | Duplicate value: "Container"'],
    ],
    [
      'an unknown type',
      limits({ type: 'Odd' }),
      [`Invalid | ${at}.type | Invalid value: "Odd": must be a standard limit`],
    ],
    [
      'no type',
      limits({ type: '' }),
      [
        `Invalid | ${at}.type | Invalid value: "": name part must be non-empty`,
        `Invalid | ${at}.type | Invalid value: ""`,
      ],
    ],
    [
      'a claim without a bound',
      limits({ type: 'PersistentVolumeClaim', max: { cpu: '1' } }),
      [`Required | ${at}.limits | Required value: either minimum or maximum storage value is required`],
    ],
    [
      'defaults of pods',
      limits({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' }, min: { cpu: '2' } }),
      [
        `Forbidden | ${at}.default | Forbidden: may not be specified when \`type\` is 'Pod'`,
        `Forbidden | ${at}.defaultRequest | Forbidden: may not be specified when \`type\` is 'Pod'`,
      ],
    ],
    [
      'an unknown resource',
      limits({ type: 'Pod', max: { zoo: '1' } }),
      [
        `Invalid | ${at}.max[zoo] | Invalid value: "zoo": must be a standard resource type or fully qualified`,
        `Invalid | ${at}.max[zoo] | Invalid value: "zoo": must be a standard resource for containers`,
      ],
    ],
    [
      'a resource with the name of something that every map inherits',
      limits({ type: 'Pod', min: { constructor: '1' }, max: { cpu: '2' } }),
      [
        `Invalid | ${at}.min[constructor] | Invalid value: "constructor": must be a standard resource type or fully qualified`,
        `Invalid | ${at}.min[constructor] | Invalid value: "constructor": must be a standard resource for containers`,
      ],
    ],
    [
      'a minimum above everything',
      container({ min: { cpu: '4' }, max: { cpu: '3' }, default: { cpu: '2' }, defaultRequest: { cpu: '1' } }),
      [
        `Invalid | ${at}.min[cpu] | Invalid value: "4": min value 4 is greater than max value 3`,
        `Invalid | ${at}.defaultRequest[cpu] | Invalid value: "1": min value 4 is greater than default request value 1`,
        `Invalid | ${at}.default[cpu] | Invalid value: "4": min value 4 is greater than default value 2`,
      ],
    ],
    [
      'a request above everything',
      container({ max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '3' } }),
      [
        `Invalid | ${at}.defaultRequest[cpu] | Invalid value: "3": default request value 3 is greater than max value 2`,
        `Invalid | ${at}.defaultRequest[cpu] | Invalid value: "3": default request value 3 is greater than default lim`,
      ],
    ],
    [
      'a default above the maximum',
      container({ max: { cpu: '2' }, default: { cpu: '3' }, defaultRequest: { cpu: '1' } }),
      [`Invalid | ${at}.default[cpu] | Invalid value: "2": default value 3 is greater than max value 2`],
    ],
    [
      'a ratio below one',
      container({ maxLimitRequestRatio: { cpu: '500m' } }),
      [`Invalid | ${at}.maxLimitRequestRatio[cpu] | Invalid value: "500m": ratio 500m is less than 1`],
    ],
    [
      'a ratio that can not be reached',
      container({ min: { cpu: '1' }, max: { cpu: '4' }, maxLimitRequestRatio: { cpu: '5' } }),
      [`Invalid | ${at}.maxLimitRequestRatio[cpu] | Invalid value: "5": ratio 5 is greater than max/min = 4.000000`],
    ],
    [
      'different defaults of what can not be promised twice',
      container({ default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }),
      [`Invalid | ${at}.default[example.com/gpu] | Invalid value: "2": default value 2 must equal to defaultRequest`],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }
});
