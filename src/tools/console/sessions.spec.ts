import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { describe, it } from 'node:test';
import { systemClock } from '../../base/machinery/clock.js';
import { type SessionKeys, Sessions } from './sessions.js';
import { TooManySessions } from './too-many-sessions.js';
import { UnderWay } from './under-way.js';
import { Upstream } from './upstream.js';

const anyServer = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, insecureSkipVerify: false };
const upstream = new Upstream({ server: 'https://127.0.0.1', tls: anyServer, files: {} });

const open = (sessions: Sessions, name: string, token = name): SessionKeys =>
  sessions.open({
    user: { name, groups: [] },
    upstream,
    agent: new Agent(),
    suffix: 'k8s.io',
    credentials: { tls: { cert: undefined, key: undefined }, authorization: token },
  });

describe('sessions of the console', () => {
  it('give way to others of the same user only', () => {
    const sessions = new Sessions(systemClock, 60_000);
    const alice = open(sessions, 'alice');
    const mine = Array.from({ length: 1100 }, () => open(sessions, 'mallory'));
    assert.ok(sessions.find(alice) !== undefined, 'alice is still there');
    assert.equal(mine.filter((keys) => sessions.find(keys) !== undefined).length, 20);
    assert.ok(sessions.find(mine.at(-1) ?? {}) !== undefined, 'the newest one is');
    assert.equal(sessions.find(mine[0] ?? {}), undefined);
    sessions.stop();
  });

  it('of all service accounts of a namespace are as those of one user', () => {
    const sessions = new Sessions(systemClock, 60_000);
    const alice = open(sessions, 'alice');
    const mine = Array.from({ length: 1100 }, (_, n) => open(sessions, `system:serviceaccount:evil:robot-${n}`));
    assert.ok(sessions.find(alice) !== undefined);
    assert.equal(mine.filter((keys) => sessions.find(keys) !== undefined).length, 20);
    sessions.stop();
  });

  it('give way to newcomers where somebody has more, when all places are taken', () => {
    const sessions = new Sessions(systemClock, 60_000);
    const alone = Array.from({ length: 990 }, (_, n) => open(sessions, `user-${n}`));
    const many = Array.from({ length: 10 }, () => open(sessions, 'many'));
    open(sessions, 'new');
    assert.equal(many.filter((keys) => sessions.find(keys) !== undefined).length, 9);
    assert.equal(sessions.find(many[0] ?? {}), undefined, 'the oldest of them');
    for (let n = 0; n < 8; n++) open(sessions, `newer-${n}`);
    assert.throws(() => open(sessions, 'last'), TooManySessions);
    assert.ok(alone.every((keys) => sessions.find(keys) !== undefined));
    sessions.stop();
  });
});

it('what is under way has limits for one and for all, and ends once', () => {
  const underWay = new UnderWay({ ofOne: 2, ofAll: 3 });
  const end = underWay.begin('a');
  assert.ok(end !== undefined && underWay.begin('a') !== undefined);
  assert.equal(underWay.begin('a'), undefined);
  assert.ok(underWay.begin('b') !== undefined);
  assert.equal(underWay.begin('b'), undefined, 'of all');
  end();
  end();
  assert.ok(underWay.begin('c') !== undefined);
  assert.equal(underWay.begin('d'), undefined);
});
