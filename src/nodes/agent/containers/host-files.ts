import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { DnsConfig } from '../cri/sandbox-messages.js';

/** The host name of a pod, and the domain that it belongs to; empty if it has none. */
export interface HostNames {
  readonly hostname: string;
  readonly domain: string;
}

/** Longer names are cut. */
const longestHostname = 63;

export function hostNamesOf({ metadata, spec }: Pod, nodeName: string, clusterDomain: string): HostNames {
  const name = metadata.name ?? '';
  if (spec.hostnameOverride) return { hostname: spec.hostnameOverride, domain: '' };
  const wanted = spec.hostname || name;
  const hostname = wanted.slice(0, longestHostname).replace(/[-.]+$/, '');
  const domain = spec.subdomain
    ? `${spec.subdomain}.${metadata.namespace}.svc${clusterDomain === '' ? '' : `.${clusterDomain}`}`
    : '';
  if (spec.hostNetwork) return { hostname: nodeName, domain };
  if (spec.setHostnameAsFQDN && domain !== '') return { hostname: `${hostname}.${domain}`, domain };
  return { hostname, domain };
}

const usualHosts = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** The content of /etc/hosts in a container. @param ofHost the file of the machine, for pods in the host's network */
export function hostsFile(pod: Pod, names: HostNames, podIPs: readonly string[], ofHost: string | undefined): string {
  const lines: string[] = [];
  if (ofHost !== undefined) lines.push('# Kubernetes-managed hosts file (host network).', ofHost.trimEnd());
  else {
    const { hostname, domain } = names;
    const short = hostname.split('.')[0] ?? hostname;
    const all = domain === '' ? hostname : `${short}.${domain}\t${short}`;
    lines.push('# Kubernetes-managed hosts file.', ...usualHosts, ...podIPs.map((ip) => `${ip}\t${all}`));
  }
  const aliases = pod.spec.hostAliases ?? [];
  if (aliases.length > 0) {
    lines.push('', '# Entries added by HostAliases.');
    for (const { ip, hostnames } of aliases) lines.push([ip, ...(hostnames ?? [])].join('\t'));
  }
  return `${lines.join('\n')}\n`;
}

/** Reads servers, search domains and options of a resolv.conf. */
export function readResolvConf(text: string): DnsConfig {
  const servers: string[] = [];
  let searches: string[] = [];
  let options: string[] = [];
  for (const line of text.split('\n')) {
    const [word, ...values] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (word === 'nameserver' && values[0] !== undefined) servers.push(values[0]);
    // If a keyword occurs several times, the last line counts.
    else if (word === 'search') searches = values.map((value) => value.replace(/(.)\.$/, '$1'));
    else if (word === 'options') options = values;
  }
  return { servers, searches, options };
}

/** Limits of the resolver libraries in containers. */
const mostServers = 3;
const mostSearches = 32;

/** Whether a pod uses the DNS servers of the cluster. */
export function wantsClusterDns({ spec }: Pick<Pod, 'spec'>): boolean {
  return (
    spec.dnsPolicy === 'ClusterFirstWithHostNet' || (spec.dnsPolicy === 'ClusterFirst' && spec.hostNetwork !== true)
  );
}

/**
 * The DNS configuration of a pod.
 *
 * @param clusterDns servers of the cluster; if it is empty, pods that would use them get those of the machine
 */
export function dnsConfigOf(
  { metadata, spec }: Pod,
  clusterDns: readonly string[],
  clusterDomain: string,
  ofHost: DnsConfig,
): DnsConfig {
  let config: DnsConfig = ofHost;
  if (spec.dnsPolicy === 'None') config = { servers: [], searches: [], options: [] };
  else if (wantsClusterDns({ spec }) && clusterDns.length > 0) {
    const own =
      clusterDomain === '' ? [] : [`${metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
    config = { servers: clusterDns, searches: unique([...own, ...ofHost.searches]), options: ['ndots:5'] };
  }
  const { nameservers, searches, options } = spec.dnsConfig ?? {};
  const added = (options ?? []).map(({ name = '', value }) => (value ? `${name}:${value}` : name));
  const names = new Set(added.map((option) => option.split(':')[0]));
  return {
    servers: unique([...config.servers, ...(nameservers ?? [])]).slice(0, mostServers),
    searches: unique([...config.searches, ...(searches ?? [])]).slice(0, mostSearches),
    options: [...config.options.filter((option) => !names.has(option.split(':')[0])), ...added],
  };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
