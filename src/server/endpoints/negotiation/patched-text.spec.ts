import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service } from '../../../objects/apis/core/v1/service.types.js';
import { patchedText } from './patched-text.js';

test('unchanged parts have their fields in declared order and keys of maps sorted, changed parts sorted names', () => {
  const live = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      labels: { b: '2', a: '1' },
      managedFields: [{ operation: 'Update', manager: 'm' }],
      uid: 'u',
      name: 'n',
    },
    spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP' }] },
  };
  const patched = { ...live, spec: { ...live.spec, clusterIP: 'x', bogus: undefined } };
  assert.equal(
    patchedText(service, patched, live),
    '{"apiVersion":"v1","kind":"Service","metadata":{"name":"n","uid":"u","labels":{"a":"1","b":"2"},' +
      '"managedFields":[{"manager":"m","operation":"Update"}]},' +
      '"spec":{"clusterIP":"x","ports":[{"protocol":"TCP","port":80}],"type":"ClusterIP"}}',
  );
});
