import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UserInfo } from '../../base/machinery/request-context.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { LongRunningMemory } from './long-running-memory.js';

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: '', groups, extra: {} });

function assertRefused(act: () => unknown): void {
  assert.throws(act, (error: unknown) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.code, 429);
    assert.ok((error.details?.retryAfterSeconds ?? 0) > 0);
    return true;
  });
}

describe('the memory of long-running requests', () => {
  it('is for each tenant at most half of what the others leave', () => {
    const memory = new LongRunningMemory(1000);
    memory.enter(user('a'), 300);
    memory.enter(user('a'), 200);
    assertRefused(() => memory.enter(user('a'), 1));
    memory.enter(user('b'), 250);
    assertRefused(() => memory.enter(user('b'), 1));
    memory.enter(user('c'), 125);
    assert.equal(memory.bytes, 875);
    assert.equal(memory.refusals, 2);
  });

  it('is free again when a request ends, once', () => {
    const memory = new LongRunningMemory(1000);
    const first = memory.enter(user('a'), 500);
    assertRefused(() => memory.enter(user('a'), 500));
    first.leave();
    first.leave();
    assert.equal(memory.bytes, 0);
    const second = memory.enter(user('a'), 400);
    second.add(100);
    assertRefused(() => second.add(1));
    assert.equal(memory.bytes, 500);
    second.leave();
    second.add(100);
    assert.equal(memory.bytes, 0);
  });

  it('is one share for all service accounts of a namespace', () => {
    const memory = new LongRunningMemory(1000);
    memory.enter(user('system:serviceaccount:x:a'), 500);
    assertRefused(() => memory.enter(user('system:serviceaccount:x:b'), 1));
    memory.enter(user('system:serviceaccount:y:a'), 250);
  });

  it('counts administrators, and never refuses them', () => {
    const memory = new LongRunningMemory(1000);
    memory.enter(user('root', 'system:masters'), 5000);
    assertRefused(() => memory.enter(user('a'), 1));
    assert.equal(memory.bytes, 5000);
  });

  it('has no limit with 0', () => {
    const memory = new LongRunningMemory(0);
    memory.enter(user('a'), 1e12);
    assert.equal(memory.bytes, 1e12);
  });
});
