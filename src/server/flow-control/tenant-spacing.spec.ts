import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueueSet } from './queue-set.js';
import { spacedTenant } from './spaced-tenant.js';
import { TenantSpacing } from './tenant-spacing.js';
import { type FlowOutcome, SimulatedTime, simulate, simulatedHasher } from './testing/flow-simulation.js';
import { oneSeat } from './work.js';

/** A level with plenty of seats, whose requests are spaced. */
function spacedLevel(spacing: number) {
  const time = new SimulatedTime();
  const contention = { spacing };
  const tenants = new TenantSpacing(time, contention, () => set.wake());
  const set: QueueSet<string> = new QueueSet<string>(
    time,
    200,
    { queues: 64, handSize: 6, queueLengthLimit: 50 },
    {
      queued: ({ subject }) => tenants.entered(subject, 0),
      unqueued: ({ subject }) => tenants.left(subject, 0),
      dispatched: ({ subject }) => {
        tenants.entered(subject, 0);
        tenants.started(subject, 0);
      },
      left: (ticket) => {
        tenants.left(ticket.subject, 0);
        tenants.stopped(ticket.subject, ticket.workedMs(time.elapsed()));
      },
    },
    (tenant) => tenants.mayStart(tenant),
  );
  return { time, set, tenants, contention };
}

const outcomeOf = (outcomes: Map<string, FlowOutcome>, name: string): FlowOutcome => outcomes.get(name) as FlowOutcome;

describe('the spacing of a demanding tenant', () => {
  const greedy = { name: 'greedy', clients: 60, takesMs: 20 };
  const modest = { name: 'modest', clients: 1, takesMs: 2, pauseMs: 50 };

  it('bounds its requests in time, and leaves those of others alone', () => {
    const { time, set } = spacedLevel(4);
    const outcomes = simulate(set, time, [greedy, modest], 20_000);
    const { done, seatSeconds } = outcomeOf(outcomes, 'greedy');
    // One begins every 84 ms: a quarter of a seat.
    assert.ok(done > 200 && done < 350, String(done));
    assert.ok(seatSeconds < 7, String(seatSeconds));
    const { waits } = outcomeOf(outcomes, 'modest');
    assert.ok(waits.length > 350, String(waits.length));
    assert.equal(Math.max(...waits), 0);
  });

  it('does nothing without contention, and ends with it', () => {
    const { time, set, contention } = spacedLevel(0);
    const free = outcomeOf(simulate(set, time, [greedy], 1_000), 'greedy').done;
    assert.ok(free > 2_000, String(free));
    contention.spacing = 8;
    const spaced = outcomeOf(simulate(set, time, [greedy], 2_000), 'greedy').done;
    assert.ok(spaced < 200, String(spaced));
    contention.spacing = 0;
    time.advance(2_000);
    assert.ok(set.isIdle, 'all that waited ran');
  });

  it('leaves a client alone that has few requests at one time, whoever keeps the event loop busy', () => {
    const { time, set } = spacedLevel(16);
    const slow = { name: 'slow', clients: 4, takesMs: 200 };
    const { waits } = outcomeOf(simulate(set, time, [slow], 5_000), 'slow');
    assert.ok(waits.length > 20, String(waits.length));
    assert.equal(Math.max(...waits), 0);
  });

  it('leaves tenants alone that have less than half of the work of another', () => {
    const { time, set } = spacedLevel(16);
    const busy = { name: 'busy', clients: 10, takesMs: 10, pauseMs: 10 };
    const outcomes = simulate(set, time, [{ ...greedy, takesMs: 50 }, busy], 5_000);
    const { done, waits } = outcomeOf(outcomes, 'busy');
    // The first requests come before anything is known of the other tenant.
    const late = waits.filter((wait) => wait > 0);
    assert.ok(done > 2_000, String(done));
    assert.ok(late.length < 20, `${late.length} of ${done} waited`);
    assert.ok(outcomeOf(outcomes, 'greedy').done < 150);
  });

  it('is shared by tenants that send as much', () => {
    const { time, set } = spacedLevel(4);
    const many = Array.from({ length: 8 }, (_, i) => ({ name: `tenant-${i}`, clients: 12, takesMs: 20 }));
    const outcomes = simulate(set, time, many, 10_000);
    for (const [name, { done }] of outcomes) {
      // Each has an eighth of the work: one begins every 10 ms.
      assert.ok(done > 700 && done < 1_300, `${name}: ${done}`);
    }
  });

  it('lets requests of others in the same queue pass those that wait', () => {
    const { time, set } = spacedLevel(16);
    set.setQueuing({ queues: 1, handSize: 1, queueLengthLimit: 500 });
    const { waits } = outcomeOf(simulate(set, time, [greedy, modest], 5_000), 'modest');
    assert.ok(waits.length > 80, String(waits.length));
    assert.equal(Math.max(...waits), 0);
  });

  it('counts neither waits for clients nor for servers outside as work', () => {
    const { time, set, contention } = spacedLevel(0);
    const enter = () => {
      const ticket = set.enter(simulatedHasher.of('schema', 'one'), oneSeat, 'one');
      assert.ok(typeof ticket !== 'string');
      return ticket;
    };
    const first = enter();
    set.setRemote(first, true);
    time.advance(10_000);
    set.setRemote(first, false);
    set.beginIdle(first);
    time.advance(10_000);
    assert.equal(set.endIdle(first), 'running');
    time.advance(5);
    set.leave(first);
    contention.spacing = 10;
    const states = Array.from({ length: 5 }, enter);
    assert.equal(states.filter(({ state }) => state === 'running').length, 5, 'few requests');
    const [sixth, seventh] = [enter(), enter()];
    assert.deepEqual([sixth.state, seventh.state], ['waiting', 'waiting']);
    // An eighth of ten times six milliseconds.
    time.advance(8);
    assert.deepEqual([sixth.state, seventh.state], ['running', 'waiting']);
  });
});

it('the tenants that are spaced are users, the accounts of a namespace, and strangers, but no component', () => {
  assert.equal(spacedTenant('alice'), 'alice');
  assert.equal(spacedTenant('system:anonymous'), 'system:anonymous');
  assert.equal(spacedTenant('system:serviceaccount:shop:a'), spacedTenant('system:serviceaccount:shop:b'));
  assert.notEqual(spacedTenant('system:serviceaccount:shop:a'), spacedTenant('system:serviceaccount:shop2:a'));
  for (const component of ['system:kube-scheduler', 'system:node:a', 'system:serviceaccount:kube-system:gc']) {
    assert.equal(spacedTenant(component), undefined);
  }
});
