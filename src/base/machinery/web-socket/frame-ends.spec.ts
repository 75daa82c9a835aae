import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dataHead, openFrame, pingFrame } from '../spdy/spdy-frames.js';
import { FrameEnds, framedProtocol } from './frame-ends.js';
import { closeFrame, frameHead, opcodes } from './web-socket-frames.js';

function endsOf(ends: FrameEnds, bytes: Buffer, size: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    ends.pass(bytes.subarray(at, at + size));
    if (ends.isBetween) found.push(Math.min(at + size, bytes.length));
  }
  return found;
}

function sums(frames: readonly Buffer[]): number[] {
  let sum = 0;
  return frames.map(({ length }) => {
    sum += length;
    return sum;
  });
}

const masked = Buffer.concat([Buffer.from([0x82, 0x83, 1, 2, 3, 4]), Buffer.alloc(3)]);
const message = (length: number) => Buffer.concat([frameHead(opcodes.binary, length), Buffer.alloc(length, 0xff)]);

describe('the ends of frames', () => {
  const cases = {
    spdy: [
      openFrame(1, Buffer.from('headers')),
      pingFrame(2),
      dataHead(1, 0, true),
      Buffer.concat([dataHead(3, 70_000, false), Buffer.alloc(70_000, 0x80)]),
    ],
    websocket: [message(0), message(1), message(125), masked, message(126), message(65_535), message(65_536)],
  };
  for (const [protocol, frames] of Object.entries(cases)) {
    it(`are found in ${protocol}, however the bytes arrive`, () => {
      const bytes = Buffer.concat(frames);
      const all = sums(frames);
      assert.deepEqual(endsOf(new FrameEnds(protocol as 'spdy'), bytes, 1), all);
      for (const size of [3, 7, 64]) {
        const expected = all.filter((end) => end % size === 0 || end === bytes.length);
        assert.deepEqual(endsOf(new FrameEnds(protocol as 'spdy'), bytes, size), expected, `pieces of ${size}`);
      }
      assert.deepEqual(endsOf(new FrameEnds(protocol as 'spdy'), bytes, bytes.length), [bytes.length]);
    });
  }

  it('are no place for more once a WebSocket closes', () => {
    const ends = new FrameEnds('websocket');
    ends.pass(closeFrame(1000, 'done'));
    assert.equal(ends.isBetween, false);
  });

  it('are looked for in protocols with frames only', () => {
    const names = ['WebSocket', 'SPDY/3.1', 'spdy/3', 'h2c', 'SPDY/2', ''];
    assert.deepEqual(names.map(framedProtocol), ['websocket', 'spdy', 'spdy', undefined, undefined, undefined]);
  });
});
