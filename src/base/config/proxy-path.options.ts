import { cidrsProblem, defaultDeniedCidrs } from './admission-webhook.options.js';
import { Check } from './check.js';
import { Flag } from './flag.js';

/** How the server reaches servers in pods and on nodes, for the proxy paths of the API. */
export class ProxyPathOptions {
  @Flag({
    name: 'proxy-denied-cidrs',
    type: 'list',
    unit: 'ranges',
    usage:
      'Ranges of addresses that the proxy paths of pods, services and nodes must not lead to, apart from node agents. A ' +
      'list replaces the default, which is that of --admission-webhook-denied-cidrs and the addresses of this machine alone.',
  })
  @Check('cidrs', cidrsProblem)
  readonly proxyDeniedCidrs: readonly string[] = Object.freeze([...defaultDeniedCidrs, '127.0.0.0/8', '::1/128']);
}
