import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testClock, testNames, testTime } from '../../../../test/support/definition-tester.js';
import { apiServiceResource } from './api-service.resource.js';

const caBundle = Buffer.from('pem').toString('base64');
const service = { namespace: 'n', name: 's' };

describe('APIService', () => {
  const tester = new DefinitionTester(apiServiceResource(testNames, testClock));
  const create = (spec: object, name = 'v1.g.example', more: object = {}) =>
    tester.create({
      metadata: { name },
      spec: { group: 'g.example', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15, ...spec },
      ...more,
    });

  it('is available at once when this server serves it', () => {
    const { object, causes } = create({}, undefined, {
      status: { conditions: [{ type: 'Available', status: 'False' }] },
    });
    assert.deepEqual(causes, []);
    assert.equal(object.metadata.generation, undefined);
    assert.deepEqual(object.status, {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: testTime,
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    });
    assert.deepEqual(tester.cells(object), ['v1.g.example', 'Local', 'True', '0s']);
  });

  it('of another server is unknown until it was checked, and has a port', () => {
    const { object, causes } = create({ service }, undefined, { status: { conditions: [{ type: 'Available' }] } });
    assert.deepEqual(causes, []);
    assert.deepEqual(object.spec, {
      service: { ...service, port: 443 },
      group: 'g.example',
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
    });
    assert.deepEqual(object.status, {});
    assert.deepEqual(tester.cells(object), ['v1.g.example', 'n/s', 'Unknown', '0s']);
    const condition = { type: 'Available', status: 'False', reason: 'MissingEndpoints' };
    const checked = tester.patch(
      object,
      { spec: { versionPriority: 1 }, status: { conditions: [condition] } },
      'status',
    );
    assert.deepEqual(checked.causes, []);
    assert.equal((checked.object.spec as { versionPriority: number }).versionPriority, 15);
    assert.deepEqual(tester.cells(checked.object), ['v1.g.example', 'n/s', 'False (MissingEndpoints)', '0s']);
    const changed = tester.patch(checked.object, { spec: { versionPriority: 1 }, status: null });
    assert.deepEqual(changed.object.status, checked.object.status);
  });

  it('refuses states that conditions do not have', () => {
    const { object } = create({ service });
    assert.deepEqual(
      tester.patch(object, { status: { conditions: [{ type: 'Available', status: 'Maybe' }] } }, 'status').causes,
      [
        'FieldValueNotSupported | status.conditions[0].status | Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
      ],
    );
  });

  const positive = 'must be positive and less than';
  const name = (actual: string, wanted: string) =>
    `FieldValueInvalid | metadata.name | Invalid value: "${actual}": must be \`spec.version+"."+spec.group\`: "${wanted}"`;
  const cases: readonly (readonly [title: string, spec: object, name: string, causes: readonly string[]])[] = [
    ['the core group', { group: '' }, 'v1.', []],
    ['a name that is not of the group version', {}, 'other', [name('other', 'v1.g.example')]],
    [
      'a name that is no segment of a path',
      {},
      'v1.g/x',
      [`FieldValueInvalid | metadata.name | Invalid value: "v1.g/x": may not contain '/'`],
    ],
    [
      'another version of the core group',
      { group: '', version: 'v2' },
      'v2.',
      [
        'FieldValueRequired | spec.group | Required value: only v1 may have an empty group and it better be legacy kube',
      ],
    ],
    [
      'priorities out of range',
      { groupPriorityMinimum: 0, versionPriority: 1001 },
      'v1.g.example',
      [
        `FieldValueInvalid | spec.groupPriorityMinimum | Invalid value: 0: ${positive} 20000`,
        `FieldValueInvalid | spec.versionPriority | Invalid value: 1001: ${positive} 1000`,
      ],
    ],
    ['the highest priorities', { groupPriorityMinimum: 20_000, versionPriority: 1000 }, 'v1.g.example', []],
    [
      'a local one with a way to check a server',
      { caBundle, insecureSkipTLSVerify: true },
      'v1.g.example',
      [
        'FieldValueInvalid | spec.caBundle | Invalid value: "3 bytes": local APIServices may not have a caBundle',
        'FieldValueInvalid | spec.insecureSkipTLSVerify | Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
      ],
    ],
    [
      'a service without names',
      { service: { port: 70_000 } },
      'v1.g.example',
      [
        'FieldValueRequired | spec.service.namespace | Required value',
        'FieldValueRequired | spec.service.name | Required value',
        'FieldValueInvalid | spec.service.port | Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
      ],
    ],
    ['a service with a bundle', { service, caBundle }, 'v1.g.example', []],
    [
      'a bundle that would not be used',
      { service, caBundle, insecureSkipTLSVerify: true },
      'v1.g.example',
      ['FieldValueInvalid | spec.insecureSkipTLSVerify | Invalid value: true: may not be true if caBundle is present'],
    ],
  ];
  for (const [title, spec, objectName, causes] of cases) {
    it(`judges ${title}`, () => assert.deepEqual(create(spec, objectName).causes, causes));
  }

  it('judges names of groups and versions', () => {
    const { causes } = create({ group: 'G', version: '1' }, '1.G');
    assert.deepEqual(
      causes.map((cause) => cause.split(' | ').slice(0, 2)),
      [
        ['FieldValueInvalid', 'spec.group'],
        ['FieldValueInvalid', 'spec.version'],
      ],
    );
  });
});
