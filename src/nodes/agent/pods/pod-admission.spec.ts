import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { admissionProblem } from './pod-admission.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object, metadata: object = {}) {
  const own = { name: 'web', namespace: 'default', uid, ...metadata };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: { containers: [], ...spec } }).value;
}

const app = (resources: object = {}) => ({ name: 'app', image: 'a', resources });

describe('admission by the node', () => {
  const node = { labels: { a: 'b' }, taints: [], allocatable: { cpu: '1', memory: '1Gi', pods: '2' } };
  const reason = (spec: object, others: object[] = []) =>
    admissionProblem(
      podOf(spec),
      others.map((each) => podOf(each)),
      node,
    )?.reason;

  it('refuses what does not fit, with a reason', () => {
    assert.equal(reason({}), undefined);
    assert.equal(reason({ nodeSelector: { a: 'c' } }), 'NodeAffinity');
    assert.equal(reason({ os: { name: 'windows' } }), 'PodOSNotSupported');
    assert.equal(reason({ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }), 'SysctlForbidden');
    const slashes = (name: string) => reason({ securityContext: { sysctls: [{ name, value: '1' }] } });
    assert.equal(slashes('kernel/shm_rmid_forced'), undefined);
    assert.equal(slashes('kernel/msgmax'), 'SysctlForbidden');
    assert.equal(reason({ containers: [app({ requests: { cpu: '2' } })] }), 'OutOfcpu');
    assert.equal(reason({}, [{}, {}]), 'OutOfpods');
    const port = { containers: [{ ...app(), ports: [{ containerPort: 80, hostPort: 80 }] }] };
    assert.equal(reason(port, [port]), 'NodePorts');
  });
});
