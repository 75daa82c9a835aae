import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { percentRule, qualifiedRule, subdomainRule } from '../../../../test/support/pod-rules.js';
import { type Case, selector, selectorCases, template } from '../../../../test/support/workload-cases.js';
import { deploymentResource } from './deployment.resource.js';

const tester = new DefinitionTester(deploymentResource(testNames));
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
        selector,
        template: {
          ...template,
          spec: {
            ...template.spec,
            resources: { limits: { 'hugepages-1Gi': '1536Mi', memory: '1Gi' } },
            containers: [{ name: 'c', image: 'i', resources: { limits: { 'hugepages-2Mi': '3Mi', memory: '1Gi' } } }],
          },
        },
      },
    },
    [
      'FieldValueInvalid | spec.template.spec.containers[0].resources.limits[hugepages-2Mi] | Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'FieldValueInvalid | spec.template.spec.resources.limits[hugepages-1Gi] | Invalid value: "1536Mi": 1536Mi is not positive integer multiple of hugepages-1Gi',
    ],
  ],
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
      'FieldValueInvalid | spec.revisionHistoryLimit | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.progressDeadlineSeconds | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.progressDeadlineSeconds | Invalid value: -1: must be greater than minReadySeconds',
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
  [
    {
      spec: { selector: selector, template: template, strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
    },
    [
      "FieldValueForbidden | spec.strategy.rollingUpdate | Forbidden: may not be specified when strategy `type` is 'Recreate'",
    ],
  ],
  [
    { spec: { selector: selector, template: template, strategy: { type: 'Odd' } } },
    [
      'FieldValueNotSupported | spec.strategy | Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    { spec: { selector: selector, template: template, strategy: { rollingUpdate: { maxSurge: 'x' } } } },
    [`FieldValueInvalid | spec.strategy.rollingUpdate.maxSurge | Invalid value: "x": ${percentRule}`],
  ],
  [
    {
      spec: {
        selector: selector,
        template: template,
        strategy: { rollingUpdate: { maxUnavailable: '101%', maxSurge: '200%' } },
      },
    },
    [
      'FieldValueInvalid | spec.strategy.rollingUpdate.maxUnavailable | Invalid value: "101%": must not be greater than 100%',
    ],
  ],
  [
    { spec: { selector: selector, template: template, strategy: { rollingUpdate: { maxUnavailable: -1 } } } },
    [
      'FieldValueInvalid | spec.strategy.rollingUpdate.maxUnavailable | Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
  [
    {
      spec: {
        selector: selector,
        template: template,
        strategy: { rollingUpdate: { maxUnavailable: '0%', maxSurge: 0 } },
      },
    },
    [
      'FieldValueInvalid | spec.strategy.rollingUpdate.maxUnavailable | Invalid value: "0%": may not be 0 when `maxSurge` is 0',
    ],
  ],
  [
    { spec: { selector: selector, template: template, strategy: {}, minReadySeconds: 700 } },
    ['FieldValueInvalid | spec.progressDeadlineSeconds | Invalid value: 600: must be greater than minReadySeconds'],
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
      'FieldValueInvalid | status.observedGeneration | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.replicas | Invalid value: -3: must be greater than or equal to 0',
      'FieldValueInvalid | status.updatedReplicas | Invalid value: -3: must be greater than or equal to 0',
      'FieldValueInvalid | status.readyReplicas | Invalid value: -2: must be greater than or equal to 0',
      'FieldValueInvalid | status.availableReplicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.unavailableReplicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.collisionCount | Invalid value: -1: must be greater than or equal to 0',
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
      'FieldValueInvalid | status.updatedReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.readyReplicas | Invalid value: 2: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than status.replicas',
      'FieldValueInvalid | status.availableReplicas | Invalid value: 3: cannot be greater than readyReplicas',
    ],
  ],
];

describe('rules of Deployment', () => {
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
