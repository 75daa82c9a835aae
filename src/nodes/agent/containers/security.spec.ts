import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ContainerConfigError } from './container-config-error.js';
import { containerSecurity, type SecurityInput } from './security.js';

it('a container that must not run as root is refused unless its user is known to be another one', () => {
  const ofImage = (image: { uid?: { value: number }; username: string }, runAsNonRoot = true) =>
    containerSecurity({
      pod: { metadata: { name: 'p', namespace: 'd', uid: 'u' }, spec: {} },
      container: { name: 'c', securityContext: { runAsNonRoot } },
      ...{ image, targetId: undefined, seccompFolder: '/s' },
    } as unknown as SecurityInput);
  for (const image of [
    { username: '' },
    { username: 'somebody' },
    // Runtimes that keep 32 bits of it, or take it for a signed number, would run the container as root or as nobody knows whom.
    ...[0, 2 ** 32, 2 ** 31, 2 ** 53, -1, -(2 ** 32)].map((value) => ({ uid: { value }, username: '' })),
  ])
    assert.throws(() => ofImage(image), ContainerConfigError, JSON.stringify(image));
  const words =
    'an invalid user id (4294967296). (Must be 1-(2147483647)): must be between 0 and 2147483647, inclusive';
  assert.throws(() => ofImage({ uid: { value: 2 ** 32 }, username: '' }), {
    message: `container has runAsNonRoot and image has ${words} (pod: "p_d(u)", container: c)`,
  });
  assert.deepEqual(ofImage({ uid: { value: 1000 }, username: '' }).runAsUser, { value: 1000 });
  assert.deepEqual(ofImage({ uid: { value: 2 ** 31 - 1 }, username: '' }).runAsUser, { value: 2 ** 31 - 1 });
  assert.equal(ofImage({ username: 'somebody' }, false).runAsUsername, 'somebody');
});
