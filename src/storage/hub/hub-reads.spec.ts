import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row } from '../postgres/session.js';
import { GET_OBJECTS, LIST_PAGE, READ_CHANGES } from '../postgres/statements.js';
import { HubReads, type Read } from './hub-reads.js';

/** Records the requested statements; the test decides when each returns. */
class Statements {
  readonly asked: Read[] = [];
  private readonly answers: { resolve(rows: readonly Row[]): void; reject(error: unknown): void }[] = [];

  readonly run = (read: Read): Promise<readonly Row[]> => {
    this.asked.push(read);
    return new Promise((resolve, reject) => this.answers.push({ resolve, reject }));
  };

  answer(index: number, rows: readonly Row[]): void {
    this.answers[index]?.resolve(rows);
  }

  fail(index: number): void {
    this.answers[index]?.reject(new Error('no answer'));
  }
}

const get = (...names: string[]): Read => ({
  name: GET_OBJECTS.name,
  values: [names.map(() => 'things'), names.map((_, i) => (i === 0 ? null : 'default')), names],
  timeoutMs: 5_000,
});

const changes = (after: number): Read => ({ name: READ_CHANGES.name, values: [after, ['x']], timeoutMs: 1 });

describe('HubReads', () => {
  it('reads the objects of several processes in one statement, and gives each its own', async () => {
    const statements = new Statements();
    const reads = new HubReads(statements.run, 2);
    const calls = [get('a', 'b'), get('c'), get('a', 'd', 'e')].map((read) => reads.rows(read));
    await nextTurn();
    assert.equal(statements.asked.length, 1);
    assert.deepEqual(statements.asked[0]?.values, [
      Array(6).fill('things'),
      [null, 'default', null, null, 'default', 'default'],
      ['a', 'b', 'c', 'a', 'd', 'e'],
    ]);
    statements.answer(0, [
      ['6', 'uid-e', '9', 'json'],
      ['1', 'uid-a', '7', 'json'],
      ['4', 'uid-a', '7', 'json'],
    ]);
    assert.deepEqual(await Promise.all(calls), [
      [['1', 'uid-a', '7', 'json']],
      [],
      [
        ['3', 'uid-e', '9', 'json'],
        ['1', 'uid-a', '7', 'json'],
      ],
    ]);
  });

  it('splits what is too much for a statement', async () => {
    const statements = new Statements();
    const reads = new HubReads(statements.run, 2);
    const many = (prefix: string) => get(...Array.from({ length: 300 }, (_, i) => `${prefix}${i}`));
    const calls = [many('a'), many('b'), get('c')].map((read) => reads.rows(read));
    await nextTurn();
    assert.equal(statements.asked.length, 2);
    statements.answer(0, [['300', 'a']]);
    statements.answer(1, [
      ['301', 'c'],
      ['1', 'b'],
    ]);
    assert.deepEqual(await Promise.all(calls), [[['300', 'a']], [['1', 'b']], [['1', 'c']]]);
  });

  it('lets no read of the log wait for another one', async () => {
    const statements = new Statements();
    const reads = new HubReads(statements.run, 2);
    const slow = reads.rows(changes(1));
    const fast = reads.rows(changes(2));
    await nextTurn();
    statements.answer(1, [['2']]);
    assert.deepEqual(await fast, [['2']]);
    statements.answer(0, [['1']]);
    assert.deepEqual(await slow, [['1']]);
  });

  it('shares equal reads of the log, and never answers from one that began before the call', async () => {
    const statements = new Statements();
    const reads = new HubReads(statements.run, 2);
    const early = [reads.rows(changes(1)), reads.rows(changes(1))];
    await nextTurn();
    const late = [reads.rows(changes(1)), reads.rows(changes(1))];
    await nextTurn();
    assert.equal(statements.asked.length, 1);
    statements.fail(0);
    for (const call of early) await assert.rejects(call, /no answer/);
    await nextTurn();
    assert.equal(statements.asked.length, 2);
    statements.answer(1, [['new']]);
    assert.deepEqual(await Promise.all(late), [[['new']], [['new']]]);
    await nextTurn();
    const last = reads.rows(changes(1));
    await nextTurn();
    assert.equal(statements.asked.length, 3);
    statements.answer(2, []);
    assert.deepEqual(await last, []);
  });

  it('runs every other statement by itself', async () => {
    const statements = new Statements();
    const reads = new HubReads(statements.run, 2);
    const list: Read = { name: LIST_PAGE.name, values: ['a'], timeoutMs: 1 };
    const calls = [reads.rows(list), reads.rows(list)];
    assert.equal(statements.asked.length, 2);
    statements.answer(0, [['x']]);
    statements.answer(1, [['x']]);
    await Promise.all(calls);
  });
});
