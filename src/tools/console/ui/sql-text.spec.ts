import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { completions, tablesOf } from './sql-completion.js';
import { csvOf, jsonOf } from './sql-export.js';

describe('answers of SQL as files', () => {
  it('are CSV that no spreadsheet takes for formulas', () => {
    const rows = [
      ['a', 'b,"c"\nd', null, ''],
      ['=HYPERLINK("http://x")', '-5', '+1e3', '@x'],
    ];
    assert.equal(
      csvOf({ columns: ['one', 'two', 'three', 'four'], rows }),
      'one,two,three,four\r\na,"b,""c""\nd",,""\r\n"\'=HYPERLINK(""http://x"")",-5,+1e3,\'@x\r\n',
    );
  });

  it('are JSON with a field for each column', () => {
    const rows = [['1', null, '2']];
    assert.deepEqual(JSON.parse(jsonOf({ columns: ['a', '__proto__', 'a'], rows })), [
      JSON.parse('{"a":"1","__proto__":null,"a_2":"2"}'),
    ]);
    assert.deepEqual(JSON.parse(jsonOf({ columns: ['a'], rows: [] })), []);
  });
});

describe('completion of SQL', () => {
  it('offers tables, columns of the tables in use and of aliases, and nothing within texts', () => {
    const tables = tablesOf([
      ['pods', 'namespace,name,phase'],
      ['nodes', 'name,unschedulable'],
    ]);
    for (const [text, first] of [
      ['select * from clu', 'cluster.'],
      ['select * from cluster.po', 'pods'],
      ['select * from cluster.pods p where p.pha', 'phase'],
      ['select * from cluster.nodes as n where n.uns', 'unschedulable'],
      ['select * from cluster.pods where ph', 'phase'],
      ['sel', 'select'],
      ["select 'cluster.po", undefined],
      ['-- cluster.po', undefined],
      ['select ', undefined],
      ['select * from cluster.constructor.', undefined],
    ] as const) {
      const { from, words } = completions(text, text.length, tables);
      assert.equal(words[0], first, text);
      assert.ok(from <= text.length);
    }
  });
});
