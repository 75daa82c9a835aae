import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { replicationControllerResource } from './replication-controller.resource.js';

const tester = new DefinitionTester(replicationControllerResource(testNames));
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'img:1' }] } };
const valid = { spec: { template } };

type Case = readonly [part: Record<string, unknown>, causes: readonly string[]];

/** New objects. */
const creates: readonly Case[] = [
  [
    {
      metadata: { labels: { q: 'r' } },
      spec: { template: template, selector: { x: 'y' }, replicas: -1, minReadySeconds: -1 },
    },
    [
      'FieldValueInvalid | spec.minReadySeconds | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.replicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.template.metadata.labels | Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    ],
  ],
  [
    { spec: {} },
    ['FieldValueRequired | spec.selector | Required value', 'FieldValueRequired | spec.template | Required value'],
  ],
  [
    { spec: { template: { spec: { containers: [{ name: 'c', image: 'img:1' }], restartPolicy: 'Never' } } } },
    [
      'FieldValueRequired | spec.selector | Required value',
      'FieldValueNotSupported | spec.template.spec.restartPolicy | Unsupported value: "Never": supported values: "Always"',
    ],
  ],
];

/** Patches of the status of a valid object. */
const statuses: readonly Case[] = [
  [
    { status: { replicas: 1, readyReplicas: 2, availableReplicas: 3, fullyLabeledReplicas: 2 } },
    [
      'FieldValueInvalid | status.fullyLabeledReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.readyReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than readyReplicas',
    ],
  ],
];

describe('rules of ReplicationController', () => {
  it('takes a valid one', () => {
    assert.deepEqual(tester.create(valid).causes, []);
  });

  for (const [body, causes] of creates) {
    it(`judges a new one with ${JSON.stringify(body)}`, () => {
      assert.deepEqual(tester.create(body).causes, causes);
    });
  }

  for (const [patch, causes] of statuses) {
    it(`judges the status ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(tester.patch(tester.create(valid).object, patch, 'status').causes, causes);
    });
  }
});
