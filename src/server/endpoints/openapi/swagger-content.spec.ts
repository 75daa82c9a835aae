import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { atOnce } from '../../../base/machinery/turns.js';
import { packInTurns } from '../negotiation/pack-in-turns.js';
import { swaggerMessage } from './document-messages.js';
import * as encoder from './encode-document.js';
import { mergedPieces, swaggerBytes, swaggerText } from './swagger-content.js';
import type { SwaggerPiece } from './swagger-document.js';

const operation = (operationId: string) => ({ get: { operationId, description: 'ä' } });
const head = { swagger: '2.0', info: { title: 'T', version: '1' } };
const pieces: readonly SwaggerPiece[] = [
  { head },
  { paths: { '/a': operation('a') }, definitions: { A: { type: 'object' }, B: { type: 'string' } } },
  { paths: { '/b': operation('b') }, definitions: {} },
  { definitions: { C: { type: 'string' } } },
];
const whole = {
  ...head,
  paths: { '/a': operation('a'), '/b': operation('b') },
  definitions: { A: { type: 'object' }, B: { type: 'string' }, C: { type: 'string' } },
};

async function all<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const part of parts) found.push(part);
  return found;
}

describe('a Swagger document in pieces', () => {
  const cases: readonly [string, readonly SwaggerPiece[], object][] = [
    ['several', pieces, whole],
    ['no paths', [{ head }], { ...head, paths: {}, definitions: {} }],
  ];
  for (const [what, given, expected] of cases) {
    it(`is the same document as a whole: ${what}`, async () => {
      assert.deepEqual(JSON.parse((await all(swaggerText(given))).join('')), expected);
      const whole = atOnce(encoder.encodeDocument(swaggerMessage, expected as Record<string, unknown>));
      assert.deepEqual(Buffer.concat(await all(swaggerBytes(encoder, given))), Buffer.from(whole));
    });
  }

  it('gets what other servers add', async () => {
    const other = {
      paths: new Map(Object.entries({ '/b': operation('not taken'), '/c': operation('c') })),
      definitions: new Map([['D', { type: 'object' }]]),
    };
    const merged = await mergedPieces(pieces, [other]);
    assert.deepEqual(JSON.parse((await all(swaggerText(merged))).join('')), {
      ...whole,
      paths: { ...whole.paths, '/c': operation('c') },
      definitions: { ...whole.definitions, D: { type: 'object' } },
    });
  });
});

describe('packing in turns', () => {
  it('keeps every part, and lets other work go on', async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    function* parts() {
      for (let i = 0; i < 20; i++) {
        for (const until = performance.now() + 6; performance.now() < until; );
        yield i % 2 === 0 ? `${i} ` : '';
      }
    }
    const { compressed, digest } = await packInTurns(parts());
    isDone = true;
    assert.equal(gunzipSync(compressed).toString(), '0 2 4 6 8 10 12 14 16 18 ');
    assert.match(digest, /^[0-9A-F]{64}$/);
    assert.ok(turns >= 15, `${turns} turns`);
  });

  it('fails with its parts', async () => {
    function* parts() {
      yield 'a';
      throw new Error('no more');
    }
    await assert.rejects(packInTurns(parts()), /no more/);
  });
});
