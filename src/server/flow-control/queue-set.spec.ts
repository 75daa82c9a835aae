import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InvariantError } from '../../base/machinery/invariant-error.js';
import { idleAllowanceMs, idlePatienceMs } from './idle-tickets.js';
import { nextStarts } from './next-starts.js';
import { type Queuing, Ticket } from './queue.js';
import { QueueSet } from './queue-set.js';
import {
  type FlowOutcome,
  type SimulatedFlow,
  SimulatedTime,
  simulate,
  simulatedHasher,
} from './testing/flow-simulation.js';
import { oneSeat, type WorkEstimate } from './work.js';

const queuing: Queuing = { queues: 64, handSize: 6, queueLengthLimit: 50 };
const wide = (initialSeats: number): WorkEstimate => ({ initialSeats, finalSeats: 0, additionalLatencyMs: 0 });

function setOf(limit: number, how: Queuing | 'reject' = queuing) {
  const time = new SimulatedTime();
  const set = new QueueSet<string>(time, limit, how === 'reject' ? undefined : how);
  const enter = (flow: string, work = oneSeat) => set.enter(simulatedHasher.of('schema', flow), work, flow);
  const ticket = (flow: string, work = oneSeat): Ticket<string> => {
    const entered = enter(flow, work);
    assert.ok(entered instanceof Ticket, String(entered));
    return entered;
  };
  return { time, set, enter, ticket };
}

function outcomesOf(limit: number, flows: readonly SimulatedFlow[], forMs = 60_000): Map<string, FlowOutcome> {
  const { time, set } = setOf(limit);
  const outcomes = simulate(set, time, flows, forMs);
  // The limit may be exceeded by the extra seats of a few narrow requests.
  assert.ok(set.seatsInUse <= limit + Math.max(1, limit / 10) || set.running === 1);
  return outcomes;
}

const worst = ({ waits }: FlowOutcome): number => Math.max(...waits);
const seatSeconds = (outcomes: Map<string, FlowOutcome>, name: string): number =>
  (outcomes.get(name) as FlowOutcome).seatSeconds;

describe('fairness, simulated', () => {
  const shares: readonly (readonly [string, number, readonly SimulatedFlow[], Readonly<Record<string, number>>])[] = [
    [
      'two equal flows get the same',
      10,
      [
        { name: 'one', clients: 40, takesMs: 20 },
        { name: 'two', clients: 40, takesMs: 20 },
      ],
      { one: 0.5, two: 0.5 },
    ],
    [
      'ten times the clients get no more',
      10,
      [
        { name: 'many', clients: 100, takesMs: 20 },
        { name: 'few', clients: 12, takesMs: 20 },
      ],
      { many: 0.5, few: 0.5 },
    ],
    [
      'requests that take longer get fewer',
      10,
      [
        { name: 'long', clients: 40, takesMs: 200 },
        { name: 'short', clients: 40, takesMs: 10 },
      ],
      { long: 0.5, short: 0.5 },
    ],
    [
      'wide requests get fewer',
      10,
      [
        { name: 'wide', clients: 40, takesMs: 20, work: wide(5) },
        { name: 'narrow', clients: 40, takesMs: 20 },
      ],
      { wide: 0.5, narrow: 0.5 },
    ],
    [
      'what a small flow leaves goes to the others',
      10,
      [
        { name: 'small', clients: 2, takesMs: 20 },
        { name: 'large', clients: 60, takesMs: 3 },
      ],
      { small: 0.2, large: 0.8 },
    ],
  ];
  for (const [what, limit, flows, expected] of shares) {
    it(what, () => {
      const outcomes = outcomesOf(limit, flows);
      const total = [...outcomes.values()].reduce((sum, one) => sum + one.seatSeconds, 0);
      assert.ok(total > limit * 60 * 0.9, `the seats are used: ${total}`);
      for (const [name, share] of Object.entries(expected)) {
        const got = seatSeconds(outcomes, name) / total;
        assert.ok(Math.abs(got - share) < 0.05, `${name} got ${got}`);
      }
    });
  }

  it('mice do not wait for elephants', () => {
    const elephants = Array.from({ length: 3 }, (_, i) => ({
      name: `elephant-${i}`,
      clients: 64,
      takesMs: 100,
      work: wide(4),
    }));
    const mice = Array.from({ length: 20 }, (_, i) => ({ name: `mouse-${i}`, clients: 1, takesMs: 2, pauseMs: 100 }));
    const outcomes = outcomesOf(20, [...elephants, ...mice]);
    for (const { name } of mice) {
      const mouse = outcomes.get(name) as FlowOutcome;
      assert.equal(mouse.refused, 0, name);
      // At worst, when all flows begin at the same time, one request of each heavy flow is ahead of the small one.
      assert.ok(worst(mouse) <= 350, `${name} waited ${worst(mouse)} ms`);
      assert.ok(mouse.done > 200, `${name}: ${mouse.done}`);
    }
    const waits = mice.flatMap(({ name }) => (outcomes.get(name) as FlowOutcome).waits).sort((a, b) => a - b);
    const most = waits[Math.floor(waits.length * 0.99)] as number;
    // No more than two other small requests were ahead.
    assert.ok(most <= 4, `one of a hundred waited ${most} ms`);
  });

  it('a request wider than what is free is not passed by for ever', () => {
    const outcomes = outcomesOf(8, [
      { name: 'narrow', clients: 60, takesMs: 10 },
      { name: 'wide', clients: 1, takesMs: 10, work: wide(8) },
    ]);
    assert.ok((outcomes.get('wide') as FlowOutcome).done > 500);
  });

  it('a request wider than the level runs alone', () => {
    const { set, ticket } = setOf(4);
    const broad = ticket('broad', wide(10));
    const next = ticket('next', wide(2));
    assert.deepEqual([broad.state, next.state, set.seatsInUse], ['running', 'waiting', 10]);
    set.leave(broad);
    assert.equal(next.state, 'running');
  });
});

describe('a queue set', () => {
  it('refuses beyond the length of the queue, and only the flow that filled it', () => {
    const { time, set, enter, ticket } = setOf(1, { queues: 64, handSize: 1, queueLengthLimit: 2 });
    const first = ticket('a');
    const [second, third] = [ticket('a'), ticket('a')];
    assert.equal(enter('a'), 'queue-full');
    const other = ticket('b');
    assert.equal(set.waiting, 3);
    time.advance(100);
    set.leave(first);
    // The other flow has used no seats yet, so it comes first.
    assert.deepEqual([second.state, other.state], ['waiting', 'running']);
    set.leave(other);
    set.leave(second);
    set.leave(third);
    set.leave(third);
    assert.deepEqual([set.seatsInUse, set.waiting, set.isIdle, set.activeQueues], [0, 0, true, 0]);
  });

  it('lets nobody wait without queues', () => {
    const { set, enter, ticket } = setOf(2, 'reject');
    const first = ticket('a');
    ticket('b');
    assert.equal(enter('c'), 'concurrency-limit');
    set.leave(first);
    assert.equal(ticket('c').state, 'running');
  });

  it('frees the place of a request that is cancelled', () => {
    const { set, ticket } = setOf(1);
    const first = ticket('a');
    const [second, third] = [ticket('a'), ticket('a')];
    assert.equal(set.cancel(second), true);
    assert.equal(set.cancel(second), false);
    assert.equal(set.cancel(first), false);
    set.leave(second);
    assert.deepEqual([set.waiting, set.seatsInUse], [1, 1]);
    set.leave(first);
    assert.equal(third.state, 'running');
  });

  it('takes final seats for a while', () => {
    const { time, set, ticket } = setOf(4);
    const first = ticket('a', { initialSeats: 1, finalSeats: 4, additionalLatencyMs: 50 });
    time.advance(10);
    set.leave(first);
    const second = ticket('b', wide(2));
    assert.deepEqual([set.seatsInUse, second.state], [4, 'waiting']);
    time.advance(49);
    assert.equal(second.state, 'waiting');
    time.advance(1);
    assert.deepEqual([set.seatsInUse, second.state], [2, 'running']);
  });

  it('does not go on with fewer seats than none', () => {
    const { set, ticket } = setOf(4);
    const work = { initialSeats: 1, finalSeats: 0, additionalLatencyMs: 0 };
    const first = ticket('a', work);
    work.initialSeats = 2;
    assert.throws(() => set.leave(first), InvariantError);
  });

  it('begins a narrow request of a flow with nothing under way beside wide ones of others, and few of them', () => {
    const { set, ticket } = setOf(20, { queues: 512, handSize: 6, queueLengthLimit: 50 });
    const lists = Array.from({ length: 4 }, () => ticket('lists', wide(10)));
    assert.deepEqual(
      lists.map(({ state }) => state),
      ['running', 'running', 'waiting', 'waiting'],
    );
    const [first, second, third, again] = [ticket('a'), ticket('b'), ticket('c'), ticket('a')];
    assert.deepEqual(
      [first, second, third, again].map(({ state }) => state),
      ['running', 'running', 'waiting', 'waiting'],
    );
    assert.equal(ticket('d', wide(2)).state, 'waiting');
    assert.equal(set.seatsInUse, 22);
    // Requests with extra seats do not block the seats of the level.
    set.leave(lists[0] as Ticket<string>);
    assert.equal(set.seatsInUse, 16);
    assert.ok([third, again].every(({ state }) => state === 'running'));
    for (const one of [first, second]) set.leave(one);
    assert.equal(ticket('e').state, 'running');
  });

  it('lets a flow of narrow requests go on with its part of the extra seats while wide ones have all others', () => {
    const { set, ticket } = setOf(100, { queues: 512, handSize: 1, queueLengthLimit: 50 });
    for (let i = 0; i < 12; i++) ticket('lists', wide(10));
    assert.equal(set.seatsInUse, 100);
    const gets = Array.from({ length: 8 }, () => ticket('gets'));
    const count = () => gets.filter(({ state }) => state === 'running').length;
    assert.equal(count(), 5, 'half of the ten extra seats: two flows share them');
    assert.equal(ticket('others').state, 'running', 'some are left for a third flow');
    set.leave(gets[0] as Ticket<string>);
    assert.equal(count(), 4, 'now three flows share them');
    for (const get of gets.slice(1, 5)) set.leave(get);
    assert.equal(count(), 3, 'the waiting ones follow without any list that ends');
    assert.equal(set.seatsInUse, 104);
  });

  it('lets narrow requests of a flow pass its own list, which waits for others', () => {
    const { set, ticket } = setOf(100, { queues: 512, handSize: 1, queueLengthLimit: 50 });
    for (let i = 0; i < 10; i++) ticket('lists', wide(10));
    const list = ticket('mixed', wide(10));
    const gets = Array.from({ length: 7 }, () => ticket('mixed'));
    const count = () => gets.filter(({ state }) => state === 'running').length;
    assert.deepEqual([list.state, count()], ['waiting', 5]);
    set.leave(gets[0] as Ticket<string>);
    assert.deepEqual([list.state, count()], ['waiting', 5]);
  });

  it('lets few requests of other flows run beside those that wait for servers outside', () => {
    const { set, ticket } = setOf(20, { queues: 512, handSize: 1, queueLengthLimit: 50 });
    const hanging = Array.from({ length: 24 }, () => ticket('hooks'));
    for (const one of hanging.slice(0, 19)) set.setRemote(one, true);
    set.setRemote(hanging[19] as Ticket<string>, true);
    assert.equal(set.seatsInUse, 20, 'the flow itself gets no extra seat');
    const gets = Array.from({ length: 3 }, () => ticket('gets'));
    const states = () => gets.map(({ state }) => state);
    assert.deepEqual(states(), ['running', 'waiting', 'waiting']);
    assert.deepEqual([ticket('others').state, ticket('third').state], ['running', 'waiting']);
    set.leave(gets[0] as Ticket<string>);
    assert.deepEqual(states(), ['gone', 'running', 'waiting'], 'the next one follows without any hook that answers');
    for (const one of hanging.slice(0, 20)) set.setRemote(one, false);
    set.leave(gets[1] as Ticket<string>);
    assert.deepEqual(states(), ['gone', 'gone', 'waiting'], 'no extra seats beside requests that compute');
    for (const one of hanging) set.leave(one);
    assert.equal(states()[2], 'running');
  });

  it('lets a request that waits begin beside others as soon as they wait for servers outside', () => {
    const { set, ticket } = setOf(1, { queues: 512, handSize: 1, queueLengthLimit: 50 });
    const hanging = ticket('hooks');
    const get = ticket('gets');
    assert.equal(get.state, 'waiting');
    set.setRemote(hanging, true);
    assert.equal(get.state, 'running');
    set.leave(hanging);
    set.leave(get);
    assert.deepEqual([set.seatsInUse, set.isIdle], [0, true]);
    // The count of such requests is right again: nobody gets an extra seat now.
    assert.deepEqual([ticket('one').state, ticket('two').state], ['running', 'waiting']);
  });

  it('follows a new limit at once', () => {
    const { set, ticket } = setOf(1);
    const tickets = Array.from({ length: 5 }, (_, i) => ticket(`flow-${i}`));
    assert.equal(set.running, 1);
    set.setLimit(4);
    assert.equal(set.running, 4);
    set.setLimit(1);
    for (const one of tickets.filter(({ state }) => state === 'running')) set.leave(one);
    assert.equal(set.running, 1);
  });

  it('keeps waiting requests when the number of queues changes, or queues are given up', () => {
    const { set, ticket } = setOf(1);
    const first = ticket('a');
    const waiting = Array.from({ length: 20 }, (_, i) => ticket(`flow-${i}`));
    set.setQueuing({ queues: 2, handSize: 1, queueLengthLimit: 5 });
    set.setQueuing(undefined);
    set.leave(first);
    for (let i = 0; i < 20; i++) {
      const running = waiting.find(({ state }) => state === 'running');
      assert.ok(running !== undefined);
      set.leave(running);
    }
    assert.ok(set.isIdle);
    assert.equal([...set.allQueues()].length, 0);
  });

  for (const how of [queuing, 'reject'] as const) {
    it(`takes seats from requests that wait for their clients, ${how === 'reject' ? 'without' : 'with'} queues`, () => {
      const { time, set, enter, ticket } = setOf(1, how);
      const slow = ticket('slow');
      set.beginIdle(slow);
      if (how === 'reject') {
        assert.equal(enter('other'), 'concurrency-limit');
        time.advance(idlePatienceMs);
      }
      const other = ticket('other');
      if (how !== 'reject') {
        assert.equal(other.state, 'waiting');
        time.advance(idlePatienceMs);
      }
      assert.deepEqual([slow.state, other.state, set.seatsInUse], ['parked', 'running', 1]);
      assert.equal(set.isIdle, false);
      if (how === 'reject') {
        assert.equal(set.endIdle(slow), 'concurrency-limit');
        set.leave(other);
      } else {
        const last = ticket('slow');
        assert.equal(set.endIdle(slow), 'waiting');
        set.leave(other);
        // The slow request gets its turn before later requests of its flow.
        assert.deepEqual([slow.state, last.state], ['running', 'waiting']);
        set.leave(slow);
        set.leave(last);
      }
      assert.ok(set.isIdle);
    });
  }

  it('leaves requests their seats that wait for their clients while nobody else needs these', () => {
    const { time, set, ticket } = setOf(2);
    const slow = ticket('slow');
    set.beginIdle(slow);
    time.advance(60_000);
    ticket('other');
    assert.equal(set.endIdle(slow), 'running');
    set.leave(slow);
    const parked = ticket('slow');
    set.beginIdle(parked);
    time.advance(idlePatienceMs);
    ticket('third');
    assert.equal(parked.state, 'parked');
    set.leave(parked);
    assert.equal(set.endIdle(parked), 'gone');
  });

  it('takes seats from requests whose clients take a little now and then', () => {
    const { time, set, ticket } = setOf(1);
    const slow = ticket('slow');
    const other = ticket('other');
    let passed = 0;
    while (slow.state === 'running' && passed < 60_000) {
      set.beginIdle(slow);
      time.advance(idlePatienceMs - 10);
      passed += idlePatienceMs - 10;
      if (slow.state === 'running') set.endIdle(slow);
    }
    assert.deepEqual([slow.state, other.state], ['parked', 'running']);
    assert.ok(passed >= idleAllowanceMs && passed < idleAllowanceMs + idlePatienceMs, String(passed));
    // The slow request continues when its turn comes, and loses its seat at once if it waits again.
    assert.equal(set.endIdle(slow), 'waiting');
    set.leave(other);
    assert.equal(slow.state, 'running');
    set.beginIdle(slow);
    assert.equal(ticket('third').state, 'running');
    set.leave(slow);
  });

  it('makes no more queues than have requests when there are millions of them', () => {
    const { time, set, ticket } = setOf(1, { queues: 10_000_000, handSize: 2, queueLengthLimit: 50 });
    const made = () => [...set.allQueues()].length;
    const before = made();
    assert.ok(before < 5000, String(before));
    const tickets = Array.from({ length: 300 }, (_, i) => ticket(`flow-${i}`));
    assert.ok(made() > before);
    // The queue of a parked request is kept, so that it can come back.
    const [first] = tickets as [Ticket<string>];
    set.beginIdle(first);
    time.advance(idlePatienceMs);
    assert.equal(first.state, 'parked');
    assert.ok([...set.allQueues()].includes(first.queue as never));
    set.endIdle(first);
    for (let i = 0; i < 1000 && !set.isIdle; i++) {
      for (const one of tickets) set.leave(one);
    }
    assert.ok(set.isIdle);
    assert.equal(made(), before);
  });

  it('holds the wide requests of many flows to its pace, and no narrow ones', () => {
    const { set, ticket } = setOf(1000);
    set.setPace(4);
    const lists = Array.from({ length: 40 }, (_, i) => ticket(`list-${i}`, wide(10)));
    assert.equal(set.running, 4);
    assert.equal(ticket('get').state, 'running');
    for (const list of lists) {
      assert.equal(list.state, 'running');
      set.leave(list);
    }
  });

  it('lets wide requests begin however many flows have narrow ones under way', () => {
    const { set, ticket } = setOf(1000);
    set.setPace(4);
    for (let i = 0; i < 40; i++) ticket(`get-${i}`);
    const lists = Array.from({ length: 5 }, (_, i) => ticket(`list-${i}`, wide(10)));
    assert.deepEqual(
      lists.map(({ state }) => state),
      ['running', 'running', 'running', 'running', 'waiting'],
    );
    // A request whose client does not read uses no event-loop turns.
    set.beginIdle(lists[0] as Ticket<string>);
    assert.equal(lists[4]?.state, 'running');
  });

  it('shares a few narrow requests above the pace among the queues that have requests, at least one each', () => {
    const { set, ticket } = setOf(1000, { queues: 64, handSize: 1, queueLengthLimit: 50 });
    set.setPace(2);
    const running = (flow: string) => {
      const tickets = Array.from({ length: 20 }, () => ticket(flow));
      return tickets.filter(({ state }) => state === 'running').length;
    };
    // Slow requests of one flow use up the whole concurrency target.
    for (let i = 0; i < 2; i++) ticket('slow', wide(10));
    assert.equal(running('one'), 16 / 2);
    for (let i = 0; i < 40; i++) ticket(`other-${i}`);
    assert.equal(running('late'), 1);
  });

  it('does not count requests that wait for their clients among those that hold each other up', () => {
    const { set, ticket } = setOf(20, { queues: 1, handSize: 1, queueLengthLimit: 50 });
    set.setPace(1);
    const stalled = ticket('slow');
    const behind = ticket('slow');
    const last = ticket('slow');
    assert.deepEqual([stalled.state, behind.state, last.state], ['running', 'waiting', 'waiting']);
    set.beginIdle(stalled);
    assert.deepEqual([stalled.state, behind.state, last.state], ['running', 'running', 'waiting']);
    assert.equal(set.endIdle(stalled), 'running');
  });
});

describe('reports about queues', () => {
  it('show when the next requests begin, and when the last one began', () => {
    const { time, set, ticket } = setOf(1);
    const starts = () => nextStarts(set);
    assert.equal(starts(), undefined);
    const first = ticket('one');
    ticket('two');
    ticket('three', wide(3));
    time.advance(1000);
    const before = starts();
    assert.ok(before !== undefined && before.next.min <= before.next.max);
    assert.deepEqual(before.discounted, before.next, 'nothing runs in the queues of those that wait');
    assert.deepEqual(set.lastDispatch, { r: 0, s: 0 });
    set.leave(first);
    assert.equal(set.lastDispatch.r, set.currentR);
    assert.equal(set.lastDispatch.s, before.next.min);
    const left = starts();
    assert.equal(left?.next.min, left?.next.max);
  });
});
