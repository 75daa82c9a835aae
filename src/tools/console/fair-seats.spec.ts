import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairSeats } from './fair-seats.js';
import { NoSeat } from './no-seat.js';
import { shareOf } from './share-of.js';

const limits = { seats: 4, seatsOfUser: 2, waitingOfUser: 3, waitMs: 60_000 };

describe('seats', () => {
  it('are never all of one user, whose further calls wait and are then refused', async () => {
    const seats = new FairSeats(limits);
    const first = await seats.take('mallory');
    await seats.take('mallory');
    const order: string[] = [];
    const end = new AbortController();
    const wait = async (user: string) => {
      await seats.take(user, end.signal);
      order.push(user);
    };
    const later = [1, 2, 3].map(() => assert.rejects(wait('mallory'), /over/));
    await assert.rejects(seats.take('mallory'), NoSeat);
    await seats.take('alice');
    await seats.take('alice');
    const bob = wait('bob');
    first();
    await bob;
    assert.deepEqual(order, ['bob'], 'who has none comes before who has one');
    end.abort(new Error('over'));
    await Promise.all(later);
  });

  it('go round between those who wait, and come back once', async () => {
    const seats = new FairSeats({ ...limits, seats: 1, seatsOfUser: 1 });
    const free = await seats.take('a');
    const order: string[] = [];
    const use = async (user: string) => {
      const end = await seats.take(user);
      order.push(user);
      end();
      end();
    };
    const all = ['a', 'a', 'b', 'b', 'c'].map(use);
    free();
    await Promise.all(all);
    assert.deepEqual(order, ['b', 'c', 'a', 'b', 'a']);
    await seats.take('d');
    const late = new AbortController();
    const second = assert.rejects(seats.take('e', late.signal), /late/);
    await new Promise((resolve) => setImmediate(resolve));
    late.abort(new Error('late'));
    await second;
  });

  it('are not kept for those who leave or wait too long', async () => {
    const seats = new FairSeats({ ...limits, seats: 1, waitMs: 5 });
    const free = await seats.take('a');
    await assert.rejects(seats.take('b'), NoSeat);
    const gone = new AbortController();
    const left = assert.rejects(seats.take('b', gone.signal), /left/);
    gone.abort(new Error('left'));
    await left;
    free();
    (await seats.take('c'))();
  });

  it('count for all service accounts of a namespace together, and for unnamed users by their credentials', () => {
    const user = (name: string) => ({ name, groups: [] });
    assert.equal(shareOf(user('system:serviceaccount:a:x'), '1'), shareOf(user('system:serviceaccount:a:y'), '2'));
    assert.notEqual(shareOf(user('system:serviceaccount:a:x'), '1'), shareOf(user('system:serviceaccount:b:x'), '1'));
    assert.equal(shareOf(user('alice'), '1'), shareOf(user('alice'), '2'));
    assert.notEqual(shareOf(user(''), '1'), shareOf(user(''), '2'));
    assert.equal(shareOf(user(''), '1').includes('1'.repeat(40)), false);
  });
});
