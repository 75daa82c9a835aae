import { Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';

/** The database distinguishes the ages of objects for a little longer than this (see `plinth.version_times`). */
const longestTtlMs = 30 * 86_400_000;

/** How long events are kept. */
export class EventOptions {
  @Flag({
    name: 'event-ttl',
    type: 'duration',
    usage: 'How long events are kept after they were last written; the control loops delete them then.',
  })
  @Check<number>('eventTtl', (ms) =>
    ms > 0 && ms <= longestTtlMs ? undefined : 'must be greater than 0 and at most 720h0m0s',
  )
  readonly eventTtlMs: number = 3_600_000;

  @Flag({
    name: 'lease-reuse-duration-seconds',
    type: 'int',
    unit: 'seconds',
    usage:
      'How long events may outlive their time, so that those that end in this time are deleted together. Where ' +
      '--event-ttl is short, a tenth of it at most.',
  })
  @Min(1, { message: 'must be between 1 and 3600' })
  @Max(3600, { message: 'must be between 1 and 3600' })
  readonly leaseReuseDurationSeconds: number = 60;
}
