import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admit } from '../../../../../test/support/admission-parts.js';
import { podOf, podPlugin } from '../../../../../test/support/pod-plugins.js';

describe('the plugins that deny commands', () => {
  const connect = async (name: 'DenyEscalatingExec' | 'DenyExecOnPrivileged', spec: object, subresource = 'exec') => {
    const world = { stored: { pods: { x: podOf(spec) } } };
    return (await admit(podPlugin(name, world), { operation: 'CONNECT', subresource, object: undefined })).problem;
  };
  const privileged = { initContainers: [{ name: 'i', securityContext: { privileged: true } }] };
  const cases: readonly (readonly [object, escalating: string | undefined, privileged: string | undefined])[] = [
    [{}, undefined, undefined],
    [{ hostPID: true }, 'cannot exec into or attach to a container using host pid', undefined],
    [{ hostIPC: true }, 'cannot exec into or attach to a container using host ipc', undefined],
    [
      privileged,
      'cannot exec into or attach to a privileged container',
      'cannot exec into or attach to a privileged container',
    ],
  ];
  for (const [spec, escalating, onPrivileged] of cases) {
    it(`judge ${JSON.stringify(spec)}`, async () => {
      for (const subresource of ['exec', 'attach']) {
        assert.equal(await connect('DenyEscalatingExec', spec, subresource), escalating);
        assert.equal(await connect('DenyExecOnPrivileged', spec, subresource), onPrivileged);
      }
      assert.equal(await connect('DenyEscalatingExec', spec, 'portforward'), undefined);
    });
  }
  it('answer 404 for a missing pod', async () => {
    const { problem } = await admit(podPlugin('DenyEscalatingExec'), { operation: 'CONNECT', subresource: 'exec' });
    assert.equal(problem, '404 pods "x" not found');
  });
});
