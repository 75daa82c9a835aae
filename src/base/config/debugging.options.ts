import { Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

/** Profiles of a process. */
export class ProfilingOptions {
  @Flag({
    name: 'profiling',
    type: 'bool',
    usage: 'Serve CPU and memory profiles of the process at /debug/pprof/, for those who may read that path.',
  })
  readonly profiling: boolean = true;

  @Flag({
    name: 'contention-profiling',
    type: 'bool',
    usage: 'Only false: a process has one thread for requests, so there are no locks to profile.',
  })
  @Check<boolean>('contention', (value) =>
    value ? 'must be false: there are no locks to profile; see /debug/pprof/profile' : undefined,
  )
  readonly contentionProfiling: boolean = false;
}

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

/** Where traces go. */
export class TracingOptions {
  @Flag({
    name: 'tracing-config-file',
    type: 'string',
    unit: 'file',
    usage:
      'TracingConfiguration in YAML or JSON: where traces are sent over OTLP, and of how many requests and rounds of loops.',
  })
  readonly tracingConfigFile: string | undefined = undefined;
}
