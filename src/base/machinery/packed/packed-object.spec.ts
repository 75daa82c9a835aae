import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../api-object.js';
import { ObjectPacker, sizeOf, sizeOfField } from './packed-object.js';

const env = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `V${i}`, value: 'x'.repeat(40) }));

function pod(name: string, envs = 5000): ApiObject {
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'n', labels: { app: 'a' }, annotations: { note: `${name}-`.repeat(10_000) } },
    spec: { nodeName: 'node', containers: [{ name: 'c', image: 'i', env: env(envs) }], volumes: [{ name }] },
    status: { phase: 'Running' },
  } as unknown as ApiObject;
}

async function pack(packer: ObjectPacker, object: ApiObject): Promise<ApiObject> {
  return packer.packed(structuredClone(object), JSON.stringify(object).length);
}

describe('ObjectPacker', () => {
  it('changes nothing for whoever reads an object', async () => {
    const packer = new ObjectPacker();
    const packed = await pack(packer, pod('a'));
    assert.deepEqual(packed, pod('a'));
    assert.equal(JSON.stringify(packed), JSON.stringify(pod('a')));
    assert.deepEqual(structuredClone(packed), pod('a'));
    assert.deepEqual({ ...packed.metadata }, pod('a').metadata);
  });

  it('keeps what is large outside of the heap, and equal parts of several objects once', async () => {
    const packer = new ObjectPacker();
    const first = await pack(packer, pod('a'));
    const after = packer.parts.bytes;
    assert.ok(after > 0);
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => pack(packer, pod(`pod-${i}`))));
    const { containers } = (first as unknown as { spec: { containers: Record<string, unknown>[] } }).spec;
    const part = Object.getOwnPropertyDescriptor(containers[0], 'env');
    assert.equal(part?.value, undefined, 'the variables are kept as they were');
    assert.ok(packer.parts.bytes < after + 20 * 4096, `${packer.parts.bytes} bytes for 21 pods, ${after} for one`);
    assert.equal(others.length, 20);
  });

  it('says how large parts are without reading them', async () => {
    const packer = new ObjectPacker();
    const packed = (await pack(packer, pod('a'))) as unknown as { spec: { containers: object[] } };
    const text = JSON.stringify(env(5000)).length;
    assert.equal(sizeOfField(packed.spec.containers[0] as object, 'env', 10), text);
    const size = sizeOf(packed.spec, 10_000_000);
    assert.ok(size > text && size < text + 1000, `${size} of ${text}`);
  });

  it('leaves small objects alone', () => {
    const packer = new ObjectPacker();
    const small = pod('a', 3);
    assert.equal(packer.packed(small, 1000), small);
  });

  it('keeps what remains of an object small whatever its form', async () => {
    const packer = new ObjectPacker();
    const wide = (depth: number): object =>
      depth === 0
        ? { text: 'y'.repeat(3900), more: 'z'.repeat(5000) }
        : Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`k${i}`, wide(depth - 1)]));
    const object = { kind: 'X', metadata: { name: 'a' }, spec: wide(2), data: { a: 'b'.repeat(10_000) } } as never;
    const packed = await pack(packer, object);
    assert.deepEqual(packed, object);
    let plain = 0;
    const walk = (value: object) => {
      for (const { value: inner } of Object.values(Object.getOwnPropertyDescriptors(value))) {
        if (typeof inner === 'string') plain += inner.length;
        else if (typeof inner === 'object' && inner !== null) walk(inner);
      }
    };
    walk(packed);
    assert.ok(plain < 40 * 1024, `${plain} characters remain`);
  });
});
