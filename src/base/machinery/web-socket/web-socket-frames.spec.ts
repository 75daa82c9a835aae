import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acceptOf, closeFrame, frameHead, type WebSocketEvent, WebSocketReader } from './web-socket-frames.js';

function masked(first: number, body: Buffer): Buffer {
  const head = frameHead(0, body.length);
  head[0] = first;
  head[1] = (head[1] as number) | 0x80;
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([head, mask, body.map((byte, i) => byte ^ (mask[i & 3] as number))]);
}

function readAll(bytes: Buffer, step: number): WebSocketEvent[] {
  const reader = new WebSocketReader();
  const events: WebSocketEvent[] = [];
  for (let at = 0; at < bytes.length; at += step)
    events.push(...reader.read(Buffer.from(bytes.subarray(at, at + step))));
  return events;
}

describe('frames of a WebSocket', () => {
  it('are read however they are cut', () => {
    const long = Buffer.alloc(70_000, 'x');
    const bytes = Buffer.concat([
      masked(0x02, Buffer.from('one ')),
      masked(0x89, Buffer.from('ping')),
      masked(0x80, Buffer.from('message')),
      masked(0x82, long),
      masked(0x82, Buffer.alloc(0)),
      masked(0x88, Buffer.from([3, 232])),
    ]);
    for (const step of [1, 5, 4096, 1_000_000]) {
      const messages: string[] = [];
      let [text, pings, closes] = ['', 0, 0];
      for (const event of readAll(bytes, step)) {
        if (event.type === 'ping') pings += event.bytes.toString() === 'ping' ? 1 : 0;
        else if (event.type === 'close') closes++;
        else {
          assert.equal(event.isFirst, text === '');
          text += event.bytes.toString();
          if (event.isLast) messages.push(text);
          if (event.isLast) text = '';
        }
      }
      assert.deepEqual(messages, ['one message', long.toString(), '']);
      assert.deepEqual([pings, closes], [1, 1]);
    }
  });

  it('that break the rules are refused', () => {
    const plain = Buffer.concat([frameHead(2, 3), Buffer.from('abc')]);
    assert.throws(() => readAll(plain, 100), /without a mask/);
    assert.throws(() => readAll(masked(0xc2, Buffer.from('x')), 100), /not agreed on/);
    assert.throws(() => readAll(masked(0x80, Buffer.from('x')), 100), /nothing to continue/);
    assert.throws(() => readAll(masked(0x83, Buffer.from('x')), 100), /unknown kind/);
    assert.throws(() => readAll(masked(0x8b, Buffer.from('x')), 100), /unknown kind/);
    assert.throws(() => readAll(masked(0x09, Buffer.from('x')), 100), /control frame/);
    assert.throws(() => readAll(masked(0x89, Buffer.alloc(126)), 100), /control frame/);
    assert.throws(
      () => readAll(Buffer.concat([masked(0x02, Buffer.from('x')), masked(0x82, Buffer.from('x'))]), 100),
      /within/,
    );
    const huge = Buffer.concat([Buffer.from([0x82, 0xff]), Buffer.alloc(12, 0xff)]);
    assert.throws(() => readAll(huge, 100), /too long/);
  });

  it('that close say why', () => {
    assert.deepEqual(closeFrame(1000, 'bye'), Buffer.from([0x88, 5, 3, 232, ...Buffer.from('bye')]));
    assert.equal(closeFrame(1011, 'é'.repeat(200)).length, 2 + 125);
  });

  it('answer a handshake as in RFC 6455', () => {
    assert.equal(acceptOf('dGhlIHNhbXBsZSBub25jZQ=='), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  });
});
