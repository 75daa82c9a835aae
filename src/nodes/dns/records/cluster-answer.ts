import { isIP } from 'node:net';
import { canonicalAddress } from '../../../base/config/network.js';
import { type Answer, answerOf, type NameRecord } from '../wire/answer.js';
import { recordTypes } from '../wire/codes.js';
import type { NameSource } from './cluster-names.js';
import type { EndpointRecord, PortRecord, ServiceRecords } from './service-records.js';

/** Names of pods that are answered: none, all in the form of an address, or those of existing pods. */
export type PodMode = 'disabled' | 'insecure' | 'verified';

export interface ZoneSettings {
  /** The domain of the cluster without a dot at the end: `cluster.local`. */
  readonly domain: string;
  /** TTL of the records, in seconds. */
  readonly ttl: number;
  readonly podMode: PodMode;
  /** Namespace and name of the service for this server. */
  readonly ownService: string;
}

/** The question of the query. */
export interface Question {
  /** In lower case. */
  readonly labels: readonly string[];
  readonly type: number;
}

/** The answer to a question from the objects of the cluster. */
export type ClusterAnswer =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The answer is an alias; the query continues with its target. */
  | { readonly kind: 'alias'; readonly alias: NameRecord; readonly target: string }
  /** The name is not in a zone of the cluster. */
  | { readonly kind: 'elsewhere' };

const schemaVersion = '1.1.0';
/** The most records of one type in an answer: a message can't contain more. */
const mostRecords = 4096;
/** The most ports of endpoints that are looked at for an answer. */
const mostLooked = 4 * mostRecords;

/**
 * Answers a question from the objects of a cluster, by the specification of DNS-based service discovery, version 1.1.0.
 *
 * @param serial grows when objects change
 */
export function clusterAnswer(
  question: Question,
  source: NameSource,
  settings: ZoneSettings,
  serial: number,
): ClusterAnswer {
  const { labels, type } = question;
  const zone = settings.domain.split('.');
  const isInside = labels.length >= zone.length && zone.every((label, i) => labels.at(i - zone.length) === label);
  if (!isInside) return type === recordTypes.PTR ? reverseAnswer(labels, source, settings) : { kind: 'elsewhere' };
  return new ZoneAnswer(question, source, settings, serial).answer(labels.slice(0, labels.length - zone.length));
}

const keptTypes: readonly number[] = [recordTypes.A, recordTypes.AAAA, recordTypes.SRV];
/** Answers about the own names of services, by their type, time and name, as long as the records are the same. */
const keptAnswers = new WeakMap<ServiceRecords, Map<string, ClusterAnswer | 'empty'>>();
const hostnames = new WeakMap<readonly EndpointRecord[], ReadonlyMap<string, readonly EndpointRecord[]>>();

function byHostname(endpoints: readonly EndpointRecord[]): ReadonlyMap<string, readonly EndpointRecord[]> {
  const known = hostnames.get(endpoints) ?? Map.groupBy(endpoints, ({ hostname }) => hostname);
  hostnames.set(endpoints, known);
  return known;
}

/** One question about a name in the zone. */
class ZoneAnswer {
  private readonly name: string;

  constructor(
    private readonly question: Question,
    private readonly source: NameSource,
    private readonly settings: ZoneSettings,
    private readonly serial: number,
  ) {
    this.name = question.labels.join('.');
  }

  /** @param labels the labels below the zone */
  answer(labels: readonly string[]): ClusterAnswer {
    const kind = labels.at(-1);
    if (kind === undefined) return this.apex();
    const rest = labels.slice(0, -1);
    if (kind === 'svc') return this.inServices(rest);
    if (kind === 'pod') return this.pod(rest);
    if (labels.length === 1 && kind === 'dns-version') return this.version();
    if (kind === 'dns' && labels.length <= 2) return this.ownName(rest);
    return this.nothing('NXDOMAIN');
  }

  private version(): ClusterAnswer {
    if (this.question.type !== recordTypes.TXT) return this.nothing('NOERROR');
    return this.records([this.record('TXT', schemaVersion)]);
  }

  private apex(): ClusterAnswer {
    const { type } = this.question;
    if (type === recordTypes.SOA) return this.records([this.authority()]);
    if (type !== recordTypes.NS) return this.nothing('NOERROR');
    const name = `ns.dns.${this.settings.domain}`;
    return this.records([this.record('NS', name)], this.addressRecords(name, this.ownAddresses()));
  }

  private ownName(rest: readonly string[]): ClusterAnswer {
    if (rest.length === 0) return this.nothing('NOERROR');
    return rest[0] === 'ns' ? this.addresses(this.ownAddresses()) : this.nothing('NXDOMAIN');
  }

  private ownAddresses(): readonly string[] {
    const records = this.source.recordsOf(this.settings.ownService);
    return records?.kind === 'cluster' ? records.addresses : [];
  }

  private pod(rest: readonly string[]): ClusterAnswer {
    const { source, settings } = this;
    const [label, namespace] = rest.length === 1 ? [undefined, rest[0]] : rest;
    if (settings.podMode === 'disabled' && rest.length > 0) return this.nothing('NXDOMAIN');
    if (namespace === undefined) return this.nothing('NOERROR');
    if (rest.length > 2 || !source.hasNamespace(namespace)) return this.nothing('NXDOMAIN');
    if (label === undefined) return this.nothing('NOERROR');
    const address = addressOfLabel(label);
    if (address === undefined) return this.nothing('NXDOMAIN');
    if (settings.podMode === 'verified' && !source.hasPod(namespace, address)) return this.nothing('NXDOMAIN');
    return this.addresses([address]);
  }

  private inServices(rest: readonly string[]): ClusterAnswer {
    const namespace = rest.at(-1);
    if (namespace === undefined) return this.nothing('NOERROR');
    const name = rest.at(-2);
    if (name === undefined) return this.nothing(this.source.hasNamespace(namespace) ? 'NOERROR' : 'NXDOMAIN');
    const records = this.source.recordsOf(`${namespace}/${name}`);
    if (records === undefined) return this.nothing('NXDOMAIN');
    const base = `${name}.${namespace}.svc.${this.settings.domain}`;
    const below = rest.slice(0, -2);
    if (records.kind === 'external') return below.length === 0 ? this.alias(records.target) : this.nothing('NXDOMAIN');
    if (below.length === 0) return this.service(records, base);
    const [first = '', second] = below;
    if (below.length === 2 && first.startsWith('_') && second?.startsWith('_')) {
      return this.services(records, base, portKey({ name: first.slice(1), protocol: second.slice(1) }));
    }
    if (below.length > 1) return this.nothing('NXDOMAIN');
    return first.startsWith('_') ? this.protocol(records, first.slice(1)) : this.endpoint(records, base, first);
  }

  private service(records: Exclude<ServiceRecords, { kind: 'external' }>, base: string): ClusterAnswer {
    if (records.kind === 'headless' && records.endpoints.length === 0) return this.nothing('NXDOMAIN');
    if (records.kind === 'cluster' && this.question.type !== recordTypes.SRV) return this.addresses(records.addresses);
    return this.kept(records, () =>
      this.question.type === recordTypes.SRV
        ? this.services(records, base, anyPort, 'NOERROR')
        : this.addresses([...new Set(records.endpoints.map(({ address }) => address))]),
    );
  }

  /** The answer made before from the same records of a service, if there are any: it may have thousands of records. */
  private kept(records: ServiceRecords, make: () => ClusterAnswer): ClusterAnswer {
    const { type } = this.question;
    if (!keptTypes.includes(type)) return this.nothing('NOERROR');
    const answers = keptAnswers.get(records) ?? new Map<string, ClusterAnswer | 'empty'>();
    keptAnswers.set(records, answers);
    const key = `${type} ${this.settings.ttl} ${this.name}`;
    const known = answers.get(key);
    // Empty answers say as of when.
    if (known !== undefined) return known === 'empty' ? this.nothing('NOERROR') : known;
    const made = make();
    answers.set(key, made.kind === 'answer' && made.answer.answers.length === 0 ? 'empty' : made);
    return made;
  }

  /** Answers a name of a port of a service. @param otherwise the answer when the service has no such port */
  private services(
    records: Exclude<ServiceRecords, { kind: 'external' }>,
    base: string,
    wanted: string,
    otherwise: 'NOERROR' | 'NXDOMAIN' = 'NXDOMAIN',
  ): ClusterAnswer {
    const places: Place[] =
      records.kind === 'cluster'
        ? portsOf(records.ports, wanted).map(({ port }) => ({ target: base, port, addresses: records.addresses }))
        : placesOf(records.endpoints, base, wanted);
    if (places.length === 0) return this.nothing(otherwise);
    if (this.question.type !== recordTypes.SRV) return this.nothing('NOERROR');
    return this.srv(places);
  }

  private srv(places: readonly Place[]): ClusterAnswer {
    const shown = places.slice(0, mostRecords);
    const weight = Math.max(1, Math.floor(100 / shown.length));
    const addresses = new Map(shown.map((place) => [place.target, place.addresses]));
    return this.records(
      shown.map(({ target, port }) => this.record('SRV', { priority: 0, weight, port, target })),
      [...addresses].flatMap(([target, all]) => this.addressRecords(target, all)),
    );
  }

  /** A name with only a protocol, which has no records itself. */
  private protocol(records: Exclude<ServiceRecords, { kind: 'external' }>, protocol: string): ClusterAnswer {
    const lists =
      records.kind === 'cluster' ? [records.ports] : new Set(records.endpoints.map((endpoint) => endpoint.ports));
    const isThere = [...lists].some((ports) => ports.some((port) => port.protocol === protocol && port.name !== ''));
    return this.nothing(isThere ? 'NOERROR' : 'NXDOMAIN');
  }

  private endpoint({ endpoints }: { endpoints: readonly EndpointRecord[] }, base: string, name: string): ClusterAnswer {
    const found = byHostname(endpoints).get(name) ?? [];
    if (found.length === 0) return this.nothing('NXDOMAIN');
    if (this.question.type !== recordTypes.SRV) return this.addresses(found.map(({ address }) => address));
    const places = placesOf(found, base, anyPort);
    return places.length === 0 ? this.nothing('NOERROR') : this.srv(places);
  }

  private alias(target: string): ClusterAnswer {
    const alias = this.record('CNAME', target);
    return this.question.type === recordTypes.CNAME ? this.records([alias]) : { kind: 'alias', alias, target };
  }

  private addresses(all: readonly string[]): ClusterAnswer {
    const family = { [recordTypes.A]: 4, [recordTypes.AAAA]: 6 }[this.question.type];
    const wanted = all.filter((address) => isIP(address) === family).slice(0, mostRecords);
    if (wanted.length === 0) return this.nothing('NOERROR');
    return this.records(this.addressRecords(this.name, wanted));
  }

  private addressRecords(name: string, addresses: readonly string[]): NameRecord[] {
    const { ttl } = this.settings;
    return addresses.map((address) => ({ name, type: isIP(address) === 4 ? 'A' : 'AAAA', ttl, data: address }));
  }

  private record(type: NameRecord['type'], data: unknown): NameRecord {
    return { name: this.name, type, ttl: this.settings.ttl, data };
  }

  private records(answers: readonly NameRecord[], additionals: readonly NameRecord[] = []): ClusterAnswer {
    return { kind: 'answer', answer: answerOf('NOERROR', { isAuthoritative: true, answers, additionals }) };
  }

  private nothing(code: 'NOERROR' | 'NXDOMAIN'): ClusterAnswer {
    return { kind: 'answer', answer: answerOf(code, { isAuthoritative: true, authorities: [this.authority()] }) };
  }

  /** The record that limits how long a negative answer may be cached. */
  private authority(): NameRecord {
    return zoneAuthority(this.settings, this.serial);
  }
}

/** The SOA record of the zone. */
export function zoneAuthority({ domain, ttl }: ZoneSettings, serial: number): NameRecord {
  const times = { refresh: 7200, retry: 1800, expire: 86_400, minimum: ttl };
  const data = { mname: `ns.dns.${domain}`, rname: `hostmaster.${domain}`, serial, ...times };
  return { name: domain, type: 'SOA', ttl, data };
}

interface Place {
  readonly target: string;
  readonly port: number;
  readonly addresses: readonly string[];
}

/** Ports by their name and protocol. Endpoints of one slice share their list, which may have thousands. */
const portsByKey = new WeakMap<readonly PortRecord[], ReadonlyMap<string, readonly PortRecord[]>>();
/** Stands for the ports of all names. */
const anyPort = '';

function portKey({ name, protocol }: Pick<PortRecord, 'name' | 'protocol'>): string {
  return `${name} ${protocol}`;
}

function portsOf(ports: readonly PortRecord[], wanted: string): readonly PortRecord[] {
  if (wanted === anyPort) return ports;
  const known = portsByKey.get(ports) ?? Map.groupBy(ports, portKey);
  portsByKey.set(ports, known);
  return known.get(wanted) ?? [];
}

/** The places of the wanted ports, as many as an answer can have. */
function placesOf(endpoints: readonly EndpointRecord[], base: string, wanted: string): readonly Place[] & Place[] {
  const found = new Map<string, { target: string; port: number; addresses: string[] }>();
  let looked = 0;
  for (const { hostname, address, ports } of endpoints) {
    for (const { port } of portsOf(ports, wanted)) {
      if (++looked > mostLooked) return [...found.values()];
      const key = `${hostname} ${port}`;
      const known = found.get(key);
      if (known !== undefined) known.addresses.push(address);
      else if (found.size < mostRecords) found.set(key, { target: `${hostname}.${base}`, port, addresses: [address] });
      else return [...found.values()];
    }
  }
  return [...found.values()];
}

/** `10-244-1-7` or `fd00--7` as an address. */
function addressOfLabel(label: string): string | undefined {
  const isFour = /^\d+-\d+-\d+-\d+$/.test(label);
  const text = label.replaceAll('-', isFour ? '.' : ':');
  return isIP(text) === 0 ? undefined : canonicalAddress(text);
}

function reverseAnswer(labels: readonly string[], source: NameSource, { domain, ttl }: ZoneSettings): ClusterAnswer {
  const address = reversedAddress(labels);
  if (address === undefined) return { kind: 'elsewhere' };
  const services = source.servicesAt(address).map((service) => nameOf(service, domain));
  const targets =
    services.length > 0
      ? services
      : source.endpointsAt(address).map(({ service, hostname }) => `${hostname}.${nameOf(service, domain)}`);
  if (targets.length === 0) return { kind: 'elsewhere' };
  const name = labels.join('.');
  const answers = targets.map((data): NameRecord => ({ name, type: 'PTR', ttl, data }));
  return { kind: 'answer', answer: answerOf('NOERROR', { isAuthoritative: true, answers }) };
}

function nameOf(service: string, domain: string): string {
  const [namespace = '', name = ''] = service.split('/');
  return `${name}.${namespace}.svc.${domain}`;
}

/** The address of a name such as `1.0.96.10.in-addr.arpa`. */
function reversedAddress(labels: readonly string[]): string | undefined {
  const zone = labels.slice(-2).join('.');
  const parts = labels.slice(0, -2).reverse();
  if (zone === 'in-addr.arpa' && parts.length === 4) {
    const text = parts.join('.');
    return isIP(text) === 4 ? text : undefined;
  }
  if (zone !== 'ip6.arpa' || parts.length !== 32 || !parts.every((part) => /^[0-9a-f]$/.test(part))) return undefined;
  return canonicalAddress((parts.join('').match(/.{4}/g) ?? []).join(':'));
}
