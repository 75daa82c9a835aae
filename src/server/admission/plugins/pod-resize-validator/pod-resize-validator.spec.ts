import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes } from '../../../../../test/support/admission-attributes.js';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { NodeDeclaredFeatureValidator } from '../node-declared-feature-validator/node-declared-feature-validator.js';
import { PodResizeValidator } from './pod-resize-validator.js';

const nodes: Readonly<Record<string, object>> = {
  small: { metadata: { name: 'small' }, status: { allocatable: { cpu: '1', memory: '1Gi' } } },
  win: { metadata: { name: 'win', labels: { 'kubernetes.io/os': 'windows' } }, status: {} },
  able: {
    metadata: { name: 'able' },
    status: {
      declaredFeatures: ['InPlacePodLevelResourcesVerticalScaling', 'InPlacePodVerticalScalingInitContainers'],
    },
  },
};
const objects = { read: async (_of: unknown, _in: string, name: string) => nodes[name] as ApiObject | undefined };

function pod(nodeName: string, generation: number, spec: object) {
  return { metadata: { name: 'p', generation }, spec: { nodeName, ...spec } };
}

const requests = (cpu: string, memory = '1Mi') => ({
  containers: [{ name: 'c', resources: { requests: { cpu, memory } } }],
});

describe('resizes of placed pods', () => {
  const ofNode = new PodResizeValidator(objects, vendorNames('k8s.io'));
  const ofFeatures = new NodeDeclaredFeatureValidator(objects);

  async function refusal(
    plugin: typeof ofNode | typeof ofFeatures,
    oldObject: object,
    object: object,
    subresource = 'resize',
  ) {
    try {
      await plugin.validate(admissionAttributes({ object, oldObject, subresource, name: 'p' }));
      return undefined;
    } catch (error) {
      assert.ok(error instanceof StatusError);
      return [error.code, error.message, error.details?.causes];
    }
  }

  it('stay within what the node has for pods', async () => {
    const old = pod('small', 1, requests('100m'));
    assert.equal(await refusal(ofNode, old, pod('small', 2, requests('1'))), undefined);
    assert.deepEqual(await refusal(ofNode, old, pod('small', 2, requests('1500m', '2Gi'))), [
      403,
      'pods "p" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 1500, allocatable: 1000; memory, requested: 2147483648, allocatable: 1073741824',
      [{ reason: 'NodeCapacity' }],
    ]);
    // Allowed: an irrelevant change; a pod without a node; another subresource.
    assert.equal(await refusal(ofNode, old, pod('small', 1, requests('9'))), undefined);
    assert.equal(await refusal(ofNode, pod('', 1, {}), pod('', 2, requests('9'))), undefined);
    assert.equal(await refusal(ofNode, old, pod('small', 2, requests('9')), ''), undefined);
  });

  it('need a node that exists and runs Linux', async () => {
    assert.deepEqual(await refusal(ofNode, pod('win', 1, requests('1')), pod('win', 2, requests('2'))), [
      403,
      'pods "p" is forbidden: pod resize is only supported on linux nodes, node "win" is "windows"',
      [{ reason: 'UnsupportedPlatform' }],
    ]);
    const [, message] = (await refusal(ofNode, pod('gone', 1, requests('1')), pod('gone', 2, requests('2')))) ?? [];
    assert.equal(message, 'pods "p" is forbidden: node "gone" not found');
  });

  it('of the whole pod and of init containers need what the node declares', async () => {
    const init = (cpu: string, more: object = {}) => ({
      initContainers: [{ name: 'i', resources: { requests: { cpu } }, ...more }],
      resources: { requests: { cpu } },
    });
    const [code, message] = (await refusal(ofFeatures, pod('small', 1, init('1')), pod('small', 2, init('2')))) ?? [];
    assert.deepEqual(
      [code, message],
      [
        403,
        'pods "p" is forbidden: pod update requires features InPlacePodLevelResourcesVerticalScaling, InPlacePodVerticalScalingInitContainers which are not available on node "small"',
      ],
    );
    assert.equal(await refusal(ofFeatures, pod('able', 1, init('1')), pod('able', 2, init('2'))), undefined);
    const sidecar = (cpu: string) => ({ ...init(cpu, { restartPolicy: 'Always' }), resources: undefined });
    assert.equal(await refusal(ofFeatures, pod('small', 1, sidecar('1')), pod('small', 2, sidecar('2'))), undefined);
    assert.equal(await refusal(ofFeatures, pod('gone', 1, requests('1')), pod('gone', 2, requests('2'))), undefined);
  });
});
