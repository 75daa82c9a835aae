import type { Compatibility } from '../machinery/vendor.js';
import { Flag } from './flag.js';
import { parsePortRange } from './network.js';
import { serviceRangeProblem } from './service-range.js';
import { Check, IsIn, Min } from './validators.js';

const notNegative = { message: 'must not be negative' };
const positive = { message: 'must be greater than 0' };

function vendorProblem(text: string): string | undefined {
  const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
  return new RegExp(`^(?=.{1,200}$)${label}(\\.${label})+$`).test(text)
    ? undefined
    : 'must be a DNS name such as k8s.io';
}

/** Limits, times and names of the API itself. */
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
    usage: 'Least time a watch stays open; each one gets a random time between this and twice this.',
  })
  @Min(1, positive)
  readonly minRequestTimeoutSeconds: number = 1800;

  @Flag({
    name: 'max-requests-inflight',
    type: 'int',
    unit: 'requests',
    usage: 'Most reading requests at one time, watches not counted; more get 429. 0: no limit.',
  })
  @Min(0, notNegative)
  readonly maxRequestsInflight: number = 400;

  @Flag({
    name: 'max-mutating-requests-inflight',
    type: 'int',
    unit: 'requests',
    usage: 'Most writing requests at one time; more get 429. 0: no limit.',
  })
  @Min(0, notNegative)
  readonly maxMutatingRequestsInflight: number = 200;

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

  @Flag({
    name: 'service-cluster-ip-range',
    type: 'string',
    unit: 'cidr',
    usage: 'Range that addresses of Services are taken from.',
  })
  @Check('serviceRange', serviceRangeProblem)
  readonly serviceClusterIpRange: string = '10.0.0.0/16';

  @Flag({
    name: 'service-node-port-range',
    type: 'string',
    unit: 'from-to',
    usage: 'Range that node ports of Services are taken from, both ends included.',
  })
  @Check<string>('portRange', (text) =>
    parsePortRange(text) === undefined ? 'must be two ports such as 30000-32767' : undefined,
  )
  readonly serviceNodePortRange: string = '30000-32767';

  @Flag({
    name: 'vendor',
    type: 'string',
    unit: 'domain',
    usage: 'Suffix of API group names and well-known keys. Existing clients need k8s.io.',
  })
  @Check('vendor', vendorProblem)
  readonly vendor: string = 'k8s.io';

  @Flag({
    name: 'compat',
    type: 'string',
    unit: 'name',
    usage: 'With "kubernetes", namespaces, media types, signers and annotations carry the upstream spellings.',
  })
  @IsIn(['', 'kubernetes'], { message: 'must be empty or kubernetes' })
  readonly compat: Compatibility = '';
}
