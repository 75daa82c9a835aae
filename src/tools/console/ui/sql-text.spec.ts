import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from './kinds.js';
import { foundIn, searchQuestion } from './search-sql.js';
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

  it('have an apostrophe before what only some spreadsheets take for formulas', () => {
    const rows = ['\n=1', '\t=1', '＝1', '＋1', '－1', '＠x'].map((cell) => [cell]);
    const lines = csvOf({ columns: ['a'], rows })
      .split('\r\n')
      .slice(1, -1);
    assert.deepEqual(lines, [`"'\n=1"`, "'\t=1", "'＝1", "'＋1", "'－1", "'＠x"]);
  });

  it('are JSON with a field for each column', () => {
    const rows = [['1', null, '2']];
    assert.deepEqual(JSON.parse(jsonOf({ columns: ['a', '__proto__', 'a'], rows })), [
      JSON.parse('{"a":"1","__proto__":null,"a_2":"2"}'),
    ]);
    assert.deepEqual(JSON.parse(jsonOf({ columns: ['a'], rows: [] })), []);
  });
});

describe('the search over all kinds by SQL', () => {
  const columns = ['namespace', 'name', 'uid', 'resource_version', 'object'];

  it('asks each view of a kind, with texts of users as texts only', () => {
    const tables = new Map([
      ['pods', columns],
      ['odd"name', columns],
      ['audit', ['at']],
      ['events_x', columns],
    ]);
    const question = searchQuestion(tables, { text: `it's'; drop`, namespace: `o'hara`, most: 10 }) ?? '';
    assert.match(question, /lower\('it''s''; drop'\)/);
    assert.match(question, /namespace = 'o''hara'/);
    assert.match(question, /from cluster\."pods",/);
    assert.match(question, /from cluster\."odd""name",/);
    assert.doesNotMatch(question, /audit|events/);
    const many = new Map(Array.from({ length: 1000 }, (_, index) => [`kind${index}`, columns]));
    assert.equal(searchQuestion(many, { text: 'x', namespace: '', most: 10 }), undefined);
    assert.equal(searchQuestion(new Map(), { text: 'x', namespace: '', most: 10 }), undefined);
  });

  it('knows kinds by what objects say, and those of encrypted ones by the view', () => {
    const kind = (group: string, resource: string, name: string) =>
      ({ group, resource, kind: name, version: 'v1' }) as unknown as Kind;
    const kinds = [kind('', 'secrets', 'Secret'), kind('a.io', 'things', 'Thing'), kind('b.io', 'things', 'Thing')];
    const rows = [
      ['things', 'x', 'one', 'b.io/v1', 'Thing'],
      ['secrets', 'x', 'two', null, null],
      ['things_b_io', null, 'three', null, null],
      ['gone', 'x', 'four', 'gone.io/v1', 'Gone'],
    ];
    assert.deepEqual(
      foundIn(rows, kinds).map((found) => [found.kind.group, found.name, found.namespace]),
      [
        ['b.io', 'one', 'x'],
        ['', 'two', 'x'],
        ['b.io', 'three', ''],
      ],
    );
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
      ['select * from po', 'pods'],
      ['select * from pods where ph', 'phase'],
      ['select * from pods join nodes n on n.uns', 'unschedulable'],
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
