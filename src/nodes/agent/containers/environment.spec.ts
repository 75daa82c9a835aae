import assert from 'node:assert/strict';
import { it } from 'node:test';
import { containerEnvironment, type EnvironmentInput } from './environment.js';
import { StartSize } from './start-size.js';

it('variables that refer to each other again and again do not fill the memory of the agent', async () => {
  const of = (env: readonly object[], data: Record<string, string> = {}) =>
    containerEnvironment({
      ...{ pod: { metadata: {}, spec: {} }, container: { name: 'c', env, envFrom: [{ configMapRef: { name: 'm' } }] } },
      ...{ objects: { configMap: async () => ({ data }) }, services: new Map(), size: new StartSize() },
    } as unknown as EnvironmentInput);
  const doubled = Array.from({ length: 60 }, (_, i) => ({ name: `V${i + 1}`, value: `$(V${i})$(V${i})` }));
  const message = 'the arguments and the environment are larger than a program can start with';
  await assert.rejects(of([{ name: 'V0', value: 'x' }, ...doubled]), { message });
  // Each is small enough, all together are not.
  const copies = Array.from({ length: 1000 }, (_, i) => ({ name: `C${i}`, value: '$(key)' }));
  await assert.rejects(of(copies, { key: 'x'.repeat(10_000) }), { message });
  const references = copies.map(({ name }) => ({ name, valueFrom: { configMapKeyRef: { name: 'm', key: 'key' } } }));
  await assert.rejects(of(references, { key: 'x'.repeat(10_000) }), { message });
  const found = await of(copies.slice(0, 100), { key: 'x'.repeat(10_000) });
  assert.equal(found.get('C99')?.length, 10_000);
});
