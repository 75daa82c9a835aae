import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, mock } from 'node:test';
import type { ApiObject } from '../api-object.js';
import { parseExactJson } from '../json/exact-numbers.js';
import { ObjectPacker, packedEqual, packedSizeOf, sizeOfField } from './object-packer.js';
import { PackedPart, PackedParts } from './packed-parts.js';

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
    const after = packer.parts.usage.memory;
    assert.ok(after > 0);
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => pack(packer, pod(`pod-${i}`))));
    const { containers } = (first as unknown as { spec: { containers: Record<string, unknown>[] } }).spec;
    const part = Object.getOwnPropertyDescriptor(containers[0], 'env');
    assert.equal(part?.value, undefined, 'the variables are kept as they were');
    assert.ok(
      packer.parts.usage.memory < after + 20 * 4096,
      `${packer.parts.usage.memory} bytes for 21 pods, ${after} for one`,
    );
    assert.equal(others.length, 20);
  });

  it('compares packed parts by what they are, and reads two different ones once', async () => {
    const packer = new ObjectPacker(new PackedParts(0));
    const [a, again, b] = await Promise.all([pod('a'), pod('a'), pod('a', 4999)].map((one) => pack(packer, one)));
    const reads = mock.getter(PackedPart.prototype, 'value');
    try {
      assert.equal(packedEqual(a, again), true);
      assert.equal(reads.mock.callCount(), 0, 'equal parts are one');
      assert.equal(packedEqual(a?.spec, b?.spec), false);
      assert.equal(reads.mock.callCount(), 2);
      for (let i = 0; i < 5; i++) assert.equal(packedEqual(a, b), false);
      assert.equal(reads.mock.callCount(), 2, 'the result is known');
    } finally {
      reads.mock.restore();
    }
    assert.equal(packedEqual(a, pod('a')), true, 'one side may be as it came');
    assert.equal(packedEqual(a, pod('b')), false);
    assert.equal(packedEqual({ x: undefined, y: [1, { z: 2 }] }, { y: [1, { z: 2 }] }), true);
    assert.equal(packedEqual({ x: [] }, { x: {} }), false);
    assert.equal(packedEqual(parseExactJson('{"x":1.0000000000000000001}'), parseExactJson('{"x":1}')), false);
  });

  it('says how large parts are without reading them', async () => {
    const packer = new ObjectPacker();
    const packed = (await pack(packer, pod('a'))) as unknown as { spec: { containers: object[] } };
    const text = JSON.stringify(env(5000)).length;
    assert.equal(sizeOfField(packed.spec.containers[0] as object, 'env', 10), text);
    const size = packedSizeOf(packed.spec, 10_000_000);
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

  it('goes to a file with what is more than its budget, which reads the same, and says so once', async () => {
    const parts = new PackedParts(0, 40_000);
    const reports: unknown[] = [];
    parts.reportOverflow((problem) => reports.push(problem));
    const packer = new ObjectPacker(parts);
    const random = (i: number) => {
      const object = pod(`pod-${i}`, 3);
      object.metadata.annotations = { note: randomBytes(15_000).toString('base64') };
      return object;
    };
    const objects = Array.from({ length: 10 }, (_, i) => random(i));
    const packed = await Promise.all(objects.map((object) => pack(packer, object)));
    assert.deepEqual(packed, objects);
    const { memory, file, budget } = parts.usage;
    assert.ok(memory <= budget && memory > 0, `${memory} bytes in memory`);
    assert.ok(file > 100_000, `${file} bytes in the file`);
    assert.deepEqual(reports, [undefined]);
  });

  it('stays in memory where no file can be made, and says why', async () => {
    const parts = new PackedParts(0, 0, '/proc/nowhere');
    const reports: unknown[] = [];
    parts.reportOverflow((problem) => reports.push(problem));
    const packer = new ObjectPacker(parts);
    const packed = await Promise.all(['a', 'b'].map((name) => pack(packer, pod(name))));
    assert.deepEqual(packed, [pod('a'), pod('b')]);
    assert.match(String(reports), /ENOENT/);
    assert.equal(reports.length, 1);
    assert.ok(parts.usage.memory > 0);
  });

  it('tries the file again when its disk was full', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'plinth-packed-')), 'disk');
    let now = 0;
    const parts = new PackedParts(0, 0, folder, () => now);
    const reports: unknown[] = [];
    parts.reportOverflow((problem) => reports.push(problem));
    const packer = new ObjectPacker(parts);
    try {
      const objects = [await pack(packer, pod('a'))];
      mkdirSync(folder, { recursive: true });
      objects.push(await pack(packer, pod('b')));
      assert.equal(parts.usage.file, 0, 'not at once');
      now += 61_000;
      objects.push(await pack(packer, pod('c')));
      assert.ok(parts.usage.file > 0);
      assert.deepEqual(objects, [pod('a'), pod('b'), pod('c')]);
      assert.equal(reports.length, 2);
      assert.equal(reports[1], undefined);
    } finally {
      rmSync(dirname(folder), { recursive: true });
    }
  });
});
