import { Min } from 'class-validator';
import { Flag } from './flag.js';
import { ProfilingOptions } from './profiling.options.js';

/** What a serving process reports about its own work. */
export class DebuggingOptions extends ProfilingOptions {
  @Flag({
    name: 'slow-request-threshold',
    type: 'duration',
    usage: 'Requests that take longer are logged with the time of each of their phases. 0s: none.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly slowRequestThresholdMs: number = 500;
}
