import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { InvariantError } from '../../base/machinery/invariant-error.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { leaseResource } from '../../modules/coordination/lease/lease.resource.js';
import type { LeaseSpec } from '../../objects/apis/coordination/v1/lease.types.js';
import { ResourceRegistry, type StoredServedResource } from '../../objects/registry/resource-registry.js';
import { Store } from '../../objects/registry/store/store.js';
import { createPostgresStorage, type PostgresStorage } from '../../storage/postgres/postgres-storage.js';
import type { UpdateDecision } from '../../storage/storage.interface.js';
import { FencedStorage } from './fenced-storage.js';
import { TermOver } from './frame/term-over.js';
import { LeaseElector } from './lease-elector.js';
import { LeaseLock } from './lease-lock.js';
import { ManualTimers } from './testing/manual-timers.js';

const namespace = 'control-system';
const name = 'test-lease';
const retryMs = 2000;
const quiet = new Logger('error', 'text', () => {});

let postgres: TestPostgres;
let served: StoredServedResource;

before(async () => {
  postgres = await startTestPostgres();
  const registry = new ResourceRegistry();
  registry.register(leaseResource(vendorNames('k8s.io')));
  served = registry.findStoredResource('coordination.k8s.io', 'v1', 'leases') as StoredServedResource;
});

after(() => postgres.stop());

interface Candidate {
  readonly elector: LeaseElector;
  readonly storage: PostgresStorage;
  readonly lock: LeaseLock;
  readonly timers: ManualTimers;
  /** Advances this candidate's time and waits until it is idle before its next attempt. */
  pass(milliseconds: number): Promise<void>;
  stop(): Promise<void>;
}

/** The clock of a process whose event loop may be held: time passes, but no timer fires. */
class HeldTimers extends ManualTimers {
  heldMs = 0;

  override elapsed(): number {
    return super.elapsed() + this.heldMs;
  }
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** Candidates on one database, each with its own store and clock, and the current leader. */
async function setUp() {
  const databaseUrl = await postgres.createTestDatabase();
  const leading = new Set<string>();
  let most = 0;
  const candidates: Candidate[] = [];

  async function candidate(
    identity: string,
    extra: { lead?: (signal: AbortSignal) => Promise<void>; timers?: ManualTimers } = {},
  ): Promise<Candidate> {
    const storage = await createPostgresStorage({ databaseUrl });
    const timers = extra.timers ?? new ManualTimers();
    const lock = new LeaseLock(new Store(served, storage, timers), namespace, name);
    const elector = new LeaseElector({ lock, identity, timers, logger: quiet, random: () => 0 });
    const stop = new AbortController();
    const lead = async (signal: AbortSignal) => {
      leading.add(identity);
      most = Math.max(most, leading.size);
      try {
        await (extra.lead ?? untilAborted)(signal);
      } finally {
        leading.delete(identity);
      }
    };
    const ended = elector.run(lead, stop.signal);
    const resting = () => timers.waiting((milliseconds) => milliseconds <= retryMs);
    await resting();
    const made: Candidate = {
      elector,
      storage,
      lock,
      timers,
      pass: async (milliseconds: number) => {
        timers.advance(milliseconds);
        await resting();
      },
      stop: async () => {
        stop.abort();
        await ended;
      },
    };
    candidates.push(made);
    return made;
  }

  const leaseOf = async (): Promise<LeaseSpec> => {
    const found = await candidates[0]?.lock.read();
    assert.ok(found);
    return found.spec;
  };
  const end = async () => {
    for (const made of candidates) await made.stop();
    for (const made of candidates) await made.storage.stop();
    assert.equal(most, 1, 'two have led at once');
  };
  return { candidate, leading, leaseOf, end };
}

describe('LeaseElector', () => {
  it('lets one candidate lead, and the same one as long as it renews', async () => {
    const { candidate, leading, leaseOf, end } = await setUp();
    const all = await Promise.all(['a', 'b', 'c'].map((identity) => candidate(identity)));
    const [leader] = [...leading];
    const first = await leaseOf();
    assert.equal(first.holderIdentity, leader);
    assert.equal(first.leaseDurationSeconds, 15);
    assert.equal(first.leaseTransitions, 0);
    for (let round = 0; round < 12; round++) {
      await Promise.all(all.map((made) => made.pass(retryMs)));
      assert.deepEqual([...leading], [leader]);
    }
    const last = await leaseOf();
    assert.equal(last.acquireTime, first.acquireTime);
    assert.equal(last.renewTime, '2030-01-01T00:00:24.000000Z');
    assert.equal(all.filter((made) => made.elector.isLeading).length, 1);
    await end();
  });

  it('lets another candidate take over when the lease was not renewed for its duration, not before', async () => {
    const { candidate, leading, leaseOf, end } = await setUp();
    const a = await candidate('a');
    const b = await candidate('b');
    // The first candidate is frozen: its time does not pass. It must count as the leader until its lease has expired.
    for (let passed = retryMs; passed < 15_000; passed += retryMs) {
      await b.pass(retryMs);
      assert.equal(b.elector.isLeading, false);
    }
    // A frozen process does no work either.
    leading.delete('a');
    await b.pass(retryMs);
    assert.deepEqual([...leading], ['b']);
    assert.equal((await leaseOf()).leaseTransitions, 1);
    // The frozen candidate wakes up and first finds out that it no longer leads.
    await a.pass(15_000);
    assert.equal(a.elector.isLeading, false);
    assert.equal((await leaseOf()).holderIdentity, 'b');
    await end();
  });

  it('stops leading before others may begin when it cannot renew', async () => {
    const { candidate, leading, end } = await setUp();
    const a = await candidate('a');
    const b = await candidate('b');
    await a.storage.stop();
    let passed = 0;
    while (a.elector.isLeading) {
      await Promise.all([a.pass(retryMs), b.pass(retryMs)]);
      passed += retryMs;
      assert.ok(passed <= 10_000, 'still leading after the renew deadline');
    }
    assert.equal(passed, 10_000);
    assert.deepEqual([...leading], []);
    while (passed < 16_000) {
      await b.pass(retryMs);
      passed += retryMs;
    }
    assert.deepEqual([...leading], ['b']);
    await end();
  });

  it('releases the lease when it stops, after the work has ended', async () => {
    const { candidate, leading, leaseOf, end } = await setUp();
    let finishWork = () => {};
    const a = await candidate('a', {
      lead: () =>
        new Promise((resolve) => {
          finishWork = resolve;
        }),
    });
    const b = await candidate('b');
    const stopped = a.stop();
    await b.pass(retryMs);
    assert.equal((await leaseOf()).holderIdentity, 'a');
    assert.equal(b.elector.isLeading, false);
    finishWork();
    await stopped;
    assert.equal((await leaseOf()).holderIdentity, '');
    await b.pass(retryMs);
    assert.deepEqual([...leading], ['b']);
    assert.equal((await leaseOf()).leaseTransitions, 1);
    await end();
  });

  it('stops at once when it finds another holder', async () => {
    const { candidate, leading, end } = await setUp();
    const a = await candidate('a');
    const read = await a.lock.read();
    assert.ok(read);
    await a.lock.update(read, { ...read.spec, holderIdentity: 'x' } as LeaseSpec, a.timers.now());
    await a.pass(retryMs);
    assert.equal(a.elector.isLeading, false);
    assert.deepEqual([...leading], []);
    await end();
  });

  it('creates the lease again when somebody deleted it, and keeps leading', async () => {
    const { candidate, leading, leaseOf, end } = await setUp();
    const a = await candidate('a');
    const key = { resource: 'leases.coordination.k8s.io', namespace, name };
    await a.storage.guaranteedUpdate(key, {}, (live) => ({ kind: 'delete', json: live?.json ?? '' }));
    await a.pass(retryMs);
    assert.deepEqual([...leading], ['a']);
    assert.equal((await leaseOf()).holderIdentity, 'a');
    await end();
  });

  it('never takes a lease that changed since it was read', async () => {
    const { candidate, end } = await setUp();
    const a = await candidate('a');
    const read = await a.lock.read();
    assert.ok(read);
    await a.lock.update(read, { ...read.spec, leaseTransitions: 7 } as LeaseSpec, 0);
    const late = a.lock.update(read, { ...read.spec, holderIdentity: 'late' } as LeaseSpec, 0);
    await assert.rejects(late, { reason: 'Conflict' });
    const key = { resource: 'leases.coordination.k8s.io', namespace, name };
    await a.storage.guaranteedUpdate(key, {}, (live) => ({ kind: 'delete', json: live?.json ?? '' }));
    await assert.rejects(a.lock.update(read, read.spec as LeaseSpec, 0), { reason: 'Conflict' });
    await end();
  });

  it('ends the term of work that fails, and tries again', async () => {
    const { candidate, end, leaseOf } = await setUp();
    let terms = 0;
    let fail = (_error: Error) => {};
    const a = await candidate('a', {
      lead: (signal) => {
        terms++;
        if (terms > 1) return untilAborted(signal);
        return new Promise((_resolve, reject) => {
          fail = reject;
        });
      },
    });
    const idle = a.timers.nextWait();
    fail(new Error('broken'));
    await idle;
    assert.equal(a.elector.isLeading, false);
    assert.equal((await leaseOf()).holderIdentity, '');
    await a.pass(retryMs);
    assert.equal(terms, 2);
    await end();
  });

  it('begins no term during another one', async () => {
    const { candidate, leading, end } = await setUp();
    const { elector } = await candidate('a');
    assert.deepEqual([...leading], ['a']);
    await assert.rejects(elector.run(untilAborted, new AbortController().signal), InvariantError);
    assert.equal(elector.isLeading, true);
    await end();
  });

  it('refuses times that would let two lead', () => {
    const lock = new LeaseLock(new Store(served, undefined as never, new ManualTimers()), namespace, name);
    const make = (times: object) => () =>
      new LeaseElector({ lock, identity: 'a', timers: new ManualTimers(), logger: quiet, random: () => 0, ...times });
    assert.throws(make({ leaseDurationMs: 10_000 }), RangeError);
    assert.throws(make({ renewDeadlineMs: 2000 }), RangeError);
    assert.throws(make({ leaseDurationMs: 10_500 }), RangeError);
  });

  it('lets nothing be written by a leader whose event loop was held for longer than its lease', async () => {
    const { candidate, leading, end } = await setUp();
    const timers = new HeldTimers();
    let aborted = false;
    const lead = async (signal: AbortSignal) => {
      await untilAborted(signal);
      aborted = true;
    };
    const a = await candidate('a', { timers, lead });
    const b = await candidate('b');
    const storage = new FencedStorage(a.storage, () => a.elector.mayAct);
    const write = (object: string) =>
      storage.create({ resource: 'things', namespace: 'ns', name: object }, object, '{"metadata":{}}');
    await write('before');
    assert.equal(b.elector.mayAct, false);
    // No timer fires, no abort arrives: the first thing to run after the pause is the work itself, with its old plans.
    const decided = storage.guaranteedUpdate({ resource: 'things', namespace: 'ns', name: 'before' }, {}, () => {
      timers.heldMs = 11_000;
      return { kind: 'write', json: '{"metadata":{"labels":{}}}', uid: 'before' } as UpdateDecision;
    });
    await assert.rejects(decided, TermOver);
    assert.equal(b.elector.isLeading, false, 'others wait longer than the leader dares to act');
    await assert.rejects(write('after'), TermOver);
    for (let turn = 0; !aborted; turn++) {
      assert.ok(turn < 100, 'the term ends without waiting for a timer');
      await setImmediate();
    }
    // From here on nobody leads, until the second candidate takes the lease.
    leading.delete('a');
    for (let passed = 0; passed < 16_000; passed += retryMs) await b.pass(retryMs);
    assert.equal(b.elector.mayAct, true);
    await assert.rejects(write('later'), TermOver);
    const { items } = await a.storage.list({ resource: 'things', namespace: 'ns' });
    assert.deepEqual(
      items.map(({ key, json }) => `${key.name} ${json}`),
      ['before {"metadata":{}}'],
    );
    await end();
  });
});
