/** The tables and functions of a schema, with their columns. */
export type SqlTables = ReadonlyMap<string, readonly string[]>;

/** A question for all that the role may read. Its rows are the name and the columns, with commas between them. */
export const tablesQuestion = `
select c.relname, string_agg(a.attname, ',' order by a.attnum)
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace and n.nspname = 'cluster'
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind in ('r', 'v', 'm', 'p') and pg_catalog.has_any_column_privilege(c.oid, 'select')
group by c.relname
order by c.relname`;

export function tablesOf(rows: readonly (readonly (string | null)[])[]): SqlTables {
  return new Map(rows.map(([name, columns]) => [name ?? '', (columns ?? '').split(',').filter(Boolean)]));
}

/** What may stand at a place of a text, and which part of the text it replaces. */
export interface Completions {
  readonly from: number;
  readonly words: readonly string[];
}

const mostWords = 12;
const keywords = [
  ...['select', 'from', 'where', 'group by', 'order by', 'limit', 'join', 'left join', 'on', 'and', 'or', 'not'],
  ...['is null', 'is not null', 'count(*)', 'desc', 'distinct', 'having', 'between', 'ilike', 'interval', 'with'],
];

/**
 * Completes the word before a place: tables behind `from`, `join` and `cluster.`, columns of the tables of the question
 * elsewhere.
 */
export function completions(text: string, place: number, tables: SqlTables): Completions {
  const before = text.slice(0, place);
  const [word = ''] = /[\w.]*$/.exec(before) ?? [];
  const dot = word.lastIndexOf('.');
  const begun = word.slice(dot + 1).toLowerCase();
  const from = place - begun.length;
  if (isInText(before) || (dot < 0 && begun === '')) return { from: place, words: [] };
  const wantsTable = /\b(?:from|join)\s+\w*$/i.test(before);
  const plain = wantsTable ? [...tables.keys(), ...keywords] : [...columnsIn(text, tables), ...keywords];
  const known = dot < 0 ? plain : behindDot(word.slice(0, dot), text, tables);
  const all = [...new Set(dot < 0 ? ['cluster.', ...known] : known)];
  const words = all.filter((each) => each.toLowerCase().startsWith(begun) && each.toLowerCase() !== begun);
  return { from, words: words.slice(0, mostWords) };
}

function behindDot(qualifier: string, text: string, tables: SqlTables): readonly string[] {
  if (qualifier === 'cluster') return [...tables.keys()];
  const table = aliasesIn(text).get(qualifier) ?? qualifier.replace(/^cluster\./, '');
  return tables.get(table) ?? [];
}

/** A table of a question, with or without its schema. */
const namedTable = String.raw`\b(?:(?:from|join)\s+(?:cluster\.)?|cluster\.)(\w+)`;

function columnsIn(text: string, tables: SqlTables): readonly string[] {
  const used = new Set([...text.matchAll(new RegExp(namedTable, 'gi'))].map(([, name = '']) => name));
  return [...used].flatMap((name) => tables.get(name) ?? []);
}

/** `from pods p` and `cluster.pods as p` give pods the name p. */
function aliasesIn(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(new RegExp(`${namedTable}(?=\\s+(?:as\\s+)?(\\w+))`, 'gi'));
  return new Map([...found].map(([, table = '', alias = '']) => [alias, table]));
}

/** Whether a text ends within quotes or a comment. */
function isInText(before: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  const outside = before.replaceAll(/'(?:[^']|'')*'/g, '');
  return outside.includes("'") || /--/.test(line.replaceAll(/'[^']*'/g, ''));
}
