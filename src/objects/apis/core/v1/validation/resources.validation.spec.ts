import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePodSpec, type PodCase } from '../../../../../../test/support/pod-rules.js';

const cases: readonly PodCase[] = [
  [
    'what can not be promised twice',
    {
      containers: [
        { name: 'c', image: 'img:1', resources: { requests: { 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' } } },
      ],
    },
    [
      'FieldValueRequired | spec.containers[0].resources.limits | Required value: Limit must be set for non overcommitable resources',
      'FieldValueRequired | spec.containers[0].resources.limits | Required value: Limit must be set for non overcommitable resources',
      'FieldValueForbidden | spec.containers[0].resources | Forbidden: HugePages require cpu or memory',
    ],
  ],
  [
    'a name of something that every map inherits',
    {
      containers: [{ name: 'c', image: 'img:1', resources: { requests: { constructor: '1' }, limits: { cpu: '1' } } }],
    },
    [
      'FieldValueInvalid | spec.containers[0].resources.requests[constructor] | Invalid value: "constructor": must be a standard resource type or fully qualified',
      'FieldValueInvalid | spec.containers[0].resources.requests[constructor] | Invalid value: "constructor": must be a standard resource for containers',
    ],
  ],
  [
    'names',
    { containers: [{ name: 'c', image: 'img:1', resources: { limits: { 'a/b/c': '1', 'requests.x.com/y': '1' } } }] },
    [
      "FieldValueInvalid | spec.containers[0].resources.limits[a/b/c] | Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
      'FieldValueInvalid | spec.containers[0].resources.limits[a/b/c] | Invalid value: "a/b/c": doesn\'t follow extended resource name standard',
      'FieldValueInvalid | spec.containers[0].resources.limits[requests.x.com/y] | Invalid value: "requests.x.com/y": doesn\'t follow extended resource name standard',
    ],
  ],
  [
    'limits that must equal requests',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          resources: { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '1' } },
        },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[0].resources.requests | Invalid value: "1": must be equal to example.com/gpu limit of 2',
    ],
  ],
  [
    'limits of containers above that of the pod, but not of init containers',
    {
      containers: [
        { name: 'c', image: 'img:1', resources: { limits: { memory: '2Gi' }, requests: { memory: '1Mi' } } },
      ],
      initContainers: [
        { name: 'i', image: 'img:1', resources: { limits: { memory: '3Gi' }, requests: { memory: '1Mi' } } },
      ],
      resources: { limits: { memory: '1Gi' }, requests: { memory: '1Gi' } },
    },
    [
      'FieldValueInvalid | spec.resources.containers[0][memory].limits | Invalid value: "2Gi": must be less than or equal to pod limits of 1Gi',
    ],
  ],
  [
    'names from elsewhere',
    {
      containers: [
        { name: 'c', image: 'img:1', resources: { limits: { pods: '1', 'requests.cpu': '1', storage: '1' } } },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[0].resources.limits[pods] | Invalid value: "pods": must be a standard resource for containers',
      'FieldValueInvalid | spec.containers[0].resources.limits[requests.cpu] | Invalid value: "requests.cpu": must be a standard resource for containers',
      'FieldValueInvalid | spec.containers[0].resources.limits[storage] | Invalid value: "storage": must be a standard resource for containers',
    ],
  ],
];

describe('rules of resources of containers', () => {
  for (const [about, part, causes] of cases) {
    it(`judges ${about}`, () => {
      assert.deepEqual(judgePodSpec(part), causes);
    });
  }
});
