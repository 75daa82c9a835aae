import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { percentRule, qualifiedRule, subdomainRule } from '../../../../test/support/pod-rules.js';
import { type Case, selector, selectorCases, template } from '../../../../test/support/workload-cases.js';
import { daemonSetResource } from './daemon-set.resource.js';

const tester = new DefinitionTester(daemonSetResource(testNames));
const valid = { spec: { selector, template } };

/** New objects, with the expected causes. */
const creates: readonly Case[] = [
  ...selectorCases({ kind: 'daemonset', isRequired: false }),
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
      'FieldValueInvalid | spec.minReadySeconds | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.revisionHistoryLimit | Invalid value: -1: must be greater than or equal to 0',
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
      'FieldValueForbidden | spec.template.spec.activeDeadlineSeconds | Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
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
  [
    { spec: { selector: selector, template: template, updateStrategy: { type: 'Odd' } } },
    [
      'FieldValueNotSupported | spec.updateStrategy | Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
    ],
  ],
  [
    { spec: { selector: selector, template: template, updateStrategy: { rollingUpdate: { maxUnavailable: '200%' } } } },
    [
      'FieldValueInvalid | spec.updateStrategy.rollingUpdate.maxUnavailable | Invalid value: "200%": must not be greater than 100%',
    ],
  ],
  [
    { spec: { selector: selector, template: template, updateStrategy: { rollingUpdate: { maxUnavailable: 'x' } } } },
    [
      `FieldValueInvalid | spec.updateStrategy.rollingUpdate.maxUnavailable | Invalid value: "x": ${percentRule}`,
      'FieldValueRequired | spec.updateStrategy.rollingUpdate.maxUnavailable | Required value: cannot be 0 when maxSurge is 0',
    ],
  ],
];

/** Patches of a valid object. */
const updates: readonly Case[] = [
  [
    { spec: { selector: { matchLabels: { z: 'y' } }, template: { metadata: { labels: { z: 'y' } } } } },
    ['FieldValueInvalid | spec.selector | Invalid value: {"matchLabels":{"a":"b","z":"y"}}: field is immutable'],
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
      'FieldValueInvalid | status.currentNumberScheduled | Invalid value: -2: must be greater than or equal to 0',
      'FieldValueInvalid | status.numberMisscheduled | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.desiredNumberScheduled | Invalid value: -4: must be greater than or equal to 0',
      'FieldValueInvalid | status.numberReady | Invalid value: -3: must be greater than or equal to 0',
      'FieldValueInvalid | status.observedGeneration | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.updatedNumberScheduled | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.numberAvailable | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.numberUnavailable | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.collisionCount | Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
];

describe('rules of DaemonSet', () => {
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
