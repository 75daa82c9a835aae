import { IsIn } from 'class-validator';
import { type LogFormat, logFormats } from '../observability/log-format.js';
import { type LogLevel, logLevels } from '../observability/log-level.js';
import { Flag } from './flag.js';

/** From this verbosity on, the reference server logs each request. */
export const debugVerbosity = 4;

/** The level and format of the log on standard error. */
export class LoggingOptions {
  @Flag({
    name: 'log-level',
    short: 'v',
    type: 'string',
    values: logLevels,
    unit: 'level',
    usage: `Lowest level of messages to log: ${logLevels.join(', ')}.`,
  })
  @IsIn(logLevels, { message: `must be one of ${logLevels.join(', ')}` })
  readonly logLevel: LogLevel = 'info';

  @Flag({
    name: 'v',
    type: 'int',
    unit: 'number',
    usage: `Verbosity as other programs have it: from ${debugVerbosity} on, that of --log-level debug. --log-level wins.`,
  })
  readonly verbosity: number = 0;

  @Flag({
    name: 'log-format',
    aliases: ['logging-format'],
    type: 'string',
    values: logFormats,
    unit: 'format',
    usage: `Format of a log line: ${logFormats.join(' or ')}.`,
  })
  @IsIn(logFormats, { message: `must be one of ${logFormats.join(', ')}` })
  readonly logFormat: LogFormat = 'text';

  @Flag({
    name: 'deprecation-warnings',
    type: 'bool',
    usage: 'Warn at the start of deprecated flags and values that are in use.',
  })
  readonly deprecationWarnings: boolean = true;
}
