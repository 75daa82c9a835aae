import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FairQueue } from './fair-queue.js';

it('lets owners take turns, and none fill the queue', () => {
  const queue = new FairQueue<string>({
    running: 3,
    runningOfOwner: 2,
    remoteOfOwner: 3,
    waiting: 5,
    waitingOfOwner: 3,
  });
  assert.deepEqual(
    ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((job) => queue.add(job[0] as string, job)),
    [undefined, undefined, undefined, 'a4', undefined, undefined, 'a3'],
  );
  // An owner with fewer jobs displaces a job of the owner with most; an owner who would then have as many does not.
  assert.deepEqual(
    ['d1', 'e1', 'f1'].map((job) => queue.add(job[0] as string, job)),
    ['a2', 'b2', 'f1'],
  );
  for (const job of ['c1', 'd1', 'e1']) assert.equal(queue.remove(job[0] as string, job), true);
  for (const job of ['a2', 'b2', 'a3']) assert.equal(queue.add(job[0] as string, job), undefined);
  assert.equal(queue.next()?.job, 'a1');
  assert.equal(queue.next()?.job, 'b1');
  assert.equal(queue.next()?.job, 'a2');
  assert.equal(queue.next(), undefined);
  queue.done('b');
  // The first owner already has the maximum of two running jobs.
  assert.equal(queue.next()?.job, 'b2');
  assert.equal(queue.next(), undefined);
  queue.done('b');
  assert.equal(queue.next(), undefined);
  queue.done('a');
  assert.equal(queue.next()?.job, 'a3');
  assert.equal(queue.isIdle, false);
  queue.done('a');
  queue.done('a');
  assert.equal(queue.isIdle, true);
});

it('forgets a waiting job that is removed', () => {
  const queue = new FairQueue<string>({
    running: 1,
    runningOfOwner: 1,
    remoteOfOwner: 1,
    waiting: 2,
    waitingOfOwner: 2,
  });
  queue.add('a', 'a1');
  queue.add('a', 'a2');
  assert.equal(queue.remove('a', 'a1'), true);
  assert.equal(queue.remove('a', 'a1'), false);
  assert.equal(queue.next()?.job, 'a2');
  assert.equal(queue.remove('a', 'a2'), false);
  queue.done('a');
  assert.equal(queue.isIdle, true);
});

it('lets jobs of one owner wait in any number, which take no places', () => {
  const limits = { running: 1, runningOfOwner: 1, remoteOfOwner: 1, waiting: 1, waitingOfOwner: 1, unlimitedOwner: '' };
  const queue = new FairQueue<string>(limits);
  assert.deepEqual(
    ['', '', '', 'a', 'b'].map((owner) => queue.add(owner, owner)),
    [undefined, undefined, undefined, undefined, 'b'],
  );
  assert.equal(queue.next()?.owner, '');
  queue.done('');
  assert.equal(queue.next()?.owner, 'a');
});

it('lets others run while jobs wait for servers outside, and limits how many of an owner do', () => {
  const queue = new FairQueue<string>({
    running: 2,
    runningOfOwner: 2,
    remoteOfOwner: 3,
    waiting: 9,
    waitingOfOwner: 9,
  });
  for (const job of ['a1', 'a2', 'a3', 'a4', 'b1']) queue.add(job[0] as string, job);
  const next = () => queue.next()?.job;
  assert.deepEqual([next(), next(), next()], ['a1', 'b1', undefined]);
  queue.setRemote('a', true);
  assert.deepEqual([next(), next()], ['a2', undefined]);
  queue.setRemote('a', true);
  assert.deepEqual([next(), next()], ['a3', undefined]);
  queue.setRemote('a', true);
  // Three of the owner wait, so that its fourth does, too, although the thread could run it.
  assert.equal(next(), undefined);
  queue.setRemote('a', false);
  assert.equal(next(), undefined);
  queue.done('a');
  assert.equal(next(), 'a4');
  for (const owner of ['a', 'b']) queue.done(owner);
  assert.equal(queue.isIdle, false, 'two jobs still wait');
  for (let n = 0; n < 2; n++) {
    queue.setRemote('a', false);
    queue.done('a');
  }
  assert.equal(queue.isIdle, true);
});
