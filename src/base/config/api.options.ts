import { IsOptional, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { originsProblem } from './origins.js';

const notNegative = { message: 'must not be negative' };
const positive = { message: 'must be greater than 0' };

function directivesProblem(directives: readonly string[]): string | undefined {
  const bad = directives.find((text) => !/^(max-age=\d+|includeSubDomains|preload)$/.test(text));
  return bad === undefined
    ? undefined
    : `has ${JSON.stringify(bad)}; allowed are max-age=<seconds>, includeSubDomains, preload`;
}

/** Limits and timeouts of the API itself. */
export class ApiOptions {
  @Flag({
    name: 'request-timeout',
    type: 'duration',
    usage: 'How long a request other than a watch may take.',
  })
  @Check<number>('positive', (value) => (value > 0 ? undefined : positive.message))
  readonly requestTimeoutMs: number = 60_000;

  @Flag({
    name: 'min-request-timeout',
    type: 'int',
    unit: 'seconds',
    usage: 'Minimum time that a watch stays open; each watch gets a random time between this and twice this.',
  })
  @Min(1, positive)
  readonly minRequestTimeoutSeconds: number = 1800;

  @Flag({
    name: 'enable-priority-and-fairness',
    type: 'bool',
    usage:
      'Sort requests into levels and flows by FlowSchemas and PriorityLevelConfigurations; ' +
      '--max-requests-inflight and --max-mutating-requests-inflight add up to the seats that are shared. When ' +
      'false, each of the two limits applies on its own.',
  })
  readonly priorityAndFairness: boolean = true;

  @Flag({
    name: 'max-requests-inflight',
    type: 'int',
    unit: 'requests',
    usage: 'Maximum number of concurrent reading requests, not counting watches; more get 429. 0: no limit.',
  })
  @Min(0, notNegative)
  @Check<number>('someSeats', (value, all) =>
    all.priorityAndFairness && value === 0 && all.maxMutatingRequestsInflight === 0
      ? 'must not be 0 together with --max-mutating-requests-inflight while --enable-priority-and-fairness is on'
      : undefined,
  )
  readonly maxRequestsInflight: number = 400;

  @Flag({
    name: 'max-mutating-requests-inflight',
    type: 'int',
    unit: 'requests',
    usage: 'Maximum number of concurrent writing requests; more get 429. 0: no limit.',
  })
  @Min(0, notNegative)
  readonly maxMutatingRequestsInflight: number = 200;

  @Flag({
    name: 'max-unauthenticated-requests-inflight',
    type: 'int',
    unit: 'requests',
    usage: 'Maximum number of concurrent anonymous requests, not counting health checks; more get 429. 0: no limit.',
  })
  @Min(0, notNegative)
  readonly maxUnauthenticatedRequestsInflight: number = 100;

  @Flag({
    name: 'max-long-running-request-bytes',
    type: 'int',
    unit: 'bytes',
    usage:
      'Maximum memory in each process that open watches and other long-running requests may keep; more get ' +
      '429. One user, or all service accounts of one namespace, may use half of what the others leave. 0: no ' +
      'limit. Default: a quarter of the heap.',
  })
  @IsOptional()
  @Min(0, notNegative)
  readonly maxLongRunningRequestBytes: number | undefined = undefined;

  @Flag({
    name: 'unread-answer-timeout',
    type: 'duration',
    usage:
      'How long a client may leave a response or a watch unread before its connection is cut; large responses ' +
      'get more time.',
  })
  @Check<number>('positive', (value) => (value > 0 ? undefined : positive.message))
  readonly unreadAnswerTimeoutMs: number = 30_000;

  @Flag({
    name: 'max-connection-bytes-per-sec',
    type: 'int',
    unit: 'bytes',
    usage:
      'Maximum number of bytes per second that are sent to all long-running requests of one connection ' +
      '(watches, logs, streams) together. 0: no limit.',
  })
  @Min(0, notNegative)
  readonly maxConnectionBytesPerSecond: number = 0;

  @Flag({
    name: 'identity-lease-duration-seconds',
    type: 'int',
    unit: 'seconds',
    usage: 'How long the lease of a serving process in the system namespace holds without being renewed.',
  })
  @Check<number>('leaseDuration', (value, all) =>
    value > (all.identityLeaseRenewIntervalSeconds as number) && value <= 2_147_483_647
      ? undefined
      : 'must be more than --identity-lease-renew-interval-seconds',
  )
  readonly identityLeaseDurationSeconds: number = 3600;

  @Flag({
    name: 'identity-lease-renew-interval-seconds',
    type: 'int',
    unit: 'seconds',
    usage: 'How often a serving process renews its lease in the system namespace.',
  })
  @Min(1, positive)
  readonly identityLeaseRenewIntervalSeconds: number = 10;

  @Flag({
    name: 'delete-collection-workers',
    type: 'int',
    unit: 'deletes',
    usage: 'Maximum number of concurrent deletes for one DELETE of a collection.',
  })
  @Min(1, positive)
  readonly deleteCollectionWorkers: number = 1;

  @Flag({
    name: 'enable-garbage-collector',
    type: 'bool',
    usage:
      'A garbage collector runs: the control loop of that name, or that of the upstream controller manager. Deletes with ' +
      'the policies Orphan and Foreground leave the object to it with a finalizer, which nobody else takes away.',
  })
  readonly garbageCollector: boolean = true;

  @Flag({
    name: 'cors-allowed-origins',
    type: 'list',
    unit: 'patterns',
    usage:
      "Regular expressions of origins whose pages may send requests from browsers, such as '//example[.]com(:|$)': each begins " +
      'with ^ or // and ends with $ or the colon of a port. Unset: none.',
  })
  @Check('origins', originsProblem)
  readonly corsAllowedOrigins: readonly string[] = [];

  @Flag({
    name: 'strict-transport-security-directives',
    type: 'list',
    unit: 'directives',
    usage:
      'Directives for browsers in the header Strict-Transport-Security of every response: ' +
      'max-age=31536000,includeSubDomains,preload. Unset: no such header.',
  })
  @Check('directives', directivesProblem)
  readonly strictTransportSecurityDirectives: readonly string[] = [];

  @Flag({
    name: 'shutdown-delay-duration',
    type: 'duration',
    usage:
      'How long requests are still served after a stop signal, with /readyz failing, so that load balancers notice.',
  })
  @Min(0, notNegative)
  readonly shutdownDelayMs: number = 0;

  @Flag({
    name: 'livez-grace-period',
    type: 'duration',
    usage: 'How long after the start /livez passes although the start has not finished.',
  })
  @Min(0, notNegative)
  readonly livezGracePeriodMs: number = 0;
}
