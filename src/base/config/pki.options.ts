import { isIP } from 'node:net';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { serviceRangeProblem } from './service-range.js';

const dnsName = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/i;

/** The problem with a server's address, or undefined. */
export function serverProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === 'https:' ? undefined : 'must be a URL such as https://api.example.com:6443';
}

/** The problem with further names of a serving certificate, or undefined. */
export function namesProblem(names: readonly string[]): string | undefined {
  const wrong = names.filter((name) => isIP(name) === 0 && !dnsName.test(name));
  return wrong.length === 0 ? undefined : `has no DNS name or IP address in ${wrong.join(', ')}`;
}

/** Certificates that are made once and handed to the serving processes. */
export class PkiOptions {
  @Flag({
    name: 'cert-dir',
    type: 'string',
    unit: 'folder',
    usage:
      'Where to put ca.crt, apiserver.crt, admin.crt, front-proxy-ca.crt, their keys, service-account.key and ' +
      'admin.kubeconfig. Files that are still valid are kept; files that others made are never overwritten.',
  })
  readonly certDir: string = '.plinth/pki';

  @Flag({
    name: 'server',
    type: 'string',
    unit: 'url',
    usage: 'URL at which clients reach the API, for the kubeconfig.',
  })
  @Check('server', serverProblem)
  readonly server: string = 'https://127.0.0.1:6443';

  @Flag({
    name: 'tls-names',
    type: 'list',
    unit: 'names',
    usage: 'Further DNS names and IP addresses of the serving certificate.',
  })
  @Check('names', namesProblem)
  readonly tlsNames: readonly string[] = [];

  @Flag({
    name: 'service-cluster-ip-range',
    type: 'string',
    unit: 'cidr[,cidr]',
    usage:
      "Ranges of the addresses of Services, as the servers have them: the serving certificate names the first address of the first one, the API's own.",
  })
  @Check('serviceRange', serviceRangeProblem)
  readonly serviceClusterIpRange: string = '10.0.0.0/16';
}
