import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { labelRule, qualifiedRule } from '../../../../test/support/pod-rules.js';
import { type Case, selector, selectorCases, template } from '../../../../test/support/workload-cases.js';
import { statefulSetResource } from './stateful-set.resource.js';

const tester = new DefinitionTester(statefulSetResource(testNames));
const valid = { spec: { selector, template } };

/** New objects, with the expected causes. */
const creates: readonly Case[] = [
  // A claim template counts as a volume of the pods.
  [
    {
      spec: {
        selector,
        template: {
          ...template,
          spec: { containers: [{ name: 'c', image: 'img:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }] },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
    [],
  ],
  ...selectorCases({
    kind: 'statefulset',
    isRequired: true,
    faulty: (text) => `FieldValueInvalid | spec.selector | Invalid value: ${text}`,
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
      'FieldValueForbidden | spec.template.spec.activeDeadlineSeconds | Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
    ],
  ],
  [
    { metadata: { name: 'a.b' }, spec: { selector: selector, template: template } },
    ['FieldValueInvalid | metadata.name | Invalid value: "a.b": must not contain dots'],
  ],
  [
    {
      spec: {
        selector: selector,
        template: template,
        updateStrategy: { type: 'Odd' },
        podManagementPolicy: 'Parallel',
      },
    },
    [
      'FieldValueInvalid | spec.updateStrategy | Invalid value: {"Type":"Odd","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\'',
    ],
  ],
  [
    {
      spec: {
        selector: selector,
        template: template,
        updateStrategy: { type: 'OnDelete', rollingUpdate: {} },
        podManagementPolicy: 'Parallel',
      },
    },
    [
      `FieldValueInvalid | spec.updateStrategy.rollingUpdate | Invalid value: {"Partition":0,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`,
    ],
  ],
  [
    {
      spec: {
        selector: selector,
        template: template,
        updateStrategy: { rollingUpdate: { partition: -1 } },
        podManagementPolicy: 'Parallel',
      },
    },
    [
      'FieldValueInvalid | spec.updateStrategy.rollingUpdate.partition | Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    { spec: { selector: selector, template: template, podManagementPolicy: 'Odd', serviceName: 'A_' } },
    [
      "FieldValueInvalid | spec.podManagementPolicy | Invalid value: \"Odd\": must be 'OrderedReady' or 'Parallel'",
      `FieldValueInvalid | spec.serviceName | Invalid value: "A_": ${labelRule}`,
    ],
  ],
  [
    { spec: { selector: selector, template: template, volumeClaimTemplates: [{ spec: { accessModes: ['a'] } }] } },
    [
      'FieldValueNotSupported | spec.volumeClaimTemplates[0].spec.accessModes | Unsupported value: "a": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      'FieldValueRequired | spec.volumeClaimTemplates[0].spec.resources[storage] | Required value',
      'FieldValueRequired | spec.template.spec.volumes[0].persistentVolumeClaim.claimName | Required value',
      'FieldValueRequired | spec.template.spec.volumes[0].name | Required value',
    ],
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
  [
    { spec: { serviceName: 'x', podManagementPolicy: 'Parallel' } },
    [
      'FieldValueInvalid | spec.serviceName | Invalid value: "x": field is immutable',
      'FieldValueInvalid | spec.podManagementPolicy | Invalid value: "Parallel": field is immutable',
    ],
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
      'FieldValueInvalid | status.readyReplicas | Invalid value: -2: must be greater than or equal to 0',
      'FieldValueInvalid | status.currentReplicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.updatedReplicas | Invalid value: -3: must be greater than or equal to 0',
      'FieldValueInvalid | status.availableReplicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.observedGeneration | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.collisionCount | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.readyReplicas | Invalid value: -2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.currentReplicas | Invalid value: -1: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: -1: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: -1: cannot be greater than status.readyReplicas',
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
      'FieldValueInvalid | status.readyReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.currentReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.updatedReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than status.readyReplicas',
    ],
  ],
];

describe('rules of StatefulSet', () => {
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
