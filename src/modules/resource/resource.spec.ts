import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../test/support/definition-tester.js';
import { closedAuthorizer } from '../../base/machinery/authorizer.js';
import { systemClock } from '../../base/machinery/clock.js';
import { deviceClassResource } from './device-class/device-class.resource.js';
import { deviceTaintRuleResource } from './device-taint-rule/device-taint-rule.resource.js';
import { resourceClaimResource } from './resource-claim/resource-claim.resource.js';
import { resourceClaimTemplateResource } from './resource-claim-template/resource-claim-template.resource.js';
import { resourceSliceResource } from './resource-slice/resource-slice.resource.js';

const context = { names: testNames, authorizer: closedAuthorizer, objects: { read: async () => undefined } };

/** Reason and field of each cause. */
function places(causes: readonly string[]): string[] {
  return causes.map((cause) => cause.split(' | ').slice(0, 2).join(' '));
}

const claimOf = (...requests: object[]) => ({ spec: { devices: { requests } } });
const wanted = (rest: object = {}) => ({ name: 'r', exactly: { deviceClassName: 'c', ...rest } });

describe('DeviceClass', () => {
  const tester = new DefinitionTester(deviceClassResource(testNames));
  const selecting = (...expressions: string[]) => ({
    spec: { selectors: expressions.map((expression) => ({ cel: { expression } })) },
  });

  it('compiles its selectors and counts what they cost', () => {
    const loop = (inner: string, name: string) => `device.attributes["a"].all(${name}, ${inner})`;
    const { causes } = tester.create(
      selecting(
        'device.foo',
        '1',
        'device.attributes',
        loop(loop(loop(loop('x == y && z.startsWith(w)', 'w'), 'z'), 'y'), 'x'),
        'cel.bind(a, device.attributes["x"], a.b && a.c)',
        'device.capacity["a"].memory.compareTo(quantity("1Gi")) >= 0',
      ),
    );
    assert.deepEqual(
      causes.map((cause) => cause.split('\n')[0]),
      [
        'FieldValueInvalid | spec.selectors[0].cel.expression | Invalid value: "device.foo": compilation failed: ERROR: <input>:1:7: undefined field \'foo\'',
        'FieldValueInvalid | spec.selectors[1].cel.expression | Invalid value: "1": must evaluate to bool or the unknown type, not int',
        'FieldValueInvalid | spec.selectors[2].cel.expression | Invalid value: "device.attributes": must evaluate to bool or the unknown type, not map(string, map(string, google.protobuf.Any))',
        'FieldValueForbidden | spec.selectors[3].cel.expression | Forbidden: too complex, exceeds cost limit',
      ],
    );
  });

  it('leaves selectors alone that it had, and says what is declared last', () => {
    const { object } = tester.create({ spec: { extendedResourceName: 'example.com/gpu' } });
    assert.equal(object.metadata.generation, 1);
    const { causes } = tester.create({
      metadata: { name: 'Bad_Class' },
      spec: { extendedResourceName: 'cpu', config: [{ opaque: { driver: 'a b' } }, {}] },
    });
    assert.deepEqual(places(causes), [
      'FieldValueRequired spec.config[0].opaque.parameters',
      'FieldValueRequired spec.config[1].opaque',
      'FieldValueInvalid metadata.name',
      'FieldValueInvalid spec.config[0].opaque.driver',
      'FieldValueInvalid spec.extendedResourceName',
    ]);
  });
});

describe('ResourceClaim', () => {
  const tester = new DefinitionTester(resourceClaimResource(context));

  it('wants one device by default, and never changes what it wants', () => {
    const { object, causes } = tester.create(claimOf(wanted()));
    assert.deepEqual(causes, []);
    const { devices } = object.spec as { devices: object };
    assert.deepEqual(devices, {
      requests: [{ name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } }],
    });
    assert.deepEqual(tester.patch(object, claimOf(wanted({ count: 2 }))).causes, [
      'FieldValueInvalid | spec | Invalid value: null: field is immutable',
    ]);
    assert.deepEqual(tester.cells(object), ['a', 'pending', '0s']);
  });

  it('checks both parts of a request that has an exact wish and alternatives', () => {
    const choice = { name: 's', deviceClassName: 'A_', tolerations: [{ key: '!', operator: 'Exists' }] };
    const exactly = { deviceClassName: 'A_', allocationMode: 'Odd' };
    assert.deepEqual(places(tester.create(claimOf({ name: 'r', exactly, firstAvailable: [choice] })).causes), [
      'FieldValueInvalid spec.devices.requests[0]',
      'FieldValueNotSupported spec.devices.requests[0].exactly.allocationMode',
      'FieldValueInvalid spec.devices.requests[0].firstAvailable[0].deviceClassName',
      'FieldValueInvalid spec.devices.requests[0].firstAvailable[0].tolerations[0].key',
    ]);
  });

  it('names requests that are neither one thing nor the other, or have a wrong count', () => {
    const { causes } = tester.create(
      claimOf({ name: 'r' }, wanted({ deviceClassName: '', allocationMode: 'Some' }), {
        name: 'A',
        exactly: { deviceClassName: 'x', allocationMode: 'All', count: 3 },
      }),
    );
    assert.deepEqual(places(causes), [
      'FieldValueRequired spec.devices.requests[0]',
      'FieldValueRequired spec.devices.requests[1].exactly.deviceClassName',
      'FieldValueInvalid spec.devices.requests[2].name',
      'FieldValueInvalid spec.devices.requests[2].exactly.count',
      'FieldValueDuplicate spec.devices.requests[1]',
      'FieldValueNotSupported spec.devices.requests[1].exactly.allocationMode',
    ]);
  });

  it('wants attributes with a lowercase domain of at most 63 bytes', () => {
    const faults = (matchAttribute: string) =>
      tester
        .create({ spec: { devices: { requests: [wanted()], constraints: [{ matchAttribute }] } } })
        .causes.map((cause) => cause.split(' | ')[2]?.split(' must consist')[0]);
    assert.deepEqual(faults('a.example/b'), []);
    assert.deepEqual(faults('A/b'), ['Invalid value: "A": prefix: a lowercase RFC 1123 subdomain']);
    assert.deepEqual(faults(`${'a'.repeat(64)}/b`), ['Too long: may not be more than 63 bytes']);
    assert.deepEqual(faults('/'), [
      'Invalid value: "": prefix must not be empty',
      'Invalid value: "": name must not be empty',
    ]);
  });

  it('drops fields of features that are not there', () => {
    const derivedAttributes = [{ name: 'a.b/c', expression: '1' }];
    const { object, causes } = tester.create(claimOf(wanted({ derivedAttributes })));
    assert.deepEqual(causes, []);
    assert.doesNotMatch(JSON.stringify(object), /derived/);
  });

  it('keeps an allocation, and forgets the devices with it', () => {
    const { object } = tester.create(claimOf(wanted()));
    const device = { driver: 'd', pool: 'p', device: 'a' };
    const allocation = { devices: { results: [{ request: 'r', ...device }] } };
    const allocated = tester.patch(object, { status: { allocation, devices: [device] } }, 'status');
    assert.deepEqual(allocated.causes, []);
    assert.deepEqual(tester.cells(allocated.object), ['a', 'allocated', '0s']);
    const other = { devices: { results: [{ request: 'r', ...device, pool: 'q' }] } };
    assert.deepEqual(tester.patch(allocated.object, { status: { allocation: other } }, 'status').causes, [
      'FieldValueInvalid | status.allocation | Invalid value: null: field cannot be modified once set',
    ]);
    const reserved = tester.patch(
      object,
      { status: { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] } },
      'status',
    );
    assert.deepEqual(places(reserved.causes), ['FieldValueForbidden status.reservedFor']);
    const freed = tester.patch(allocated.object, { status: { allocation: null } }, 'status');
    assert.deepEqual(freed.causes, []);
    assert.deepEqual(freed.object.status, {});
  });

  it('has flat requests in v1beta1', () => {
    const beta = new DefinitionTester(resourceClaimResource(context), 'v1beta1');
    const { object, causes } = beta.create(claimOf({ name: 'r', deviceClassName: 'c', adminAccess: true }));
    assert.deepEqual(causes, []);
    assert.deepEqual((object.spec as { devices: object }).devices, {
      requests: [
        { name: 'r', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1, adminAccess: true } },
      ],
    });
  });
});

describe('ResourceClaimTemplate', () => {
  it('checks what its claims want', () => {
    const tester = new DefinitionTester(resourceClaimTemplateResource(context));
    const { causes } = tester.create({
      spec: { metadata: { labels: { 'a b': '' } }, spec: { devices: { requests: [{ name: 'x y' }] } } },
    });
    assert.deepEqual(places(causes), [
      'FieldValueInvalid spec.metadata.labels',
      'FieldValueInvalid spec.spec.devices.requests[0].name',
      'FieldValueRequired spec.spec.devices.requests[0]',
    ]);
  });
});

describe('ResourceSlice', () => {
  const tester = new DefinitionTester(resourceSliceResource(testNames, systemClock));
  const spec = { driver: 'd.example.com', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, nodeName: 'n' };

  it('keeps its driver, pool and node', () => {
    const { object, causes } = tester.create({ spec: { ...spec, devices: [{ name: 'd' }] } });
    assert.deepEqual(causes, []);
    const { causes: changed } = tester.patch(object, { spec: { driver: 'e', nodeName: 'm' } });
    assert.deepEqual(places(changed), ['FieldValueInvalid spec.driver', 'FieldValueInvalid spec.nodeName']);
    assert.deepEqual(tester.cells(object), ['a', 'n', 'd.example.com', 'p', '0s']);
  });

  it('says what is wrong with its devices', () => {
    const { causes } = tester.create({
      spec: {
        ...spec,
        nodeName: '',
        allNodes: false,
        devices: [
          {
            name: 'A',
            attributes: { 'a b': { int: 1 }, x: { int: 1, bool: true }, v: { version: '1' }, w: {} },
            capacity: { m: { value: '1', requestPolicy: { default: '1' } } },
            taints: [{ key: 'k', effect: 'X' }],
            consumesCounters: [{ counterSet: 'A', counters: {} }],
            bindingConditions: ['a'],
            nodeName: 'x',
          },
        ],
      },
    });
    assert.deepEqual(places(causes), [
      'FieldValueInvalid spec.nodeName',
      'FieldValueInvalid spec.allNodes',
      'FieldValueRequired spec',
      'FieldValueInvalid spec.devices[0].name',
      'FieldValueInvalid spec.devices[0].attributes',
      'FieldValueInvalid spec.devices[0].attributes[v].version',
      'FieldValueForbidden spec.devices[0].capacity[m].requestPolicy',
      'FieldValueInvalid spec.devices[0]',
      'FieldValueInvalid spec.devices[0].bindingFailureConditions',
      'FieldValueInvalid spec.devices[0].attributes[w]',
      'FieldValueInvalid spec.devices[0].attributes[x]',
      'FieldValueNotSupported spec.devices[0].taints[0].effect',
      'FieldValueInvalid spec.devices[0].consumesCounters[0].counterSet',
      'FieldValueRequired spec.devices[0].consumesCounters[0].counters',
    ]);
  });

  it('checks how requests of shared capacities are rounded', () => {
    const capacity = {
      m: { value: '4', requestPolicy: { default: '1', validValues: ['3', '2'] } },
      n: { value: '4', requestPolicy: { validRange: { min: '1' } } },
      o: { value: '4', requestPolicy: { default: '2', validRange: { min: '1', max: '9', step: '2' } } },
    };
    const { causes } = tester.create({
      spec: { ...spec, devices: [{ name: 'a', allowMultipleAllocations: true, capacity }] },
    });
    assert.deepEqual(
      causes.map((cause) => cause.replace('spec.devices[0].capacity', '')),
      [
        'FieldValueInvalid | [m].requestPolicy.validValues[1] | Invalid value: "2": values must be sorted in ascending order',
        'FieldValueInvalid | [m].requestPolicy.validValues | Invalid value: "1": default value is not valid according to the requestPolicy',
        'FieldValueRequired | [n].requestPolicy.default | Required value: required when validRange is defined',
        'FieldValueInvalid | [o].requestPolicy.validRange.max | Invalid value: "9": max is larger than capacity value: 4',
        'FieldValueInvalid | [o].requestPolicy.validRange.step | Invalid value: "2": value is not a multiple of a given step (2) from (1)',
      ],
    );
  });
});

describe('DeviceTaintRule', () => {
  it('notes when its effect began, in every version', () => {
    for (const version of ['v1', 'v1beta2', 'v1alpha3']) {
      const tester = new DefinitionTester(deviceTaintRuleResource(testNames, systemClock), version);
      const { object, causes } = tester.create({ spec: { taint: { key: 'k', effect: 'NoExecute' } } });
      assert.deepEqual(causes, []);
      assert.match((object.spec as { taint: { timeAdded: string } }).taint.timeAdded, /Z$/);
    }
  });
});
