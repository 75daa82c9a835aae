import { IsIn } from 'class-validator';
import { Flag } from './flag.js';

const logLevels = ['error', 'warn', 'info', 'debug'] as const;
const logFormats = ['text', 'json'] as const;

export type LogLevel = (typeof logLevels)[number];
export type LogFormat = (typeof logFormats)[number];

/** What is logged to standard error, and how. */
export class LoggingOptions {
  @Flag({
    name: 'log-level',
    short: 'v',
    type: 'string',
    unit: 'level',
    usage: `Least important messages to log: ${logLevels.join(', ')}.`,
  })
  @IsIn(logLevels, { message: `must be one of ${logLevels.join(', ')}` })
  readonly logLevel: LogLevel = 'info';

  @Flag({
    name: 'log-format',
    type: 'string',
    unit: 'format',
    usage: `Form of a log line: ${logFormats.join(' or ')}.`,
  })
  @IsIn(logFormats, { message: `must be one of ${logFormats.join(', ')}` })
  readonly logFormat: LogFormat = 'text';
}
