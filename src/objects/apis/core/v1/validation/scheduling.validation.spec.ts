import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  judgePodSpec,
  labelRule,
  type PodCase,
  qualifiedRule,
  subdomainRule,
  valueRule,
} from '../../../../../../test/support/pod-rules.js';

const cases: readonly PodCase[] = [
  [
    'affinities',
    {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: '', operator: 'In' },
                  { key: 'a', operator: 'Exists', values: ['x'] },
                  { key: 'a', operator: 'Gt', values: ['1', '2'] },
                  { key: 'a', operator: 'Odd' },
                ],
                matchFields: [
                  { key: 'metadata.name', operator: 'In', values: ['A_'] },
                  { key: 'x', operator: 'In', values: ['a'] },
                  { key: 'metadata.name', operator: 'Exists' },
                  { key: 'metadata.name', operator: 'NotIn', values: ['a', 'b'] },
                ],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'Lt' }] } },
            { weight: 101, preference: {} },
          ],
        },
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 0,
              podAffinityTerm: {
                topologyKey: 'a b',
                namespaces: ['A'],
                labelSelector: {
                  matchLabels: { 'a b': 'c d' },
                  matchExpressions: [
                    { key: 'k', operator: 'Odd' },
                    { key: 'k', operator: 'Exists', values: ['a'] },
                    { key: '', operator: 'In', values: ['x'] },
                  ],
                },
              },
            },
          ],
        },
        podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] },
      },
    },
    [
      "FieldValueRequired | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values | Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'FieldValueInvalid | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key | Invalid value: "": name part must be non-empty',
      `FieldValueInvalid | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key | Invalid value: "": ${qualifiedRule}`,
      "FieldValueForbidden | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values | Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      "FieldValueRequired | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values | Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
      'FieldValueInvalid | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].operator | Invalid value: "Odd": not a valid selector operator',
      `FieldValueInvalid | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0] | Invalid value: "A_": ${subdomainRule}`,
      'FieldValueInvalid | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[1].key | Invalid value: "x": not a valid field selector key',
      'FieldValueInvalid | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[2].operator | Invalid value: "Exists": not a valid selector operator',
      "FieldValueRequired | spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[3].values | Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      'FieldValueInvalid | spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight | Invalid value: 0: must be in the range 1-100',
      "FieldValueRequired | spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values | Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
      'FieldValueInvalid | spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].weight | Invalid value: 101: must be in the range 1-100',
      'FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight | Invalid value: 0: must be in the range 1-100',
      `FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchLabels | Invalid value: "a b": ${qualifiedRule}`,
      `FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchLabels | Invalid value: "c d": ${valueRule}`,
      'FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[0].operator | Invalid value: "Odd": not a valid selector operator',
      "FieldValueForbidden | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[1].values | Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[2].key | Invalid value: "": name part must be non-empty',
      `FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[2].key | Invalid value: "": ${qualifiedRule}`,
      `FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.namespace | Invalid value: "A": ${labelRule}`,
      `FieldValueInvalid | spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey | Invalid value: "a b": ${qualifiedRule}`,
      'FieldValueRequired | spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey | Required value: can not be empty',
      'FieldValueInvalid | spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey | Invalid value: "": name part must be non-empty',
      `FieldValueInvalid | spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey | Invalid value: "": ${qualifiedRule}`,
    ],
  ],
  [
    'tolerations',
    {
      tolerations: [
        { key: 'a b', operator: 'Equal', value: 'x y' },
        { operator: 'Equal' },
        { key: 'a', tolerationSeconds: 1, effect: 'NoSchedule' },
        { key: 'a', operator: 'Odd' },
        { key: 'a', operator: 'Gt', value: '5' },
        { operator: 'Exists' },
      ],
    },
    [
      `FieldValueInvalid | spec.tolerations[0].key | Invalid value: "a b": ${qualifiedRule}`,
      `FieldValueInvalid | spec.tolerations[0].operator | Invalid value: "x y": ${valueRule}`,
      'FieldValueInvalid | spec.tolerations[1].operator | Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      'FieldValueInvalid | spec.tolerations[2].effect | Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      'FieldValueNotSupported | spec.tolerations[3].operator | Unsupported value: "Odd": supported values: "Equal", "Exists"',
      'FieldValueNotSupported | spec.tolerations[4].operator | Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"',
    ],
  ],
  [
    'spreading',
    {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { 'a b': 'c' } },
        },
      ],
    },
    [
      'FieldValueDuplicate | spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable} | Duplicate value: "{z, DoNotSchedule}"',
      `FieldValueInvalid | spec.topologySpreadConstraints[1].labelSelector.matchLabels | Invalid value: "a b": ${qualifiedRule}`,
    ],
  ],
];

describe('rules of scheduling', () => {
  for (const [about, part, causes] of cases) {
    it(`judges ${about}`, () => {
      assert.deepEqual(judgePodSpec(part), causes);
    });
  }
});
