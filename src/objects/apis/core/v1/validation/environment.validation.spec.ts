import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  envRule,
  judgePodSpec,
  keyRule,
  type PodCase,
  qualifiedRule,
  subdomainRule,
} from '../../../../../../test/support/pod-rules.js';

const cases: readonly PodCase[] = [
  [
    'files of variables, in shared volumes only',
    {
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'map', configMap: { name: 'm' } },
      ],
      containers: [
        {
          name: 'c',
          image: 'img:1',
          env: ['shared', 'map', 'none'].map((volumeName) => ({
            name: 'A',
            valueFrom: { fileKeyRef: { volumeName, path: 'x', key: 'K' } },
          })),
        },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[0].env[1].valueFrom.fileKeyRef.volumeName | Invalid value: "map": referenced volume must be of type emptyDir',
      'FieldValueNotFound | spec.containers[0].env[2].valueFrom.fileKeyRef.volumeName | Not found: "none"',
    ],
  ],
  [
    'variables and fields',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          env: [
            { name: '', value: 'x' },
            { name: 'A', valueFrom: {} },
            { name: 'B', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
            { name: 'D', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } },
            { name: 'E', valueFrom: { fieldRef: { fieldPath: '' } } },
            { name: 'F', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['A/b c']" } } },
            { name: 'G', valueFrom: { fieldRef: { fieldPath: "metadata.labels['x']" } } },
            { name: 'H', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } },
            { name: 'I', valueFrom: { fieldRef: { fieldPath: "metadata.name['x']" } } },
            { name: '..x', value: '1' },
            { name: 'a=b', value: '1' },
          ],
        },
      ],
    },
    [
      'FieldValueRequired | spec.containers[0].env[0].name | Required value',
      'FieldValueInvalid | spec.containers[0].env[1].valueFrom | Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      'FieldValueInvalid | spec.containers[0].env[2].valueFrom | Invalid value: "": may not be specified when `value` is not empty',
      'FieldValueNotSupported | spec.containers[0].env[3].valueFrom.fieldRef.fieldPath | Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      'FieldValueInvalid | spec.containers[0].env[4].valueFrom.fieldRef.fieldPath | Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      'FieldValueRequired | spec.containers[0].env[5].valueFrom.fieldRef.fieldPath | Required value',
      `FieldValueInvalid | spec.containers[0].env[6].valueFrom.fieldRef | Invalid value: "A/b c": ${qualifiedRule}`,
      'FieldValueNotSupported | spec.containers[0].env[8].valueFrom.fieldRef.fieldPath | Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      "FieldValueInvalid | spec.containers[0].env[9].valueFrom.fieldRef.fieldPath | Invalid value: \"metadata.name['x']\": error converting fieldPath: field label does not support subscript: metadata.name['x']",
      `FieldValueInvalid | spec.containers[0].env[11].name | Invalid value: "a=b": ${envRule}`,
    ],
  ],
  [
    'resources, config maps and secrets',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          env: [
            { name: 'A', valueFrom: { resourceFieldRef: { resource: '' } } },
            { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } },
            { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1Ki' } } },
            { name: 'D', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1m' } } },
            { name: 'E', valueFrom: { resourceFieldRef: { resource: 'requests.ephemeral-storage', divisor: '3' } } },
            { name: 'F', valueFrom: { configMapKeyRef: { key: '' } } },
            { name: 'G', valueFrom: { secretKeyRef: { name: 'x', key: 'a/b' } } },
            {
              name: 'H',
              valueFrom: { secretKeyRef: { name: 'x', key: 'a' }, configMapKeyRef: { name: 'x', key: 'a' } },
            },
            { name: 'I', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          ],
        },
      ],
    },
    [
      'FieldValueRequired | spec.containers[0].env[0].valueFrom.resourceFieldRef.resource | Required value',
      'FieldValueNotSupported | spec.containers[0].env[1].valueFrom.resourceFieldRef.resource | Unsupported value: "limits.gpu": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      'FieldValueInvalid | spec.containers[0].env[2].valueFrom.resourceFieldRef.divisor | Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      'FieldValueInvalid | spec.containers[0].env[3].valueFrom.resourceFieldRef.divisor | Invalid value: "limits.memory": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource',
      'FieldValueInvalid | spec.containers[0].env[4].valueFrom.resourceFieldRef.divisor | Invalid value: "requests.ephemeral-storage": only divisor\'s values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource',
      `FieldValueInvalid | spec.containers[0].env[5].valueFrom.configMapKeyRef.name | Invalid value: "": ${subdomainRule}`,
      'FieldValueRequired | spec.containers[0].env[5].valueFrom.configMapKeyRef.key | Required value',
      `FieldValueInvalid | spec.containers[0].env[6].valueFrom.secretKeyRef.key | Invalid value: "a/b": ${keyRule}`,
      'FieldValueInvalid | spec.containers[0].env[7].valueFrom | Invalid value: "": may not have more than one field specified at a time',
    ],
  ],
  [
    'whole sources',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          envFrom: [
            { prefix: '1=' },
            { configMapRef: {} },
            { secretRef: { name: '' }, configMapRef: { name: 'a' } },
            { secretRef: { name: 'ok' }, prefix: 'P_' },
            { configMapRef: { name: '-x' } },
            { secretRef: { name: 'A b' } },
          ],
        },
      ],
    },
    [
      `FieldValueInvalid | spec.containers[0].envFrom[0].prefix | Invalid value: "1=": ${envRule}`,
      'FieldValueInvalid | spec.containers[0].envFrom | Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      'FieldValueRequired | spec.containers[0].envFrom[1].configMapRef.name | Required value',
      'FieldValueRequired | spec.containers[0].envFrom[2].secretRef.name | Required value',
      'FieldValueInvalid | spec.containers[0].envFrom | Invalid value: "": may not have more than one field specified at a time',
      `FieldValueInvalid | spec.containers[0].envFrom[4].configMapRef.name | Invalid value: "-x": ${subdomainRule}`,
      `FieldValueInvalid | spec.containers[0].envFrom[5].secretRef.name | Invalid value: "A b": ${subdomainRule}`,
    ],
  ],
];

describe('rules of the environment of containers', () => {
  for (const [about, part, causes] of cases) {
    it(`judges ${about}`, () => {
      assert.deepEqual(judgePodSpec(part), causes);
    });
  }
});
