import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { nodeResource } from './node.resource.js';

const tester = new DefinitionTester(nodeResource(testNames));

describe('nodes', () => {
  it('have whole thousandths of resources', () => {
    const { object } = tester.create({ status: { capacity: { cpu: '0.5m' }, allocatable: { cpu: '1500u' } } });
    const { capacity, allocatable } = object.status as Record<string, unknown>;
    assert.deepEqual([capacity, allocatable], [{ cpu: '1m' }, { cpu: '2m' }]);
  });

  it('bring their status along, with allocatable resources', () => {
    const { object, causes } = tester.create({ status: { capacity: { cpu: '4' } }, spec: { podCIDR: '10.1.0.0/24' } });
    assertCauses(causes, []);
    const status = object.status as Record<string, unknown>;
    assert.deepEqual(status.allocatable, { cpu: '4' });
    assert.deepEqual(object.spec, { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] });
    const renamed = tester.create({ spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24'] } });
    assert.deepEqual((renamed.object.spec as { podCIDRs: string[] }).podCIDRs, ['10.1.0.0/24']);
  });

  it('name their features in order, each once', () => {
    const { object } = tester.create({});
    const good = tester.patch(
      object,
      { status: { declaredFeatures: ['A', 'B/c', 'B1/D'], config: { error: 'e' } } },
      'status',
    );
    assertCauses(good.causes, []);
    assert.equal((good.object.status as { config?: unknown }).config, undefined);
    const rule =
      "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
    const long = 'A'.repeat(254);
    const expected = [
      `Invalid | status.declaredFeatures[1] | Invalid value: "a": invalid feature name "a": ${rule}`,
      'Duplicate | status.declaredFeatures[2] | Duplicate value: "B"',
      'Invalid | status.declaredFeatures[3] | Invalid value: "A": list must be sorted alphabetically',
      `Invalid | status.declaredFeatures[4] | Invalid value: "${long}": invalid feature name "${long}": must be no more than 253 characters`,
    ];
    const declaredFeatures = ['B', 'a', 'B', 'A', long];
    assertCauses(tester.patch(object, { status: { declaredFeatures } }, 'status').causes, expected);
    assertCauses(tester.create({ status: { declaredFeatures } }).causes, expected);
  });

  const bad: [string, Record<string, unknown>, string[]][] = [
    [
      'bad taints',
      {
        spec: {
          taints: [
            { key: '', effect: 'NoSchedule' },
            { key: 'a', value: '-', effect: '' },
            { key: 'b', effect: 'Odd' },
            { key: 'c', effect: 'NoExecute' },
            { key: 'c', effect: 'NoExecute' },
          ],
        },
      },
      [
        'Invalid | metadata.taints[0].key | Invalid value: "": name part must be non-empty',
        'Invalid | metadata.taints[0].key | Invalid value: "": name part must consist',
        'Invalid | metadata.taints[1].value | Invalid value: "-": a valid label',
        'Required | metadata.taints[1].effect | Required value',
        'NotSupported | metadata.taints[2].effect | Unsupported value: "Odd": supported values: "NoSchedule", "Prefer',
        'Duplicate | metadata.taints[4] | Duplicate value: {"Key":"c","Value":"","Effect":"NoExecute","TimeAdded":null}: taints must be unique by',
      ],
    ],
    [
      'impossible amounts',
      { status: { capacity: { cpu: '-1', 'example.com/gpu': '500m' }, allocatable: { pods: '1500m' } } },
      [
        'Invalid | status.capacity.cpu | Invalid value: "-1": must be greater than or equal to 0',
        'Invalid | status.capacity.example.com/gpu | Invalid value: "500m": must be an integer',
        'Invalid | status.allocatable.pods | Invalid value: "1500m": must be an integer',
      ],
    ],
    [
      'a range that is none',
      { spec: { podCIDRs: ['10.0.0.0/33'] } },
      [
        'Invalid | spec.podCIDRs[0] | Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      ],
    ],
    [
      'a range with bits of an address',
      { spec: { podCIDRs: ['10.0.0.1/24'] } },
      ['Invalid | spec.podCIDRs[0] | Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length'],
    ],
    [
      'two ranges of one family',
      { spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } },
      ['Invalid | spec.podCIDRs | Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one'],
    ],
    [
      'a range that is none beside another',
      { spec: { podCIDRs: ['10.0.0.0/24', 'x'] } },
      [
        'Invalid | spec.podCIDRs[1] | Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
        'InternalError | spec.podCIDRs | Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: <nil> (invalid CIDR address: x)',
        'Invalid | spec.podCIDRs | Invalid value: ["10.0.0.0/24","x"]: may specify no more than one',
      ],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  it('get their range and provider id once', () => {
    const { object } = tester.create({});
    const given = tester.patch(object, { spec: { podCIDRs: ['10.0.0.0/24', 'fd00::/64'], providerID: 'a://b' } });
    assertCauses(given.causes, []);
    assertCauses(tester.patch(given.object, { spec: { unschedulable: true } }).causes, []);
    assertCauses(tester.patch(given.object, { spec: { podCIDR: '10.9.0.0/24' } }).causes, [
      'Forbidden | spec.podCIDRs | Forbidden: node updates may not change podCIDR except from "" to valid',
    ]);
    assertCauses(tester.patch(given.object, { spec: { providerID: 'c' } }).causes, [
      'Invalid | spec.providerID | Invalid value: null: field cannot be modified once set',
    ]);
    assertCauses(tester.patch(given.object, { spec: { providerID: null } }).causes, [
      'Invalid | spec.providerID | Invalid value: null: field cannot be cleared once set',
    ]);
    assertCauses(tester.patch(given.object, { spec: { externalID: 'c' } }).causes, [
      'Forbidden | spec.externalID | Forbidden: may not be updated',
    ]);
  });

  it('change status through its own path, labels too', () => {
    const { object } = tester.create({ status: { phase: 'Running' } });
    const ordinary = tester.patch(object, { status: { phase: 'Pending' } });
    assert.equal((ordinary.object.status as { phase: string }).phase, 'Running');
    const patch = { metadata: { labels: { a: 'b' } }, spec: { unschedulable: true }, status: { phase: 'Pending' } };
    const { object: changed, causes } = tester.patch(object, patch, 'status');
    assertCauses(causes, []);
    assert.deepEqual(changed.spec, {});
    assert.deepEqual(changed.metadata.labels, { a: 'b' });
    assert.equal((changed.status as { phase: string }).phase, 'Pending');
    const twice = { type: 'InternalIP', address: '1.1.1.1' };
    assertCauses(tester.patch(object, { status: { addresses: [twice, twice] } }, 'status').causes, [
      'Duplicate | status.addresses[1] | Duplicate value: {"Type":"InternalIP","Address":"1.1.1.1"}',
    ]);
  });

  it('are shown with readiness, roles and addresses', () => {
    const { object } = tester.create({
      metadata: { labels: { [`node-role.${testNames.labelPrefix}/b`]: '', [`${testNames.labelPrefix}/role`]: 'a' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'False' }],
        addresses: [{ type: 'InternalIP', address: '1.1.1.1' }],
        nodeInfo: { kubeletVersion: 'v9', osImage: 'os', architecture: 'amd64' },
      },
    });
    const tail = ['1.1.1.1', '<none>', 'os', '<unknown> (amd64)', '<unknown>'];
    assert.deepEqual(tester.cells(object, 0), ['a', 'NotReady,SchedulingDisabled', 'a,b', '0s', 'v9', ...tail]);
    assert.deepEqual(tester.cells(tester.create({}).object, 0).slice(1, 3), ['Unknown', '<none>']);
  });
});
