import { Max, Min } from 'class-validator';
import { Check } from './check.js';
import { DatabaseUrlOptions } from './database-url.options.js';
import { Flag } from './flag.js';

/** Which past state `plinth sql` shows. */
export class SqlOptions extends DatabaseUrlOptions {
  @Flag({
    name: 'at',
    type: 'string',
    unit: 'moment',
    usage: 'as-of: the moment to read. A time (2026-02-03T14:30:00Z), a span before now (2h-ago), or a version.',
  })
  readonly at: string = 'now';

  @Flag({ name: 'from', type: 'string', unit: 'moment', usage: 'diff: from when on.' })
  readonly from: string = '1h-ago';

  @Flag({ name: 'to', type: 'string', unit: 'moment', usage: 'diff: until when.' })
  readonly to: string = 'now';

  @Flag({ name: 'namespace', short: 'n', type: 'string', unit: 'name', usage: 'Only objects of this namespace.' })
  readonly namespace: string | undefined = undefined;

  @Flag({
    name: 'selector',
    short: 'l',
    type: 'string',
    unit: 'key=value,...',
    usage: 'as-of: only with these labels.',
  })
  @Check<string>('labels', (text) =>
    /^[^=,!]+=[^=,]*(,[^=,!]+=[^=,]*)*$/.test(text) ? undefined : 'must be key=value, several with commas',
  )
  readonly selector: string | undefined = undefined;

  @Flag({
    name: 'verb',
    type: 'string',
    values: ['created', 'updated', 'deleted'],
    unit: 'verb',
    usage: 'history, diff: only these changes: created, updated, deleted.',
  })
  readonly verb: string | undefined = undefined;

  @Flag({ name: 'manager', type: 'string', unit: 'name', usage: 'history, diff: only changes of this field manager.' })
  readonly manager: string | undefined = undefined;

  @Flag({
    name: 'user',
    type: 'string',
    unit: 'name',
    usage: 'history: only changes by this user, by the audit trail.',
  })
  readonly user: string | undefined = undefined;

  @Flag({
    name: 'limit',
    type: 'int',
    unit: 'rows',
    usage: 'At most this many rows: the first objects, the newest changes.',
  })
  @Min(1, { message: 'must be between 1 and 1000000' })
  @Max(1_000_000, { message: 'must be between 1 and 1000000' })
  readonly limit: number = 1000;

  @Flag({
    name: 'output',
    short: 'o',
    type: 'string',
    values: ['table', 'json'],
    unit: 'format',
    usage: 'table, or json with whole objects.',
  })
  @Check<string>('format', (text) => (text === 'table' || text === 'json' ? undefined : 'must be table or json'))
  readonly output: string = 'table';
}
