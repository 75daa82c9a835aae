/** A question to a name server. */
export interface DnsCase {
  readonly name: string;
  readonly type: string;
  readonly transport?: 'udp' | 'tcp';
  readonly class?: string;
  /** Size that the client announces by EDNS. */
  readonly edns?: number;
  readonly ednsVersion?: number;
  /** Bits of the header; default: recursion desired. */
  readonly flags?: number;
  /** Why answers of the two servers differ: the check fails when they do not. */
  readonly differs?: string;
}

const zone = 'cluster.local';
const svc = (name: string) => `${name}.default.svc.${zone}`;
const all = (name: string, ...types: readonly string[]): DnsCase[] => types.map((type) => ({ name, type }));
const differ = (differs: string, ...cases: readonly DnsCase[]): DnsCase[] =>
  cases.map((each) => ({ ...each, differs }));

const portNames = 'names of ports have SRV records only, as the specification of these names has it';
const levels = 'a name with names below it exists (RFC 8020)';
const aliases = 'an alias is shown with what is known of its target, and the code is that of the target (RFC 6604)';
const answersElsewhere = 'an alias is followed for every type';

/** Queries whose answers follow from the objects in `dns-objects.ts` and the other name server of the check. */
export const dnsCases: readonly DnsCase[] = [
  // Services with addresses.
  ...all(svc('web'), 'A', 'AAAA', 'SRV', 'TXT', 'MX', 'CNAME', 'NS', 'SOA', 'PTR', 'HINFO'),
  ...all(svc('four'), 'A', 'AAAA'),
  { name: svc('web'), type: 'ANY' },
  ...all(`_http._tcp.${svc('web')}`, 'SRV', 'TXT'),
  ...differ(portNames, ...all(`_http._tcp.${svc('web')}`, 'A', 'AAAA')),
  ...all(`_dns._udp.${svc('web')}`, 'SRV'),
  ...all(`_http._udp.${svc('web')}`, 'SRV'),
  ...all(`_nothing._tcp.${svc('web')}`, 'SRV', 'A'),
  ...differ(levels, ...all(`_tcp.${svc('web')}`, 'SRV', 'A')),
  ...differ('such names begin with underscores', ...all(`http.tcp.${svc('web')}`, 'SRV')),
  ...all(`x.${svc('web')}`, 'A'),
  ...all(`x.y.z.${svc('web')}`, 'A'),
  ...all(svc('manyports'), 'SRV'),
  // Headless services.
  ...all(svc('db'), 'A', 'AAAA', 'SRV', 'TXT'),
  ...all(`db-0.${svc('db')}`, 'A', 'AAAA', 'SRV'),
  ...all(`db-3.${svc('db')}`, 'A'),
  ...all(`db-9.${svc('db')}`, 'A', 'AAAA'),
  ...all(`10-244-1-5.${svc('db')}`, 'A'),
  ...all(`_pg._tcp.${svc('db')}`, 'SRV'),
  ...differ(portNames, ...all(`_pg._tcp.${svc('db')}`, 'A')),
  ...all(svc('waiting'), 'A', 'SRV'),
  ...all(svc('early'), 'A'),
  ...all(svc('portless'), 'A', 'SRV'),
  ...all(svc('large'), 'A', 'SRV'),
  { name: svc('large'), type: 'A', transport: 'tcp' },
  { name: svc('large'), type: 'A', edns: 1232 },
  { name: svc('large'), type: 'A', edns: 4096, differs: 'datagrams pass through every network in one piece' },
  // Aliases.
  ...all(svc('outside'), 'A', 'AAAA', 'CNAME'),
  ...differ(answersElsewhere, ...all(svc('outside'), 'SRV', 'TXT', 'MX')),
  ...differ(aliases, ...all(svc('gone'), 'A')),
  ...all(svc('inside'), 'A', 'AAAA', 'CNAME'),
  ...all(svc('chain'), 'A'),
  ...differ('an alias that leads to itself is a failure', ...all(svc('round'), 'A')),
  ...differ(aliases, ...all(svc('missing'), 'A')),
  ...all(svc('number'), 'A'),
  // Levels of the zone.
  ...all(zone, 'SOA', 'A', 'AAAA'),
  ...differ('the zone has a name server, also where that has no service', ...all(zone, 'NS')),
  ...differ(levels, ...all(zone, 'TXT')),
  ...all(`svc.${zone}`, 'A', 'SOA'),
  ...all(`pod.${zone}`, 'A'),
  ...all(`default.svc.${zone}`, 'A', 'AAAA'),
  ...all(`empty.svc.${zone}`, 'A'),
  ...all(`nowhere.svc.${zone}`, 'A'),
  ...all(`*.default.svc.${zone}`, 'A'),
  ...all(`default.${zone}`, 'A'),
  ...differ('all records of the cluster live as long as --ttl says', ...all(`dns-version.${zone}`, 'TXT')),
  ...differ('the name exists', ...all(`dns-version.${zone}`, 'A')),
  ...all(`ns.dns.${zone}`, 'A'),
  ...all(svc('nothing'), 'A', 'AAAA', 'SRV'),
  // Pods.
  ...all(`10-244-0-3.default.pod.${zone}`, 'A', 'AAAA'),
  ...all(`1-2-3-4.default.pod.${zone}`, 'A'),
  ...all(`fd00--3.default.pod.${zone}`, 'AAAA', 'A'),
  ...all(`1-2-3-4.nowhere.pod.${zone}`, 'A'),
  ...all(`words.default.pod.${zone}`, 'A'),
  ...all(`default.pod.${zone}`, 'A'),
  ...all(`300-1-1-1.default.pod.${zone}`, 'A'),
  // Addresses.
  ...all('7.0.96.10.in-addr.arpa', 'PTR', 'A'),
  ...all('4.0.244.10.in-addr.arpa', 'PTR'),
  ...all('5.1.244.10.in-addr.arpa', 'PTR'),
  ...all('9.9.9.10.in-addr.arpa', 'PTR'),
  ...all('0.96.10.in-addr.arpa', 'PTR'),
  ...all('7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.9.0.0.0.0.d.f.ip6.arpa', 'PTR'),
  // Names of others, as search domains make them too.
  ...all('www.example.com', 'A', 'AAAA', 'TXT', 'MX'),
  ...all('nothing.example.com', 'A'),
  ...all(`www.example.com.default.svc.${zone}`, 'A'),
  ...all(`www.example.com.svc.${zone}`, 'A'),
  ...all(`www.example.com.${zone}`, 'A'),
  ...all('web', 'A'),
  ...all('web.default', 'A'),
  ...all('broken.example.com', 'A'),
  { name: 'www.example.com', type: 'A', transport: 'tcp' },
  { name: 'long.example.com', type: 'TXT' },
  { name: 'long.example.com', type: 'TXT', transport: 'tcp' },
  // Forms of a query.
  { name: 'WeB.DeFaULT.sVc.CLUSTER.local', type: 'A' },
  { name: 'DB-0.db.default.svc.Cluster.Local', type: 'AAAA' },
  { name: svc('web'), type: 'A', edns: 1232 },
  { name: svc('nothing'), type: 'A', edns: 512 },
  { name: svc('web'), type: 'A', edns: 100 },
  {
    name: svc('web'),
    type: 'A',
    edns: 1232,
    ednsVersion: 1,
    differs: 'recursion is announced with every response that is not authoritative',
  },
  { name: svc('web'), type: 'A', flags: 0 },
  { name: svc('web'), type: 'A', flags: 0x0110 },
  { name: svc('web'), type: 'A', class: 'CH', differs: 'the names are of the class IN' },
  {
    name: svc('web'),
    type: 'AXFR',
    transport: 'tcp',
    differs: 'recursion is announced with every response that is not authoritative',
  },
  { name: svc('web'), type: 'A', transport: 'tcp' },
];

const header = (id: number, flags: number, ...counts: readonly number[]) =>
  Buffer.from([id >> 8, id & 255, flags >> 8, flags & 255, ...counts.flatMap((count) => [count >> 8, count & 255])]);
const label = (text: string) => Buffer.from([text.length, ...Buffer.from(text)]);
const question = Buffer.concat([label('web'), Buffer.from([0, 0, 1, 0, 1])]);

/** Messages that are no queries as they should be, and the differences between the servers that have a reason. */
export const brokenMessages: readonly { readonly what: string; readonly message: Buffer; readonly differs?: string }[] =
  [
    { what: 'nothing', message: Buffer.alloc(0) },
    { what: 'half a header', message: Buffer.from([1, 2, 1, 0, 0]) },
    { what: 'a header alone', message: header(7, 0x0100, 0, 0, 0, 0) },
    {
      what: 'a question that is not there',
      message: header(7, 0x0100, 1, 0, 0, 0),
      differs: 'it is malformed, not a failure',
    },
    { what: 'two questions', message: Buffer.concat([header(7, 0x0100, 2, 0, 0, 0), question, question]) },
    {
      what: 'half a question',
      message: Buffer.concat([header(7, 0x0100, 1, 0, 0, 0), question.subarray(0, 5)]),
      differs: 'it is malformed: no question of it is answered',
    },
    { what: 'a name without an end', message: Buffer.concat([header(7, 0x0100, 1, 0, 0, 0), label('a'.repeat(63))]) },
    {
      what: 'a name that refers to itself',
      message: Buffer.concat([header(7, 0x0100, 1, 0, 0, 0), Buffer.from([0xc0, 12, 0, 1, 0, 1])]),
    },
    {
      what: 'a name that is too long',
      message: Buffer.concat([
        header(7, 0x0100, 1, 0, 0, 0),
        ...Array.from({ length: 5 }, () => label('a'.repeat(63))),
        Buffer.from([0, 0, 1, 0, 1]),
      ]),
    },
    { what: 'a response', message: Buffer.concat([header(7, 0x8180, 1, 0, 0, 0), question]) },
    {
      what: 'a notification',
      message: Buffer.concat([header(7, 0x2000, 1, 0, 0, 0), question]),
      differs: 'it is no query, and not passed on',
    },
    { what: 'an update', message: Buffer.concat([header(7, 0x2800, 1, 0, 0, 0), question]) },
    { what: 'a status query', message: Buffer.concat([header(7, 0x1000, 1, 0, 0, 0), question]) },
    { what: 'records that are not there', message: Buffer.concat([header(7, 0x0100, 1, 0, 0, 3), question]) },
    { what: 'noise', message: Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 37 + 11) & 127)) },
  ];
