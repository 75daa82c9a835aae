import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleDeployment } from '../field-set/testing/sample-kinds.js';
import { DecodeError, decode, restoreDetail, unmarshalDetail } from './index.js';

function faultOf(spec: unknown): DecodeError {
  try {
    decode(sampleDeployment, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec });
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error));
    return error;
  }
  assert.fail('the value was decoded');
}

const podSpec = (spec: unknown) => ({ template: { spec } });

test('wrong values of a strategic patch are reported by their structures', () => {
  const found = (spec: unknown) => restoreDetail(sampleDeployment, faultOf(spec));
  assert.equal(found(podSpec({ containers: { name: 'a' } })), 'cannot restore slice from map');
  assert.equal(found(podSpec([])), 'cannot restore struct from: slice');
  assert.equal(found(podSpec({ containers: [{ name: 5 }] })), 'cannot convert int64 to string');
  assert.equal(found(podSpec({ containers: [{ name: 1.5 }] })), 'cannot convert float64 to string');
  assert.equal(found(podSpec({ containers: [{ name: true }] })), 'unrecognized type: string');
  assert.equal(found({ replicas: 'two' }), 'unrecognized type: int32');
  assert.equal(found({ replicas: 1.5 }), 'cannot convert float64 to int32');
});

test('wrong values of a body are reported by their JSON types', () => {
  assert.equal(
    unmarshalDetail(sampleDeployment, faultOf({ replicas: 'two' })),
    'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
  );
});
