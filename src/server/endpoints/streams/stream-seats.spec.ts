import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StreamSeats } from './stream-seats.js';

const isFull = { code: 429 };

describe('seats of streams', () => {
  it('are limited for one user, and in all', () => {
    const seats = new StreamSeats({ all: 3, ofUser: 2 });
    const leave = seats.enter('a');
    seats.enter('a');
    assert.throws(() => seats.enter('a'), isFull);
    seats.enter('b');
    assert.throws(() => seats.enter('c'), isFull);
    leave();
    leave();
    seats.enter('c');
    assert.throws(() => seats.enter('c'), isFull);
  });
});
