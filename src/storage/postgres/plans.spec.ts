import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';

/** Calls of the schema's functions, each in the forms that lead to different plans. */
const calls = {
  one_write: `select * from plinth.write_batch(null, 1, '{0}', null, '{pods}', '{default}', '{one}', '{u}', '{null}',
    '{"{}"}', null, null, null, true)`,
  two_writes: `select * from plinth.write_batch(null, 2, '{0,1}', '{1,1}', '{pods,pods}', '{default,default}', '{two,n1}',
    '{u,u}', '{null,7}', '{"{}","{}"}', '{things,null}', '{d,null}', '{d,null}', true)`,
  resolve_batch: 'select * from plinth.resolve_batch(3, 1)',
  get_objects: `select * from plinth.get_objects('{pods,pods}', '{default,default}', '{n1,n2}')`,
  list_page: `select * from plinth.list_page('pods', '', '', U&'\\+10FFFF', '', null, null, 6)`,
  list_page_at: `select * from plinth.list_page('pods', '', '', U&'\\+10FFFF', '', null, 1000, 6)`,
  find_page: `select * from plinth.find_page('pods', '', '', U&'\\+10FFFF', '', null, null, 6, '{x,y}')`,
  find_blocks: `select * from plinth.find_blocks('pods', '', '', U&'\\+10FFFF', '', 0, 8, '{', '{x,y}', '{z}')`,
  changed_keys: `select * from plinth.changed_keys('pods', '', '', U&'\\+10FFFF', '', 1000, true, '{', '{x}', null)`,
  objects_at: `select * from plinth.objects_at('pods', '{default,default}', '{n1,n2}', 1000)`,
  count_few_objects: `select plinth.count_few_objects('pods', '', '', U&'\\+10FFFF', '', null, 1000, 100)`,
  count_objects: `select plinth.count_objects('pods', '', '', U&'\\+10FFFF', '', null, 1000)`,
  log_bounds: 'select * from plinth.log_bounds()',
  read_changes: `select * from plinth.read_changes(100, 9223372036854775807, '{pods}', null, null, 2000, 4000000)`,
  aged_objects: `select * from plinth.aged_objects('pods', interval '1 hour', '', '', 100)`,
  note_version_time: `select plinth.note_version_time(interval '0')`,
  keep_changes: `select * from plinth.keep_changes(interval '5 minutes', interval '1 hour', 3)`,
  check_epoch: 'select * from plinth.check_epoch(0, null, 1000000000)',
} as const;

interface Plan {
  readonly query: string;
  readonly text: string;
  readonly cost: number;
}

/**
 * A planner setting that forbids the only possible plan does not prevent that plan. Up to PostgreSQL 17 that plan then
 * has an artificial cost of 1e10. A server with `jit` on, the default, then compiles it at every call, which takes 100
 * times as long as running it.
 */
describe('plans of the functions', () => {
  let server: TestPostgres;
  let client: pg.Client;
  let plans: Plan[] = [];
  before(async () => {
    server = await startTestPostgres();
    client = new pg.Client({ connectionString: await server.createTestDatabase() });
    await client.connect();
    await client.query(`load 'auto_explain'`);
    client.on('notice', ({ message }) => {
      const [, query = '', text = ''] = /Query Text: (.*?)\n(\S.*cost=.*)/s.exec(message ?? '') ?? [];
      const [, cost] = /cost=[\d.]+\.\.([\d.]+)/.exec(text) ?? [];
      if (cost !== undefined) plans.push({ query, text, cost: Number(cost) });
    });
    await client.query(`
      set client_min_messages = log;
      set auto_explain.log_min_duration = 0;
      set auto_explain.log_nested_statements = on;
      set auto_explain.log_level = log`);
  });
  after(async () => {
    await client.end();
    await server.stop();
  });

  /** Plans of the statements inside a call, without the call itself. */
  const plansOf = async (call: string): Promise<readonly Plan[]> => {
    plans = [];
    await client.query(`begin; ${call}; rollback`);
    return plans.filter(({ query }) => !query.startsWith('begin;'));
  };
  const check = async (): Promise<void> => {
    for (const [name, call] of Object.entries(calls)) {
      const inside = await plansOf(call);
      assert.ok(inside.length > 0, `${name}: no plan was logged`);
      for (const { text, cost, query } of inside) {
        assert.ok(cost < 1e8 && !text.includes('Disabled: true'), `${name}: ${query}\n${text}`);
      }
    }
  };

  it('never contain a step that a planner setting forbids', async () => {
    await check();
    await client.query(`set auto_explain.log_min_duration = -1`);
    await client.query(`
      insert into plinth.objects select 'pods', 'default', 'n' || i, 'u', 2 + i, '{}' from generate_series(1, 20000) i;
      insert into plinth.changes select 2 + i, 0, 'pods', 'default', 'n' || i, 'u', '{}', null, null, i, now()
        from generate_series(1, 20000) i;
      select setval('plinth.resource_version', 30000)`);
    // Once with the plans that the connection already has, once with new ones, once with statistics.
    for (const change of ['', 'discard plans', 'analyze plinth.objects; analyze plinth.changes']) {
      await client.query(change === '' ? 'select 1' : change);
      await client.query(`set auto_explain.log_min_duration = 0`);
      await check();
      await client.query(`set auto_explain.log_min_duration = -1`);
    }
  });

  it('are not compiled, whatever they cost', async () => {
    await client.query(`
      set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set jit = on; set jit_above_cost = 0`);
    // Functions that run rarely and read one row are excluded: the server may compile them.
    const { check_epoch: _, ...hot } = calls;
    for (const [name, call] of Object.entries(hot)) {
      for (const { text, query } of await plansOf(call)) {
        if (query.includes('from plinth.log_bounds() b') || /from plinth.(change_partitions|version_times)/.test(query))
          continue;
        assert.doesNotMatch(text, /^JIT:/m, `${name}: ${query}`);
      }
    }
  });
});
