import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { qualifiedRule, subdomainRule } from '../../../../test/support/pod-rules.js';
import { type Case, selector, selectorCases, template } from '../../../../test/support/workload-cases.js';
import { replicaSetResource } from './replica-set.resource.js';

const tester = new DefinitionTester(replicaSetResource(testNames));
const valid = { spec: { selector, template } };

/** New objects, with the expected causes. */
const creates: readonly Case[] = [
  ...selectorCases({
    kind: 'deployment',
    isRequired: true,
    faulty: (text) => `FieldValueInvalid | spec.selector | Invalid value: ${text}: invalid label selector`,
  }),
  [
    {
      spec: {
        selector: selector,
        template: template,
        replicas: -1,
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
        progressDeadlineSeconds: -1,
      },
    },
    [
      'FieldValueInvalid | spec.replicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.minReadySeconds | Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    {
      spec: {
        selector: selector,
        template: {
          metadata: { labels: { a: 'b', 'x y': 'z' }, annotations: { 'x y': 'z' } },
          spec: { containers: [{ name: 'c', image: 'img:1' }], restartPolicy: 'Never', activeDeadlineSeconds: 5 },
        },
      },
    },
    [
      `FieldValueInvalid | spec.template.labels | Invalid value: "x y": ${qualifiedRule}`,
      `FieldValueInvalid | spec.template.annotations | Invalid value: "x y": ${qualifiedRule}`,
      'FieldValueNotSupported | spec.template.spec.restartPolicy | Unsupported value: "Never": supported values: "Always"',
      'FieldValueForbidden | spec.template.spec.activeDeadlineSeconds | Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
    ],
  ],
  [
    {
      spec: {
        replicas: 3,
        selector: selector,
        template: {
          metadata: { labels: { a: 'b' } },
          spec: {
            containers: [{ name: 'c', image: 'img:1' }],
            volumes: [{ name: 'v', gcePersistentDisk: { pdName: 'x' } }],
          },
        },
      },
    },
    [
      'FieldValueInvalid | spec.template.spec.volumes[0].gcePersistentDisk.readOnly | Invalid value: false: must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only',
    ],
  ],
  [
    { metadata: { name: 'A.b' }, spec: { selector: selector, template: template } },
    [`FieldValueInvalid | metadata.name | Invalid value: "A.b": ${subdomainRule}`],
  ],
];

/** Patches of a valid object. */
const updates: readonly Case[] = [
  [
    { spec: { selector: { matchLabels: { z: 'y' } }, template: { metadata: { labels: { z: 'y' } } } } },
    ['FieldValueInvalid | spec.selector | Invalid value: {"matchLabels":{"a":"b","z":"y"}}: field is immutable'],
  ],
  [
    { spec: { replicas: -5 } },
    ['FieldValueInvalid | spec.replicas | Invalid value: -5: must be greater than or equal to 0'],
  ],
];

/** Patches of the status of a valid object. */
const statuses: readonly Case[] = [
  [
    {
      status: {
        replicas: -3,
        readyReplicas: -2,
        availableReplicas: -1,
        updatedReplicas: -3,
        observedGeneration: -1,
        fullyLabeledReplicas: -1,
        unavailableReplicas: -1,
        desiredNumberScheduled: -4,
        numberReady: -3,
        currentNumberScheduled: -2,
        updatedNumberScheduled: -1,
        numberAvailable: -1,
        numberMisscheduled: -1,
        numberUnavailable: -1,
        currentReplicas: -1,
        collisionCount: -1,
      },
    },
    [
      'FieldValueInvalid | status.replicas | Invalid value: -3: must be greater than or equal to 0',
      'FieldValueInvalid | status.fullyLabeledReplicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.readyReplicas | Invalid value: -2: must be greater than or equal to 0',
      'FieldValueInvalid | status.availableReplicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.observedGeneration | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.fullyLabeledReplicas | Invalid value: -1: cannot be greater than status.replicas',
      'FieldValueInvalid | status.readyReplicas | Invalid value: -2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: -1: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: -1: cannot be greater than readyReplicas',
    ],
  ],
  [
    {
      status: {
        replicas: 1,
        readyReplicas: 2,
        availableReplicas: 3,
        updatedReplicas: 2,
        fullyLabeledReplicas: 2,
        currentReplicas: 2,
      },
    },
    [
      'FieldValueInvalid | status.fullyLabeledReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.readyReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than readyReplicas',
    ],
  ],
];

describe('rules of ReplicaSet', () => {
  it('takes a valid one', () => {
    assert.deepEqual(tester.create(valid).causes, []);
  });

  for (const [body, causes] of creates) {
    it(`judges a new one with ${JSON.stringify(body)}`, () => {
      assert.deepEqual(tester.create(body).causes, causes);
    });
  }

  for (const [patch, causes] of updates) {
    it(`judges the change ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(tester.patch(tester.create(valid).object, patch).causes, causes);
    });
  }

  for (const [patch, causes] of statuses) {
    it(`judges the status ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(tester.patch(tester.create(valid).object, patch, 'status').causes, causes);
    });
  }
});
