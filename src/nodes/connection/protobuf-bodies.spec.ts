import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { decode } from '../../base/machinery/schema/index.js';
import { encodeEnvelope, encodeProtobuf, encodeWatchFrame } from '../../base/machinery/schema/protobuf/index.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { lease } from '../../objects/apis/coordination/v1/lease.types.js';
import { pod, podList } from '../../objects/apis/core/v1/pod.types.js';
import { status } from '../../objects/apis/meta/v1/status.types.js';
import type { WatchEvent } from './bodies.js';
import { ProtobufBodies } from './protobuf-bodies.js';

const mediaType = 'application/vnd.kubernetes.protobuf';
const bodies = new ProtobufBodies(mediaType, vendorNames('k8s.io', 'kubernetes'), [pod, podList, lease, status]);

const somePod = decode(pod, {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'b', uid: 'c', labels: { d: 'e' } },
  spec: { containers: [{ name: 'f', image: 'g', resources: { limits: { cpu: '500m' } } }], nodeName: 'h' },
}).value;
const someLease = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'a' },
  spec: { holderIdentity: 'a', leaseDurationSeconds: 40, renewTime: '2026-01-02T03:04:05.000006Z' },
};
const body = encodeEnvelope('v1', 'Pod', encodeProtobuf(pod, somePod));

async function eventsOf(chunks: readonly Buffer[], contentType = `${mediaType};stream=watch`) {
  const found: WatchEvent<unknown>[] = [];
  const stream = (async function* () {
    yield* chunks;
  })();
  for await (const event of bodies.events(stream, contentType)) found.push(event);
  return found;
}

describe('ProtobufBodies', () => {
  it('sends objects of known kinds as protobuf, and reads them again', () => {
    for (const object of [somePod, someLease]) {
      const { bytes, contentType } = bodies.encode(object);
      assert.equal(contentType, mediaType);
      const read = bodies.decode(Buffer.from(bytes as Uint8Array), contentType) as typeof someLease;
      assert.equal(read.kind, object.kind);
      assert.equal(read.apiVersion, object.apiVersion);
      assert.equal(read.metadata.name, 'a');
      assert.deepEqual({ ...read, metadata: {} }, { ...object, metadata: {} });
    }
  });

  it('sends as JSON what protobuf has no place for', () => {
    for (const object of [
      { spec: {} },
      { apiVersion: 'v1', kind: 'Secret', data: {} },
      { ...somePod, spec: { ...somePod.spec, later: true } },
    ]) {
      const { bytes, contentType } = bodies.encode(object);
      assert.equal(contentType, 'application/json');
      assert.deepEqual(JSON.parse(String(bytes)), JSON.parse(JSON.stringify(object)));
    }
  });

  it('reads JSON where the server answers so', () => {
    assert.deepEqual(bodies.decode(Buffer.from('{"a":1}'), 'application/json'), { a: 1 });
  });

  it('refuses what is no object of a known kind', () => {
    const secret = encodeEnvelope('v1', 'Secret', new Uint8Array());
    assert.throws(() => bodies.decode(secret, mediaType), /unexpected Secret of v1/);
    assert.throws(() => bodies.decode(Buffer.from(`{"a":1}`), mediaType), /protobuf message/);
    assert.throws(() => bodies.decode(body.subarray(0, body.length - 30), mediaType));
  });

  it('reads events however the stream is cut into chunks', async () => {
    const failure = decode(status, { kind: 'Status', apiVersion: 'v1', code: 410, message: 'too old' }).value;
    const stream = Buffer.concat([
      encodeWatchFrame('ADDED', body),
      encodeWatchFrame('BOOKMARK', body),
      encodeWatchFrame('ERROR', encodeEnvelope('v1', 'Status', encodeProtobuf(status, failure))),
    ]);
    for (const size of [1, 3, 7, 100, stream.length]) {
      const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, i) =>
        stream.subarray(i * size, (i + 1) * size),
      );
      const events = await eventsOf(chunks);
      assert.deepEqual(
        events.map(({ type }) => type),
        ['ADDED', 'BOOKMARK', 'ERROR'],
      );
      assert.deepEqual((events[0]?.object as typeof somePod | undefined)?.spec, somePod.spec);
      assert.equal((events[2]?.object as { code: number } | undefined)?.code, 410);
    }
  });

  it('reads events as lines of JSON where the server answers so', async () => {
    const line = Buffer.from('{"type":"ADDED","object":{"a":"\u00e9"}}\n');
    const events = await eventsOf([line.subarray(0, 33), line.subarray(33)], 'application/json');
    assert.deepEqual(events, [{ type: 'ADDED', object: { a: '\u00e9' } }]);
  });

  it('ends a stream that is no watch', async () => {
    await assert.rejects(eventsOf([Buffer.from('<html><body></body></html>')]), /too long/);
    await assert.rejects(eventsOf([Buffer.from([0, 0, 0, 3, 10, 1, 65])]), /no object/);
  });

  it('keeps few objects of an event that comes in pieces of one byte', async (context: TestContext) => {
    const text = decode(pod, { ...somePod, metadata: { name: 'a', annotations: { long: 'x'.repeat(20_000) } } }).value;
    const frame = encodeWatchFrame('ADDED', encodeEnvelope('v1', 'Pod', encodeProtobuf(pod, text)));
    const concat = context.mock.method(Buffer, 'concat');
    const [event] = await eventsOf(Array.from(frame, (byte) => Buffer.of(byte)));
    assert.equal((event as WatchEvent<typeof text>).object.metadata.name, 'a');
    const most = Math.max(...concat.mock.calls.map(({ arguments: [list] }) => list.length));
    assert.ok(most < 1_000, String(most));
  });
});
