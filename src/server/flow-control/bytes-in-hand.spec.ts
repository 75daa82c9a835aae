import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { StatusError } from '../../base/machinery/status-error.js';
import { BytesInHand, type BytesShare } from './bytes-in-hand.js';

const limits = {
  tenantBytes: 300,
  slowTenantBytes: 500,
  totalBytes: 1000,
  waitingOfTenant: 3,
  waitingReadBytes: 400,
  slowMs: 2_000,
  restFactor: 2,
  longestRestMs: 5_000,
};

describe('the large bodies in hand', () => {
  let inHand: BytesInHand;
  let timers: { at: number; call: () => void }[];
  let now: number;
  let hasOthers: boolean;

  beforeEach(() => {
    now = 0;
    hasOthers = false;
    timers = [];
    const after = (ms: number, call: () => void) => {
      const timer = { at: now + ms, call };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    };
    inHand = new BytesInHand(limits, { elapsed: () => now, after }, () => hasOthers);
  });

  function pass(ms: number): void {
    now += ms;
    const due = timers.filter(({ at }) => at <= now);
    timers = timers.filter(({ at }) => at > now);
    for (const { call } of due) call();
  }

  const enter = (tenant: string, bytes: number, isExempt = false) =>
    inHand.enter({ tenant, bytes, waitMs: 15_000, isExempt });
  const isRefusal = (error: unknown) => error instanceof StatusError && error.code === 429;
  /** Records when a waiting share is granted. */
  function watched(order: string[], name: string, share: BytesShare): BytesShare {
    assert.ok(share.granted !== undefined, `${name} waits`);
    share.granted.then(
      () => order.push(name),
      () => order.push(`${name} refused`),
    );
    return share;
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('of a tenant wait for each other in order, and not for those of others', async () => {
    const order: string[] = [];
    const first = enter('a', 200);
    assert.equal(first.granted, undefined);
    const second = watched(order, 'second', enter('a', 200));
    watched(order, 'third', enter('a', 50));
    assert.equal(enter('b', 200).granted, undefined);
    assert.deepEqual([inHand.bytes, inHand.waiting], [400, 2]);
    first.leave();
    first.leave();
    await settled();
    assert.deepEqual(order, ['second', 'third']);
    second.leave();
    assert.deepEqual([inHand.bytes, inHand.waiting], [250, 0]);
  });

  it('may be larger than the limit, one at a time', async () => {
    const order: string[] = [];
    const first = enter('a', 900);
    assert.equal(first.granted, undefined);
    watched(order, 'second', enter('a', 1));
    first.leave();
    await settled();
    assert.deepEqual(order, ['second']);
  });

  it('have a limit in common, for which tenants take turns, and administrators have none', async () => {
    const order: string[] = [];
    const held = ['a', 'b', 'c', 'd'].map((tenant) => enter(tenant, 250));
    for (const tenant of ['e', 'e', 'f']) watched(order, tenant, enter(tenant, 250));
    assert.equal(enter('admin', 250, true).granted, undefined);
    held[0]?.leave();
    held[1]?.leave();
    await settled();
    assert.deepEqual(order, ['e']);
    held[2]?.leave();
    await settled();
    assert.deepEqual(order, ['e', 'f']);
  });

  it('are refused when too many bytes wait in memory', async () => {
    const order: string[] = [];
    const read = (tenant: string, bytes: number, isExempt = false) =>
      inHand.enter({ tenant, bytes, waitMs: 15_000, isExempt, isRead: true });
    const first = read('a', 300);
    inHand.throwIfFull('a', false);
    watched(order, 'second', read('a', 250));
    const third = watched(order, 'third', read('a', 250));
    assert.throws(() => read('a', 1), isRefusal);
    assert.throws(() => inHand.throwIfFull('a', false), isRefusal);
    inHand.throwIfFull('a', true);
    inHand.throwIfFull('b', false);
    third.leave();
    inHand.throwIfFull('a', false);
    first.leave();
    await settled();
    assert.deepEqual(order, ['third refused', 'second']);
    assert.equal(inHand.refusals, 2);
  });

  it('are refused when too many wait, or one waits too long', async () => {
    const order: string[] = [];
    const first = enter('a', 300);
    for (const name of ['1', '2', '3']) watched(order, name, enter('a', 300));
    assert.throws(() => enter('a', 300), isRefusal);
    watched(order, 'admin', enter('a', 300, true));
    first.arrived();
    pass(15_000);
    await settled();
    assert.deepEqual(order, ['1 refused', '2 refused', '3 refused']);
    assert.equal(inHand.refusals, 4);
    first.leave();
    await settled();
    assert.deepEqual(order.at(-1), 'admin');
  });

  it('hold up nothing when a client leaves while it waits', async () => {
    const order: string[] = [];
    const first = enter('a', 300);
    const second = watched(order, 'second', enter('a', 300));
    watched(order, 'third', enter('a', 300));
    second.leave();
    first.leave();
    await settled();
    assert.deepEqual(order, ['second refused', 'third']);
    assert.deepEqual([inHand.bytes, inHand.waiting], [300, 0]);
  });

  it('of slow clients let others of their tenant begin, as far as there is memory', async () => {
    const order: string[] = [];
    enter('a', 250);
    const second = watched(order, 'second', enter('a', 250));
    watched(order, 'third', enter('a', 250));
    pass(2_000);
    await settled();
    assert.deepEqual(order, ['second']);
    pass(2_000);
    await settled();
    assert.deepEqual(
      order,
      ['second', 'third'],
      'two slow ones fill the memory of the tenant, and one may always begin',
    );
    second.leave();
    assert.equal(inHand.bytes, 500);
  });

  it('of a tenant come with a rest in between while others have requests, by the duration of the work', async () => {
    const order: string[] = [];
    hasOthers = true;
    const first = enter('a', 300);
    pass(500);
    first.arrived();
    watched(order, 'second', enter('a', 300));
    pass(100);
    first.leave();
    pass(199);
    await settled();
    assert.deepEqual(order, []);
    pass(1);
    await settled();
    assert.deepEqual(order, ['second']);
    const admin = enter('admin', 300, true);
    admin.arrived();
    pass(100);
    admin.leave();
    assert.equal(inHand.bytes, 300);
  });
});
