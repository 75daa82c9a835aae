import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames, testStores } from '../../../../test/support/definition-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { podResource } from './pod.resource.js';

const tester = new DefinitionTester(podResource(testNames, testStores()));

function create(spec: Record<string, unknown> = {}): ApiObject {
  const { object, causes } = tester.create({ spec: { containers: [{ name: 'c', image: 'img:1' }], ...spec } });
  assert.deepEqual(causes, []);
  return object;
}

describe('pod status', () => {
  it('keeps the spec and the owners', () => {
    const patch = {
      metadata: { labels: { q: 'r' }, ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'b', uid: 'c' }] },
      spec: { nodeName: 'x' },
      status: { phase: 'Running', podIP: '1.2.3.4', qosClass: null },
    };
    const { object, causes } = tester.patch(create(), patch, 'status');
    assert.deepEqual(causes, []);
    assert.deepEqual(object.metadata.labels, { q: 'r' });
    assert.equal(object.metadata.ownerReferences, undefined);
    assert.equal((object.spec as { nodeName?: string }).nodeName, undefined);
    assert.deepEqual(object.status, {
      phase: 'Running',
      podIP: '1.2.3.4',
      podIPs: [{ ip: '1.2.3.4' }],
      qosClass: 'BestEffort',
    });
    const moved = tester.patch(object, { status: { podIP: '5.6.7.8' } }, 'status').object;
    assert.deepEqual((moved.status as { podIPs: unknown }).podIPs, [{ ip: '5.6.7.8' }]);
  });

  it('judges addresses and nominated nodes', () => {
    const bad = { status: { nominatedNodeName: 'a_b', podIPs: [{ ip: 'x' }, { ip: '1.1.1.1' }, { ip: '2.2.2.2' }] } };
    assert.deepEqual(
      tester.patch(create(), bad, 'status').causes.map((c) => c.split(' | ')[1]),
      ['status.nominatedNodeName', 'status.podIPs[0]', 'status.podIPs', 'status.podIPs'],
    );
    const broken = [{ ip: '1.2.3.4' }, { ip: 'y' }];
    const hostIps = { status: { hostIP: '1.2.3.4', hostIPs: broken } };
    assert.deepEqual(tester.patch(create(), hostIps, 'status').causes, [
      'FieldValueInvalid | status.hostIPs[1] | Invalid value: "y": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'InternalError | status.hostIPs | Internal error: failed to check for dual stack with error:invalid IP[1]: y',
      'FieldValueInvalid | status.hostIPs | Invalid value: [{"IP":"1.2.3.4"},{"IP":"y"}]: may specify no more than one IP for each IP family',
    ]);
    const bound = create({ nodeName: 'n' });
    assert.deepEqual(tester.patch(bound, { status: { nominatedNodeName: 'm' } }, 'status').causes, [
      'FieldValueForbidden | status.nominatedNodeName | Forbidden: may not be set on pods that are already bound to a node',
    ]);
    const octal = tester.patch(create(), { status: { podIPs: [{ ip: '01.2.3.4' }] } }, 'status').causes;
    assert.deepEqual(octal, [
      'FieldValueInvalid | status.podIPs[0] | Invalid value: "01.2.3.4": must not have leading 0s',
    ]);
    const dual = { status: { podIPs: [{ ip: '1.1.1.1' }, { ip: '::1' }] } };
    assert.deepEqual(tester.patch(create(), dual, 'status').causes, []);
  });

  it('refuses what no agent can mean', () => {
    const container = { name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0 };
    const twice = { resourceID: 'r', health: 'Healthy', message: 'm'.repeat(1025) };
    const devices = [{ name: 'd', resources: [{ resourceID: 'r', health: 'Odd', message: '' }, twice] }];
    const mapping = { containerName: 'c', resourceName: 'example.com/d', requestName: 'q' };
    const user = { linux: { uid: -1, gid: 2_147_483_648, supplementalGroups: [-2] } };
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{ observedGeneration: -1 }, ['observedGeneration']],
      [{ qosClass: 'Burstable' }, ['qosClass']],
      [
        { conditions: [{ type: 'A b', status: 'True', observedGeneration: -2 }] },
        ['conditions[0].observedGeneration', 'conditions[0].Type'],
      ],
      [
        { containerStatuses: [{ ...container, user, allocatedResourcesStatus: devices }] },
        [
          'containerStatuses[0].user.linux.uid',
          'containerStatuses[0].user.linux.gid',
          'containerStatuses[0].user.linux.supplementalGroups[0]',
          'containerStatuses[0].allocatedResourcesStatus[0].name',
          'containerStatuses[0].allocatedResourcesStatus[0].resources[0].health',
          'containerStatuses[0].allocatedResourcesStatus[0].resources[0].message',
          'containerStatuses[0].allocatedResourcesStatus[0].resources[1].message',
          'containerStatuses[0].allocatedResourcesStatus[0].resources[1].resourceID',
        ],
      ],
      [
        { ephemeralContainerStatuses: [{ ...container, allocatedResourcesStatus: devices }] },
        ['ephemeralContainerStatuses[0].allocatedResourcesStatus'],
      ],
      [
        { resourceClaimStatuses: [{ name: 'none', resourceClaimName: 'A' }] },
        ['resourceClaimStatuses[0].name', 'resourceClaimStatuses[0].resourceClaimName'],
      ],
      [
        { extendedResourceClaimStatus: { resourceClaimName: '', requestMappings: [] } },
        ['extendedResourceClaimStatus.requestMappings', 'extendedResourceClaimStatus.resourceClaimName'],
      ],
      [
        {
          extendedResourceClaimStatus: {
            resourceClaimName: 'a',
            requestMappings: [mapping, { ...mapping, containerName: 'z', requestName: 'A' }, mapping],
          },
        },
        [
          'extendedResourceClaimStatus.requestMappings[0].resourceName',
          'extendedResourceClaimStatus.requestMappings[1].containerName',
          'extendedResourceClaimStatus.requestName',
          'extendedResourceClaimStatus.requestMappings[2].resourceName',
          'extendedResourceClaimStatus.requestMappings[2].containerName',
          'extendedResourceClaimStatus.requestMappings[2].resourceName',
          'extendedResourceClaimStatus.requestMappings[2].requestName',
        ],
      ],
    ];
    for (const [status, places] of cases) {
      const found = tester.patch(create(), { status }, 'status').causes.map((cause) => cause.split(' | ')[1]);
      assert.deepEqual(
        found,
        places.map((place) => `status.${place}`),
        JSON.stringify(status),
      );
    }
  });

  it('knows the devices of containers by their requests and claims', () => {
    const claims = [{ name: 'a', request: 'q' }, { name: 'b' }];
    const resources = { requests: { 'example.com/d': '1' }, limits: { 'example.com/d': '1' }, claims };
    const resourceClaims = [
      { name: 'a', resourceClaimName: 'x' },
      { name: 'b', resourceClaimName: 'y' },
    ];
    const pod = create({ resourceClaims, containers: [{ name: 'c', image: 'i', resources }] });
    const causes = (name: string, container = 'c') => {
      const allocatedResourcesStatus = [{ name, resources: [{ resourceID: 'r', health: 'Healthy' }] }];
      const requestMappings = [{ containerName: 'c', resourceName: 'example.com/d', requestName: 'r' }];
      const status = {
        extendedResourceClaimStatus: { resourceClaimName: 'e', requestMappings },
        containerStatuses: [{ name: container, image: 'i', allocatedResourcesStatus }],
      };
      return tester.patch(pod, { status }, 'status').causes.map((cause) => cause.split(': ').at(-1));
    };
    for (const name of ['example.com/d', 'claim:a/q', 'claim:b', 'claim:e/r']) assert.deepEqual(causes(name), [], name);
    assert.deepEqual(causes('cpu'), ["must match one of the container's resource requests"]);
    assert.deepEqual(causes('cpu', 'unknown'), []);
    for (const name of ['claim:a', 'claim:b/q', 'claim:e', 'claim:']) assert.equal(causes(name).length, 1, name);
  });

  it('knows no user of Linux in a pod of Windows, and no ephemeral container that starts again', () => {
    const container = { name: 'c', image: 'i', user: { linux: { uid: 1, gid: 1 } } };
    const windows = create({ os: { name: 'windows' } });
    assert.deepEqual(tester.patch(windows, { status: { containerStatuses: [container] } }, 'status').causes, [
      'FieldValueForbidden | status.containerStatuses[0].user.linux | Forbidden: cannot be set for a windows pod',
    ]);
    const status = (state: object) => ({ status: { ephemeralContainerStatuses: [{ name: 'e', image: 'i', state }] } });
    const ended = tester.patch(create(), status({ terminated: { exitCode: 1 } }), 'status').object;
    assert.deepEqual(tester.patch(ended, status({ running: {}, terminated: null }), 'status').causes, [
      'FieldValueForbidden | status.ephemeralContainerStatuses[0].state | Forbidden: may not be transitioned to non-terminated state',
    ]);
  });

  it('restarts ended containers whose rules say so, and all of a pod that may start anew', () => {
    const status = (name: string, state: object) => ({ status: { containerStatuses: [{ name, image: 'i', state }] } });
    const rule = (action: string) => ({ action, exitCodes: { operator: 'In', values: [3] } });
    const causes = (restartPolicyRules: object[], exitCode: number, name = 'c') => {
      const ruled = { name: 'c', image: 'i', restartPolicy: 'Never', restartPolicyRules };
      const pod = create({ restartPolicy: 'Never', containers: [ruled, { name: 'd', image: 'i' }] });
      const ended = tester.patch(pod, status(name, { terminated: { exitCode } }), 'status').object;
      return tester.patch(ended, status(name, { running: {}, terminated: null }), 'status').causes.length;
    };
    assert.equal(causes([rule('Restart')], 3), 0);
    assert.equal(causes([rule('Restart')], 4), 1);
    assert.equal(causes([rule('Restart')], 3, 'd'), 1);
    assert.equal(causes([rule('RestartAllContainers')], 3), 0);
    assert.equal(causes([rule('RestartAllContainers')], 0, 'd'), 0);
  });

  it('does not restart ended containers', () => {
    const status = (state: object) => ({ status: { containerStatuses: [{ name: 'c', image: 'i', state }] } });
    const ended = (restartPolicy: string, exitCode: number) =>
      tester.patch(create({ restartPolicy }), status({ terminated: { exitCode } }), 'status').object;
    const again = (pod: ApiObject) => tester.patch(pod, status({ running: {}, terminated: null }), 'status').causes;
    const refusal =
      'FieldValueForbidden | status.containerStatuses[0].state | Forbidden: may not be transitioned to non-terminated state';
    assert.deepEqual(again(ended('Never', 1)), [refusal]);
    assert.deepEqual(again(ended('OnFailure', 0)), [refusal]);
    assert.deepEqual(again(ended('OnFailure', 1)), []);
    assert.deepEqual(again(ended('Always', 1)), []);
  });
});
