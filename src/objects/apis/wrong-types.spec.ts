import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DecodeError,
  decode,
  type KindType,
  restoreDetail,
  unmarshalDetail,
} from '../../base/machinery/schema/index.js';
import { horizontalPodAutoscaler } from './autoscaling/v2/horizontal-pod-autoscaler.types.js';
import { pod } from './core/v1/pod.types.js';
import { service } from './core/v1/service.types.js';
import { podDisruptionBudget } from './policy/v1/pod-disruption-budget.types.js';

function faultOf(type: KindType, body: object, detailOf = unmarshalDetail): string {
  try {
    decode(type, body);
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return detailOf(type, error);
  }
  assert.fail('the body was decoded');
}

const container = (more: object) => ({ spec: { containers: [{ name: 'a', ...more }] } });

test('values of a wrong JSON type are reported by the types of the release', () => {
  const cases: readonly (readonly [type: KindType, body: object, fault: string])[] = [
    [service, { spec: { type: {} } }, 'object into Go struct field ServiceSpec.spec.type of type v1.ServiceType'],
    [
      service,
      { spec: { ipFamilies: true } },
      'bool into Go struct field ServiceSpec.spec.ipFamilies of type []v1.IPFamily',
    ],
    [
      service,
      { spec: { ipFamilies: [5] } },
      'number into Go struct field ServiceSpec.spec.ipFamilies of type v1.IPFamily',
    ],
    [
      service,
      { spec: { ports: [{ targetPort: true }] } },
      'bool into Go struct field ServicePort.spec.ports.targetPort of type int32',
    ],
    [
      pod,
      container({ livenessProbe: { httpGet: { scheme: [] } } }),
      'array into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.scheme of type v1.URIScheme',
    ],
    [
      pod,
      { spec: { ephemeralContainers: [{ image: 1 }] } },
      'number into Go struct field EphemeralContainer.spec.ephemeralContainers.EphemeralContainerCommon.image of type string',
    ],
    [
      pod,
      { spec: { volumes: [{ configMap: { name: 1 } }] } },
      'number into Go struct field ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.LocalObjectReference.name of type string',
    ],
    [
      pod,
      container({ resources: { limits: true } }),
      'bool into Go struct field ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList',
    ],
    [
      podDisruptionBudget,
      { spec: { minAvailable: 0.5 } },
      'number 0.5 into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32',
    ],
    [
      pod,
      { metadata: { creationTimestamp: {} } },
      'object into Go struct field ObjectMeta.metadata.creationTimestamp of type string',
    ],
  ];
  for (const [type, body, fault] of cases) assert.equal(faultOf(type, body), `json: cannot unmarshal ${fault}`);
});

test('a value with a parser of its own is reported before values of a wrong JSON type', () => {
  const time = 'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"';
  assert.equal(faultOf(horizontalPodAutoscaler, { status: { currentReplicas: 0.5, lastScaleTime: '' } }), time);
  assert.match(faultOf(pod, container({ image: 5, resources: { limits: { cpu: true } } })), /^quantities must match/);
  assert.equal(
    faultOf(pod, { spec: { hostname: 5, subdomain: {} } }),
    'json: cannot unmarshal number into Go struct field PodSpec.spec.hostname of type string',
  );
});

test('in a strategic merge patch, such a value is reported by its parser alone', () => {
  const restored = (body: object) => faultOf(podDisruptionBudget, body, restoreDetail);
  const fault = (found: string, type: string) => `json: cannot unmarshal ${found} into Go value of type ${type}`;
  assert.equal(restored({ spec: { minAvailable: true } }), fault('bool', 'int32'));
  assert.equal(restored({ spec: { minAvailable: 0.5 } }), fault('number 0.5', 'int32'));
  assert.equal(restored({ metadata: { creationTimestamp: 5 } }), fault('number', 'string'));
  assert.equal(restored({ status: { conditions: [{ lastTransitionTime: {} }] } }), fault('object', 'string'));
});

test('in a strategic merge patch, an enum is reported by its own type only for whole numbers', () => {
  const restored = (spec: object) => faultOf(service, { spec }, restoreDetail);
  assert.equal(restored({ type: 5 }), 'cannot convert int64 to v1.ServiceType');
  assert.equal(restored({ ipFamilies: [1] }), 'cannot convert int64 to v1.IPFamily');
  for (const sessionAffinity of [1.5, true, {}])
    assert.equal(restored({ sessionAffinity }), 'unrecognized type: string');
});
