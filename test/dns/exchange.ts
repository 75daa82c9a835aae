import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import packet from 'dns-packet';
import type { DnsCase } from './dns-cases.js';

const patienceMs = 4_000;
/** Responses of servers that wait for others first. */
const silence = Buffer.alloc(0);

/** The bytes of a query. */
export function queryOf({
  name,
  type,
  class: recordClass = 'IN',
  edns,
  ednsVersion = 0,
  flags = 0x0100,
}: DnsCase): Buffer {
  const opt = { type: 'OPT', name: '.', udpPayloadSize: edns, ednsVersion, flags: 0, options: [] };
  return packet.encode({
    ...{ type: 'query', id: 4711, flags },
    questions: [{ name, type, class: recordClass }],
    ...(edns === undefined ? {} : { additionals: [opt] }),
  });
}

/** The response to a message; empty if there is none. */
export function exchange(
  port: number,
  message: Buffer,
  transport: 'udp' | 'tcp' = 'udp',
  from = '127.0.0.1',
): Promise<Buffer> {
  return transport === 'udp' ? overUdp(port, message, from) : overTcp(port, message);
}

function overUdp(port: number, message: Buffer, from: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    const end = (answer: Buffer) => {
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(() => end(silence), patienceMs);
    socket.on('message', end);
    socket.on('error', () => end(silence));
    socket.bind(0, from, () => socket.send(message, port, '127.0.0.1'));
  });
}

function overTcp(port: number, message: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    const socket = connect(port, '127.0.0.1', () => socket.write(Buffer.concat([length, message])));
    let heard = Buffer.alloc(0);
    const end = (answer: Buffer) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => end(silence), patienceMs);
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk]);
      if (heard.length >= 2 && heard.length >= 2 + heard.readUInt16BE(0))
        end(heard.subarray(2, 2 + heard.readUInt16BE(0)));
    });
    socket.on('error', () => end(silence));
    socket.on('close', () => end(silence));
  });
}

interface Decoded {
  readonly rcode: string;
  readonly flag_tc: boolean;
  readonly flag_aa: boolean;
  readonly flag_rd: boolean;
  readonly flag_ra: boolean;
  readonly questions: readonly { readonly name: string; readonly type: string }[];
  readonly answers: readonly DecodedRecord[];
  readonly authorities: readonly DecodedRecord[];
  readonly additionals: readonly DecodedRecord[];
}

interface DecodedRecord {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly data: unknown;
  readonly extendedRcode?: number;
}

/** What a client learns from a response, as lines that can be compared: records in any order. */
export function described(message: Buffer): readonly string[] {
  if (message.length === 0) return ['silence'];
  if (message.length === 12)
    return [
      `a header: code ${message.readUInt16BE(2) & 15}, ${message.readUInt16BE(2) & 0x8000 ? 'response' : 'query'}`,
    ];
  const { questions, answers, authorities, additionals, ...header } = packet.decode(message) as unknown as Decoded;
  // CoreDNS does not announce recursion with answers of its own, though it passes other names on.
  const known = header.flag_aa ? (['aa', 'tc', 'rd'] as const) : (['tc', 'rd', 'ra'] as const);
  const flags = known.filter((flag) => header[`flag_${flag}`]);
  const opt = additionals.find(({ type }) => type === 'OPT');
  return [
    `${header.rcode} ${flags.join(' ')}${opt === undefined ? '' : ` edns ${opt.extendedRcode}`}`,
    ...questions.map(({ name, type }) => `question ${name} ${type}`),
    // How many records fit depends on how names are compressed.
    ...(header.flag_tc ? [] : [...lines('answer', answers), ...lines('authority', authorities)]),
    ...(header.flag_tc
      ? []
      : lines(
          'additional',
          additionals.filter(({ type }) => type !== 'OPT'),
        )),
  ];
}

function lines(section: string, records: readonly DecodedRecord[]): string[] {
  return records
    .map((record) => `${section} ${record.name.toLowerCase()} ${record.type} ${record.ttl} ${dataOf(record)}`)
    .sort();
}

function dataOf({ type, data }: DecodedRecord): string {
  if (type === 'SOA') return JSON.stringify({ ...(data as object), serial: 0 });
  // Weights count only beside each other, and here all are alike; CoreDNS divides 100 by more than there are records.
  if (type === 'SRV') return JSON.stringify({ ...(data as object), weight: 0 }).toLowerCase();
  if (type === 'TXT') return JSON.stringify([data].flat().map(String));
  return JSON.stringify(data).toLowerCase();
}
