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
    usage: 'Only false is possible: a process has one thread for requests, so there are no locks to profile.',
  })
  @Check<boolean>('contention', (value) =>
    value ? 'must be false: there are no locks to profile; see /debug/pprof/profile' : undefined,
  )
  readonly contentionProfiling: boolean = false;
}
