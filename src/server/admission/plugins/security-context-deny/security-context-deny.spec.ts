import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { specAfter } from '../../../../../test/support/pod-plugins.js';

describe('SecurityContextDeny', () => {
  const inContainer = (securityContext: object) => ({ containers: [{ name: 'c', securityContext }] });
  const cases: readonly (readonly [object, string | undefined])[] = [
    [{ securityContext: {} }, undefined],
    [inContainer({ privileged: true }), undefined],
    [{ securityContext: { supplementalGroups: [1] } }, 'pod.Spec.SecurityContext.SupplementalGroups is forbidden'],
    [{ securityContext: { seLinuxOptions: {} } }, 'pod.Spec.SecurityContext.SELinuxOptions is forbidden'],
    [{ securityContext: { runAsUser: 0 } }, 'pod.Spec.SecurityContext.RunAsUser is forbidden'],
    [{ securityContext: { fsGroup: 1 } }, 'pod.Spec.SecurityContext.FSGroup is forbidden'],
    [inContainer({ seLinuxOptions: {} }), 'SecurityContext.SELinuxOptions is forbidden'],
    [{ initContainers: [{ name: 'i', securityContext: { runAsUser: 1 } }] }, 'SecurityContext.RunAsUser is forbidden'],
  ];
  for (const [spec, expected] of cases) {
    it(`judges ${JSON.stringify(spec)}`, async () => {
      const result = await specAfter('SecurityContextDeny', spec);
      assert.equal(typeof result === 'string' ? result : undefined, expected);
    });
  }
});
