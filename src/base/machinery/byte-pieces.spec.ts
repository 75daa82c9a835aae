import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BytePieces } from './byte-pieces.js';

test('joins what was added, whatever the sizes', () => {
  const sizes = [1, 5000, ...Array<number>(700).fill(1), 0, 1023, 1024, ...Array<number>(300).fill(7), 2000, 3];
  const sent = sizes.map((size, i) => Buffer.alloc(size, i % 251));
  const pieces = new BytePieces();
  for (const piece of sent) pieces.add(piece);
  const whole = Buffer.concat(sent);
  assert.equal(pieces.length, whole.length);
  assert.ok(pieces.join().equals(whole));
});

test('a single piece is not copied, and no piece is an empty body', () => {
  const pieces = new BytePieces();
  assert.equal(pieces.join().length, 0);
  const only = Buffer.from('only');
  pieces.add(only);
  assert.equal(pieces.join(), only);
});

test('keeps few objects of a body in pieces of one byte', () => {
  const pieces = new BytePieces();
  const read = Buffer.alloc(64 * 1024);
  for (let i = 0; i < 100_000; i++) pieces.add(read.subarray(i % read.length, (i % read.length) + 1));
  assert.ok(pieces.pieces.length < 700, String(pieces.pieces.length));
  assert.equal(pieces.join().length, 100_000);
});
