import { Check } from './check.js';
import { describeFeatureGates, featureGatesProblem, featureGateTexts, featureGateWarnings } from './feature-gates.js';
import { Flag } from './flag.js';
import { parsePortRange } from './network.js';
import { runtimeConfigProblem, runtimeConfigWarnings } from './runtime-config.js';
import { ServerNamesOptions } from './server-names.options.js';
import { serviceRangeProblem } from './service-range.js';

/** The settings that all processes on one database must agree on: names, ranges of Services, served versions. */
export class ClusterOptions extends ServerNamesOptions {
  @Flag({
    name: 'service-cluster-ip-range',
    type: 'string',
    unit: 'cidr[,cidr]',
    usage:
      'Range that addresses of Services are taken from; with one of IPv4 and one of IPv6, Services may have both. The ' +
      'first is for Services that do not name a family.',
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
    name: 'runtime-config',
    type: 'list',
    unit: 'key[=true|false],...',
    usage:
      'Versions and resources to serve or not: api/all, api/ga, api/beta, api/alpha, v1, <group>/<version> or ' +
      '<group>/<version>/<resource>. The more specific key wins. Control loops work on everything stored regardless.',
    warnings: (pairs) => runtimeConfigWarnings(pairs as readonly string[]),
  })
  @Check('runtimeConfig', runtimeConfigProblem)
  readonly runtimeConfig: readonly string[] = [];

  @Flag({
    name: 'feature-gates',
    type: 'list',
    values: featureGateTexts,
    unit: 'Name=true|false,...',
    usage:
      `Features to switch on or off; AllAlpha and AllBeta stand for all features of a stage. ` +
      `${describeFeatureGates()}`,
    warnings: (pairs) => featureGateWarnings(pairs as readonly string[]),
  })
  @Check('featureGates', featureGatesProblem)
  readonly featureGates: readonly string[] = [];
}
