import { OptionsError } from '../../../base/config/options-error.js';
import { type ParsedOptions, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { SqlOptions } from '../../../base/config/sql.options.js';
import type { Command, CommandContext } from '../command.js';

const groups = { sql: SqlOptions } as const;
type Options = ParsedOptions<typeof groups>['sql'];
type Row = readonly (string | null)[];

export const sqlCommand: Command = {
  name: 'sql',
  summary:
    'Show history from the database: sql as-of RESOURCE --at MOMENT, sql history RESOURCE/NAME, ' +
    'sql diff [RESOURCE] --from MOMENT --to MOMENT.',
  groups,
  operands: {
    forms: ['as-of RESOURCE', 'history RESOURCE/NAME', 'diff [RESOURCE]'],
    words: ['as-of', 'history', 'diff'],
    files: false,
  },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const options = parseOptions({ groups, argv: flags, environment: context.environment }).sql;
    const [action, what, ...more] = operands;
    if (more.length > 0) throw new OptionsError([`unexpected argument ${JSON.stringify(more[0])}`]);
    if (action === 'as-of') return asOf(options, what, context);
    if (action === 'history') return history(options, what, context);
    if (action === 'diff') return diff(options, what, context);
    throw new OptionsError(['needs as-of RESOURCE, history RESOURCE/NAME or diff [RESOURCE]']);
  },
};

async function asOf(options: Options, resource: string | undefined, context: CommandContext): Promise<void> {
  if (resource === undefined) throw new OptionsError(['as-of needs a resource: as-of pods --at 2h-ago']);
  const { asOfQuery } = await import('../../../storage/postgres/history-queries.js');
  const { at: moment, namespace, limit } = options;
  const rows = await ask(options, asOfQuery({ resource, moment, namespace, labels: labelsOf(options), limit }));
  if (options.output === 'json') return printJson(context, rows, ([, , , , object]) => parsed(object));
  const lines = (await tables(context)).table(
    ['NAMESPACE', 'NAME', 'VERSION', 'LABELS'],
    rows.map(([namespace = null, name = null, version = null, labels = null]) => ({
      cells: [namespace, name, version, labelText(labels)],
    })),
  );
  for (const line of lines) context.print(line);
}

async function history(options: Options, operand: string | undefined, context: CommandContext): Promise<void> {
  const [, resource = '', name = ''] = /^([^/]+)\/([^/]+)$/.exec(operand ?? '') ?? [];
  if (name === '') throw new OptionsError(['history needs RESOURCE/NAME: history deployments/web --namespace shop']);
  const { historyQuery } = await import('../../../storage/postgres/history-queries.js');
  const { namespace, verb, manager, user, limit } = options;
  const rows = await ask(options, historyQuery({ resource, namespace, name, verb, manager, user, limit }));
  if (options.output === 'json') {
    return printJson(context, rows, ([version, at, done, by, username, changes, object]) => ({
      version,
      at,
      verb: done,
      manager: by,
      username,
      diff: parsed(changes),
      object: parsed(object),
    }));
  }
  const shown = await tables(context);
  const lines = shown.table(
    ['VERSION', 'WHEN', 'VERB', 'MANAGER', 'USER'],
    rows.map(([version = null, at = null, done = null, by = null, username = null, changes = null]) => ({
      cells: [version, at, done, by, username],
      below: shown.difference(parsed(changes)),
    })),
  );
  for (const line of lines) context.print(line);
}

async function diff(options: Options, resource: string | undefined, context: CommandContext): Promise<void> {
  const { diffQuery } = await import('../../../storage/postgres/history-queries.js');
  const { from, to, namespace, verb, manager, limit } = options;
  const rows = await ask(options, diffQuery({ from, to, resource, namespace, verb, manager, limit }));
  if (options.output === 'json') {
    return printJson(context, rows, ([of, at, name, done, changes, version, when, by, what]) => ({
      resource: of,
      namespace: at,
      name,
      verb: done,
      changes: Number(changes),
      version,
      at: when,
      manager: by,
      diff: parsed(what),
    }));
  }
  const shown = await tables(context);
  const lines = shown.table(
    ['RESOURCE', 'NAMESPACE', 'NAME', 'VERB', 'CHANGES', 'WHEN', 'MANAGER'],
    rows.map(
      ([of = null, at = null, name = null, done = null, changes = null, , when = null, by = null, what = null]) => ({
        cells: [of, at, name, done, changes, when, by],
        below: shown.difference(parsed(what)),
      }),
    ),
  );
  for (const line of lines) context.print(line);
}

async function ask({ databaseUrl }: Options, query: { readonly text: string; readonly values: readonly unknown[] }) {
  if (databaseUrl === undefined) throw new OptionsError(['needs --database-url']);
  const { queryHistory } = await import('../../../storage/postgres/history-session.js');
  return queryHistory(databaseUrl, query);
}

async function tables({ environment }: CommandContext) {
  const { HistoryTables } = await import('../sql/history-tables.js');
  return new HistoryTables(process.stdout.isTTY && (environment.NO_COLOR ?? '') === '' && environment.TERM !== 'dumb');
}

function printJson(context: CommandContext, rows: readonly Row[], value: (row: Row) => unknown): void {
  context.print(JSON.stringify(rows.map(value), undefined, 2));
}

function parsed(text: string | null | undefined): unknown {
  return text === null || text === undefined ? null : JSON.parse(text);
}

function labelsOf({ selector }: Options): Record<string, string> | undefined {
  if (selector === undefined) return undefined;
  return Object.fromEntries(selector.split(',').map((pair) => pair.split('=', 2) as [string, string]));
}

function labelText(labels: string | null): string {
  const entries = Object.entries((parsed(labels) ?? {}) as Record<string, string>);
  return entries.map(([key, value]) => `${key}=${value}`).join(',');
}
