import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podSpecOf } from '../../../../../test/support/pod-rules.js';
import { applyPodLevelDefaults } from './pod-level-resources.js';

const asked = { requests: { cpu: '100m' } };
const limited = { limits: { cpu: '500m', memory: '200Mi' }, requests: { cpu: '500m', memory: '200Mi' } };
const paged = { limits: { 'hugepages-2Mi': '2Mi' }, requests: { 'hugepages-2Mi': '2Mi' } };

/** Resources of the pod, resources of its containers, and the resources that release 1.37 gives the pod. */
const cases: readonly (readonly [string, object, readonly object[], object])[] = [
  ['requests are the limits', { limits: { cpu: '2' } }, [{}], { limits: { cpu: '2' }, requests: { cpu: '2' } }],
  [
    'requests are those of the containers',
    { limits: { cpu: '2' } },
    [asked, asked],
    { limits: { cpu: '2' }, requests: { cpu: '200m' } },
  ],
  ['given requests stay', { requests: { cpu: '1' } }, [asked], { requests: { cpu: '1' } }],
  [
    'limits are those of the containers, if all have one',
    { requests: { cpu: '1' } },
    [limited, limited],
    { limits: { cpu: '1', memory: '400Mi' }, requests: { cpu: '1', memory: '400Mi' } },
  ],
  [
    'limits are not below requests',
    { requests: { cpu: '3' } },
    [limited],
    { limits: { cpu: '3', memory: '200Mi' }, requests: { cpu: '3', memory: '200Mi' } },
  ],
  [
    'a container without a limit leaves the pod without one',
    { requests: { cpu: '1' } },
    [limited, {}],
    { requests: { cpu: '1', memory: '200Mi' } },
  ],
  [
    'huge pages are those of the containers',
    { limits: { memory: '1Gi' } },
    [paged, {}],
    { limits: { 'hugepages-2Mi': '2Mi', memory: '1Gi' }, requests: { 'hugepages-2Mi': '2Mi', memory: '1Gi' } },
  ],
  ['no resources stay none', {}, [limited], {}],
];

describe('applyPodLevelDefaults', () => {
  for (const [name, resources, ofContainers, expected] of cases) {
    it(name, () => {
      const containers = ofContainers.map((r, i) => ({ name: `c${i}`, image: 'i', resources: r }));
      const spec = podSpecOf({ resources, containers });
      applyPodLevelDefaults(spec);
      assert.deepEqual(spec.resources, expected);
    });
  }
});
