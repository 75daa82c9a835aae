import { inspect } from 'node:util';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'text' | 'json';

/**
 * Details of a log line. Errors are shown with message and stack, those that say that they are expected (`isExpected`)
 * by their message only; secrets must not be passed in.
 */
export type LogFields = Readonly<Record<string, unknown>>;

const severity: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Writes one line per entry to standard error, as text for people or as JSON for collectors. */
export class Logger {
  constructor(
    private readonly level: LogLevel = 'info',
    private readonly format: LogFormat = 'text',
    private readonly write: (line: string) => void = (line) => void process.stderr.write(line),
    /** Fields of every line. */
    private readonly always: LogFields = {},
  ) {}

  debug(message: string, fields?: LogFields): void {
    this.log('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.log('info', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.log('warn', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.log('error', message, fields);
  }

  private log(level: LogLevel, message: string, own: LogFields = {}): void {
    if (severity[level] < severity[this.level]) return;
    const fields = { ...this.always, ...own };
    const time = new Date().toISOString();
    if (this.format === 'json') {
      const flat = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plain(value)]));
      this.write(`${safeJson({ time, level, message, ...flat })}\n`);
      return;
    }
    const details = Object.entries(fields).map(([key, value]) => ` ${key}=${asText(value)}`);
    this.write(`${time} ${level.toUpperCase().padEnd(5)} ${message}${details.join('')}\n`);
  }
}

function plain(value: unknown): unknown {
  if (!(value instanceof Error)) return typeof value === 'bigint' ? String(value) : value;
  if (isExpected(value)) return { message: value.message };
  const cause = value.cause === undefined ? {} : { cause: plain(value.cause) };
  return { message: value.message, stack: value.stack, ...cause };
}

function asText(value: unknown): string {
  if (value instanceof Error) {
    if (isExpected(value)) return asText(value.message);
    const cause = value.cause instanceof Error ? ` (cause: ${value.cause.message})` : '';
    return `${value.stack ?? value.message}${cause}`;
  }
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return typeof value === 'bigint' ? String(value) : safeJson(value);
}

function isExpected(error: Error): boolean {
  return (error as { readonly isExpected?: unknown }).isExpected === true;
}

/** Never throws: reports the fault, whatever value was thrown. */
function safeJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member)) ??
      String(value)
    );
  } catch {
    // A cycle, or a getter that throws.
    return JSON.stringify(inspect(value, { depth: 2, breakLength: Number.POSITIVE_INFINITY }));
  }
}
