import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { ResponseSink } from '../response-writer.js';
import { acceptsGzip, writePieces } from './compression.js';

const accepted: readonly (readonly [header: string | undefined, gzip: boolean])[] = [
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['x-gzip', true],
  ['deflate, br', false],
  ['deflate, gzip;q=0.5, br', true],
  ['gzip;q=0', false],
  ['gzip;q=0.0, *', false],
  ['*', true],
  ['*;q=0', false],
  ['identity', false],
  ['identity, gzip;q=0.5', false],
  ['identity;q=0.5, gzip', true],
  ['identity;q=0.5, gzip;q=0.5', true],
  ['identity;q=0, gzip;q=0.1', true],
  ['gzip;q=nonsense', false],
];

describe('acceptsGzip', () => {
  for (const [header, gzip] of accepted) {
    it(`${header === undefined ? 'nothing' : JSON.stringify(header)}: ${gzip ? 'yes' : 'no'}`, () => {
      assert.equal(acceptsGzip(header), gzip);
    });
  }
});

async function* numbered(count: number, size: number, onAsked: (index: number) => void = () => undefined) {
  for (let i = 0; i < count; i++) {
    onAsked(i);
    yield `${i}:`.padEnd(size, 'x');
  }
}

describe('writePieces', () => {
  for (const compressed of [false, true]) {
    it(`writes all, ${compressed ? 'compressed' : 'as it is'}`, async () => {
      const sink = new PassThrough();
      const chunks: Buffer[] = [];
      sink.on('data', (chunk: Buffer) => chunks.push(chunk));
      await writePieces(sink as unknown as ResponseSink, numbered(50, 40_000), compressed);
      const bytes = Buffer.concat(chunks);
      const text = (compressed ? gunzipSync(bytes) : bytes).toString();
      let expected = '';
      for await (const piece of numbered(50, 40_000)) expected += piece;
      assert.equal(text, expected);
      if (compressed) assert.ok(bytes.length < 20_000);
    });

    it(`asks for no more than the client takes, ${compressed ? 'compressed' : 'as it is'}`, async () => {
      let asked = 0;
      const stuck = new Writable({ highWaterMark: 1024, write: () => undefined });
      const pieces = (async function* () {
        for (let i = 0; i < 10_000; i++) {
          asked = i;
          // Not compressible.
          yield Buffer.from(Array.from({ length: 4096 }, () => Math.floor(Math.random() * 256)));
        }
      })();
      const written = writePieces(stuck as unknown as ResponseSink, pieces, compressed);
      let before = -1;
      while (asked !== before) {
        before = asked;
        for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
      assert.ok(asked < 200, `asked for ${asked} pieces`);
      stuck.destroy();
      await written;
    });

    it(`throws what the pieces throw and does not end the response, ${compressed ? 'compressed' : 'as it is'}`, async () => {
      const sink = new PassThrough();
      sink.resume();
      const pieces = (async function* () {
        yield 'a';
        throw new Error('lost');
      })();
      await assert.rejects(writePieces(sink as unknown as ResponseSink, pieces, compressed), /lost/);
      assert.equal(sink.writableEnded, false);
    });
  }
});
