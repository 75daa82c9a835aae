import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { refuseUserNamespace } from './user-namespace.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object, metadata: object = {}) {
  const own = { name: 'web', namespace: 'default', uid, ...metadata };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: { containers: [], ...spec } }).value;
}

describe('refuseUserNamespace', () => {
  it("refuses by name a pod whose root shall not be the machine's, and takes the others", () => {
    const handlers = [
      { name: '', features: { userNamespaces: false } },
      { name: 'new', features: { userNamespaces: true } },
    ];
    for (const [hostUsers, handler, problem] of [
      [false, '', "can't set `spec.hostUsers: false`, runtime does not support user namespaces"],
      [false, 'old', 'can\'t set `spec.hostUsers: false`, RuntimeClass handler "old" does not support user namespaces'],
      [false, 'new', "can't set `spec.hostUsers: false`, this node agent does not support user namespaces"],
      [true, '', undefined],
      [undefined, 'new', undefined],
    ] as const) {
      const refuse = () => refuseUserNamespace(podOf({ hostUsers }), handler, handlers);
      if (problem === undefined) refuse();
      else assert.throws(refuse, new Error(problem));
    }
  });
});
