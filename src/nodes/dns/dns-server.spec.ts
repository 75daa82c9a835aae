import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import packet from 'dns-packet';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { Logger } from '../../base/observability/logger.js';
import type { Node } from '../../objects/apis/core/v1/node.types.js';
import { DnsMetrics } from './dns-metrics.js';
import { DnsServer, type DnsServerOptions } from './dns-server.js';
import { withLength } from './forward/exchange.js';
import { Forwarder } from './forward/forwarder.js';
import { NodeAddresses } from './server/node-addresses.js';
import { QueryHandler } from './server/query-handler.js';
import { sampleDnsCluster, serviceObject, sliceObject } from './testing/sample-cluster.js';

interface Decoded {
  readonly id: number;
  readonly rcode: string;
  readonly flag_tc: boolean;
  readonly flag_aa: boolean;
  readonly questions: readonly { readonly name: string }[];
  readonly answers: readonly {
    readonly name: string;
    readonly type: string;
    readonly ttl: number;
    readonly data: unknown;
  }[];
  readonly authorities: readonly { readonly type: string }[];
  readonly additionals: readonly {
    readonly type: string;
    readonly udpPayloadSize: number;
    readonly extendedRcode: number;
  }[];
}

function query(name: string, type: string, more: object = {}): Buffer {
  return packet.encode({ type: 'query', id: 4711, flags: 0x0100, questions: [{ name, type, class: 'IN' }], ...more });
}

const edns = (udpPayloadSize: number, ednsVersion = 0) => ({
  additionals: [{ type: 'OPT', name: '.', udpPayloadSize, ednsVersion, flags: 0, options: [] }],
});
const read = (message: Buffer) => packet.decode(message) as unknown as Decoded;

async function overUdp(port: number, message: Buffer): Promise<Buffer> {
  const socket = createSocket('udp4');
  try {
    socket.send(message, port, '127.0.0.1');
    const [answer] = (await once(socket, 'message', { signal: AbortSignal.timeout(30_000) })) as [Buffer];
    return answer;
  } finally {
    socket.close();
  }
}

async function overTcp(port: number, ...messages: Buffer[]): Promise<Buffer[]> {
  const socket = connect(port, '127.0.0.1');
  socket.write(Buffer.concat(messages.map(withLength)));
  const answers: Buffer[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      answers.push(rest.subarray(2, 2 + rest.readUInt16BE(0)));
      rest = rest.subarray(2 + rest.readUInt16BE(0));
    }
    if (answers.length === messages.length) break;
  }
  socket.destroy();
  return answers;
}

/** A name server for all other names. It sends the responses that a test sets, or none. */
class Upstream {
  count = 0;
  reply: (message: Buffer) => Buffer | undefined = () => undefined;
  private udp: Socket | undefined;
  private readonly tcp = createServer((socket) => {
    socket.once('data', (chunk: Buffer) => {
      const answer = this.reply(chunk.subarray(2));
      if (answer !== undefined) socket.write(withLength(answer));
    });
  });

  async start(): Promise<number> {
    const udp = createSocket('udp4');
    this.udp = udp;
    udp.on('message', (message, { port, address }) => {
      this.count += 1;
      const answer = this.reply(message);
      if (answer !== undefined) udp.send(answer, port, address);
    });
    // Many more ports are in use for TCP than for UDP.
    this.tcp.listen(0, '127.0.0.1');
    await once(this.tcp, 'listening');
    const { port } = this.tcp.address() as AddressInfo;
    udp.bind(port, '127.0.0.1');
    await once(udp, 'listening');
    return port;
  }

  stop(): void {
    this.udp?.close();
    this.tcp.close();
  }
}

function answerTo(message: Buffer, answers: readonly object[], more: object = {}): Buffer {
  const { id, questions } = read(message);
  return packet.encode({ type: 'response', id, flags: 0x0180, questions, answers, ...more });
}

describe('the name server', () => {
  const upstream = new Upstream();
  const metrics = new DnsMetrics();
  const names = sampleDnsCluster();
  const servers: DnsServer[] = [];
  let isReady = true;
  let upstreamPort: number;
  let port: number;

  async function start(options: Partial<DnsServerOptions> = {}, measured = new DnsMetrics()): Promise<number> {
    const forwarder = new Forwarder({
      options: {
        upstreams: [{ address: '127.0.0.1', port: upstreamPort }],
        cacheMs: 30_000,
        mostAtOnce: 20,
        mostOfClient: 10,
      },
      ...{ metrics: measured, timers: systemTimers, random: () => 0 },
    });
    const handler = new QueryHandler({
      ...{
        names,
        forwarder,
        metrics: measured,
        timers: systemTimers,
        random: Math.random,
        logger: new Logger('error', 'json'),
      },
      isReady: () => isReady,
      zone: { domain: 'cluster.local', ttl: 5, podMode: 'insecure', ownService: 'kube-system/kube-dns' },
    });
    const defaults = { addresses: ['127.0.0.1'], port: 0, clients: [], nodes: undefined, queriesPerSecond: 0 };
    const server = new DnsServer({ ...defaults, ...options }, handler, measured, systemTimers);
    await server.start();
    servers.push(server);
    return server.port;
  }

  before(async () => {
    const ports = [{ name: 'p', protocol: 'TCP', port: 1 }];
    const endpoints = Array.from({ length: 100 }, (_, index) => ({ addresses: [`10.7.0.${index}`] }));
    names.putService(serviceObject('many', { clusterIP: 'None', clusterIPs: ['None'], ports }));
    names.putSlice(sliceObject('many', endpoints, ports));
    upstreamPort = await upstream.start();
    port = await start({}, metrics);
  });
  after(async () => {
    for (const server of servers) await server.stop();
    upstream.stop();
  });

  it('answers over UDP and TCP, with the letters of the question', async () => {
    const asked = query('WEB.default.SVC.cluster.local', 'A');
    const [tcp] = await overTcp(port, asked);
    for (const answer of [await overUdp(port, asked), tcp as Buffer]) {
      const { id, rcode, flag_aa, questions, answers } = read(answer);
      assert.deepEqual([id, rcode, flag_aa], [4711, 'NOERROR', true]);
      assert.equal(questions[0]?.name, 'WEB.default.SVC.cluster.local');
      assert.deepEqual(
        answers.map(({ type, ttl, data }) => [type, ttl, data]),
        [['A', 5, '10.96.0.7']],
      );
      assert.equal(answers[0]?.name.toLowerCase(), 'web.default.svc.cluster.local');
    }
  });

  it('takes several queries on one connection, in pieces too', async () => {
    const asked = ['web', 'gone', 'db'].map((name) => query(`${name}.default.svc.cluster.local`, 'A'));
    const codes = (await overTcp(port, ...asked)).map((answer) => read(answer).rcode);
    assert.deepEqual(codes, ['NOERROR', 'NXDOMAIN', 'NOERROR']);
    const socket = connect(port, '127.0.0.1');
    for (const byte of withLength(asked[0] as Buffer)) {
      await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
    }
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.equal(read(answer.subarray(2)).answers.length, 1);
    socket.destroy();
  });

  it('says how long nothing is known, and truncates what does not fit', async () => {
    const missing = read(await overUdp(port, query('gone.default.svc.cluster.local', 'A')));
    assert.deepEqual([missing.rcode, missing.authorities.map(({ type }) => type)], ['NXDOMAIN', ['SOA']]);
    const many = 'many.default.svc.cluster.local';
    const plain = await overUdp(port, query(many, 'A'));
    assert.ok(plain.length <= 512 && read(plain).flag_tc && read(plain).answers.length > 25);
    const large = await overUdp(port, query(many, 'A', edns(4096)));
    assert.ok(large.length <= 1232 && read(large).flag_tc && read(large).answers.length > 70);
    const [whole] = await overTcp(port, query(many, 'A', edns(4096)));
    const { flag_tc, answers, additionals } = read(whole as Buffer);
    assert.deepEqual([flag_tc, answers.length, additionals.map(({ type }) => type)], [false, 100, ['OPT']]);
    // Additional records may be missing.
    const srv = read(await overUdp(port, query('_http._tcp.db.default.svc.cluster.local', 'SRV')));
    assert.deepEqual([srv.flag_tc, srv.answers.length], [false, 3]);
  });

  it('answers what is no query, or one that it does not know, with the right code', async () => {
    const code = async (message: Buffer) => (await overUdp(port, message)).readUInt16BE(2) & 15;
    const good = query('web.default.svc.cluster.local', 'A');
    assert.equal(read(await overUdp(port, query('x.', 'A', edns(1232, 1)))).additionals[0]?.extendedRcode, 1);
    assert.equal(await code(query('cluster.local', 'AXFR')), 5);
    assert.equal(
      await code(packet.encode({ type: 'query', id: 1, questions: [{ name: 'x', type: 'A', class: 'CH' }] })),
      5,
    );
    const operation = Buffer.from(good);
    operation.writeUInt16BE(0x2100, 2);
    assert.equal(await code(operation), 4);
    const bad: Buffer[] = [
      good.subarray(0, 20),
      Buffer.concat([good.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]),
    ];
    for (const counts of [
      [2, 0, 0, 0],
      [1, 9, 0, 0],
      [1, 0, 0, 65_535],
      [0, 0, 0, 0],
    ]) {
      const each = Buffer.from(good);
      for (const [index, count] of counts.entries()) each.writeUInt16BE(count, 4 + 2 * index);
      bad.push(each);
    }
    for (const message of bad) assert.equal(await code(message), 1);
    // Responses, or pieces of them, are dropped; the server continues.
    const socket = createSocket('udp4');
    const answer = Buffer.from(good);
    answer.writeUInt16BE(0x8180, 2);
    for (const message of [answer, Buffer.from([1]), Buffer.alloc(0)]) socket.send(message, port, '127.0.0.1');
    socket.close();
    assert.equal(await code(good), 0);
  });

  it('says nothing about the cluster before it knows it', async () => {
    isReady = false;
    assert.equal(read(await overUdp(port, query('gone.default.svc.cluster.local', 'A'))).rcode, 'SERVFAIL');
    isReady = true;
  });

  it('passes other names on, and keeps the answers', async () => {
    const before = upstream.count;
    upstream.reply = (message) =>
      answerTo(message, [{ name: 'www.example.com', type: 'A', ttl: 300, data: '192.0.2.80' }]);
    for (const name of ['www.example.com', 'WWW.example.com']) {
      const { id, questions, answers } = read(await overUdp(port, query(name, 'A')));
      assert.deepEqual([id, questions[0]?.name, answers[0]?.data], [4711, name, '192.0.2.80']);
    }
    assert.equal(upstream.count, before + 1);
    const [tcp] = await overTcp(port, query('tcp.example.com', 'A'));
    assert.equal(read(tcp as Buffer).answers.length, 1);
    assert.equal(upstream.count, before + 1, 'what came over TCP is passed on over TCP');
    const { answers } = read(await overUdp(port, query('outside.default.svc.cluster.local', 'A')));
    assert.deepEqual(
      answers.map(({ type, data }) => `${type} ${data}`),
      ['CNAME www.example.com', 'A 192.0.2.80'],
    );
    const inside = read(await overUdp(port, query('inside.default.svc.cluster.local', 'A')));
    assert.deepEqual(inside.answers.map(({ type, data }) => `${type} ${data}`).sort(), [
      'A 10.96.0.7',
      'CNAME web.default.svc.cluster.local',
    ]);
    const round = read(await overUdp(port, query('round.default.svc.cluster.local', 'A')));
    assert.deepEqual([round.rcode, round.answers.length], ['SERVFAIL', 1]);
  });

  it('follows aliases to names of others for every type, with their codes, over TCP where it has to', async () => {
    const outside = (type: string) => query('outside.default.svc.cluster.local', type);
    const name = 'www.example.com';
    upstream.reply = (message) =>
      answerTo(message, [{ name, type: 'MX', ttl: 9, data: { preference: 5, exchange: 'mx.example.com' } }]);
    const mail = read(await overUdp(port, outside('MX')));
    assert.deepEqual(
      mail.answers.map(({ type }) => type),
      ['CNAME', 'MX'],
    );
    upstream.reply = (message) =>
      answerTo(message, [{ name, type: 'UNKNOWN_65', ttl: 9, data: Buffer.from('000100', 'hex') }]);
    const unknown = read(await overUdp(port, outside('UNKNOWN_65')));
    assert.deepEqual(unknown.answers[1]?.data, Buffer.from('000100', 'hex'));
    const data = {
      mname: 'ns.example.com',
      rname: 'hostmaster.example.com',
      serial: 1,
      refresh: 1,
      retry: 1,
      expire: 1,
      minimum: 9,
    };
    const authorities = [{ name: 'example.com', type: 'SOA', ttl: 9, data }];
    upstream.reply = (message) => answerTo(message, [], { flags: 0x0183, authorities });
    const gone = read(await overUdp(port, outside('SRV')));
    assert.deepEqual([gone.rcode, gone.answers.length, gone.authorities[0]?.type], ['NXDOMAIN', 1, 'SOA']);
    let asked = 0;
    upstream.reply = (message) =>
      asked++ === 0
        ? answerTo(message, [], { flags: 0x0380 })
        : answerTo(message, [{ name, type: 'TXT', ttl: 9, data: 'all' }]);
    const long = read(await overUdp(port, outside('TXT')));
    assert.deepEqual(
      long.answers.map(({ type }) => type),
      ['CNAME', 'TXT'],
    );
    assert.equal(asked, 2);
  });

  it('does not take what is no answer to its own question', async () => {
    upstream.reply = (message) => {
      const forged = answerTo(message, [{ name: 'bank.example.com', type: 'A', ttl: 300, data: '6.6.6.6' }]);
      forged.writeUInt16BE((message.readUInt16BE(0) + 1) % 65_536, 0);
      const other = packet.encode({
        ...{ type: 'response', id: message.readUInt16BE(0), flags: 0x0180 },
        questions: [{ name: 'x.example.com', type: 'A', class: 'IN' }],
        answers: [{ name: 'bank.example.com', type: 'A', ttl: 300, data: '6.6.6.6' }],
      });
      upstream.reply = (again) =>
        answerTo(again, [{ name: 'bank.example.com', type: 'A', ttl: 300, data: '192.0.2.9' }]);
      return message.length % 2 === 0 ? forged : other;
    };
    for (const name of ['bank.example.com', 'banks.example.com']) {
      assert.equal(read(await overUdp(port, query(name, 'A'))).answers[0]?.data, '192.0.2.9');
    }
  });

  it('passes on no more over UDP than the client asked for', async () => {
    const records = Array.from({ length: 100 }, (_, n) => ({
      ...{ name: 'long.example.com', type: 'A', ttl: 300, data: `192.0.2.${n}` },
    }));
    upstream.reply = (message) => answerTo(message, records);
    for (const more of [{}, edns(512), edns(65_535)]) {
      const answer = await overUdp(port, query('long.example.com', 'A', more));
      const { flag_tc, answers, questions, id } = read(answer);
      assert.deepEqual([flag_tc, answers.length, questions[0]?.name, id], [true, 0, 'long.example.com', 4711]);
    }
    const [whole] = await overTcp(port, query('long.example.com', 'A'));
    assert.equal(read(whole as Buffer).answers.length, 100);
  });

  it('lets nobody choose the answers of others by what their own queries have beside the question', async () => {
    const asked: Buffer[] = [];
    upstream.reply = (message) => {
      asked.push(message);
      const isOdd = message.length > query('shared.example.com', 'A', edns(1232)).length;
      return answerTo(message, isOdd ? [] : [{ name: 'shared.example.com', type: 'A', ttl: 300, data: '192.0.2.1' }], {
        flags: isOdd ? 0x0182 : 0x0180,
      });
    };
    const plain = query('shared.example.com', 'A', edns(1232));
    const option = {
      additionals: [
        { type: 'OPT', name: '.', udpPayloadSize: 1232, options: [{ code: 65_001, data: Buffer.alloc(8) }] },
      ],
    };
    const odd = [
      query('shared.example.com', 'A', option),
      Buffer.concat([plain, Buffer.from('more')]),
      query('shared.example.com', 'A', {
        additionals: [...edns(1232).additionals, { name: 'x', type: 'TXT', class: 'ANY', ttl: 0, data: 'signed' }],
      }),
    ];
    const [mine, ...theirs] = await Promise.all([...odd, plain].map((message) => overUdp(port, message))).then((all) =>
      all.reverse(),
    );
    assert.equal(read(mine as Buffer).answers.length, 1);
    assert.deepEqual(
      theirs.map((answer) => read(answer).rcode),
      ['SERVFAIL', 'SERVFAIL', 'SERVFAIL'],
    );
    assert.equal(asked.length, 4);
  });

  it('lets a client that asks too much harm only itself', async () => {
    const measured = new DnsMetrics();
    const limited = await start({ queriesPerSecond: 3 }, measured);
    const socket = createSocket('udp4');
    let answered = 0;
    socket.on('message', () => {
      answered += 1;
    });
    for (let count = 0; count < 50; count++)
      socket.send(query('web.default.svc.cluster.local', 'A'), limited, '127.0.0.1');
    await once(socket, 'message');
    // Another client has its own budget.
    const other = createSocket('udp4');
    other.bind(0, '127.0.0.2');
    await once(other, 'listening');
    other.send(query('web.default.svc.cluster.local', 'A'), limited, '127.0.0.1');
    await once(other, 'message', { signal: AbortSignal.timeout(30_000) });
    assert.ok(answered < 50);
    assert.match(await measured.registry.metrics(), /plinth_dns_dropped_queries_total\{reason="too-many"\} [1-9]/);
    socket.close();
    other.close();
  });

  it('refuses more queries for other names than may be under way', async () => {
    upstream.reply = () => undefined;
    const asked = Array.from({ length: 11 }, (_, index) => overUdp(port, query(`slow-${index}.example.com`, 'A')));
    const codes = (await Promise.all(asked)).map((answer) => read(answer).rcode).sort();
    assert.deepEqual(codes, ['REFUSED', ...Array.from({ length: 10 }, () => 'SERVFAIL')]);
  });

  it('does not answer clients that are not allowed', async () => {
    const closed = await start({ clients: ['127.0.0.9/32'] });
    const [socket, allowed] = [createSocket('udp4'), createSocket('udp4')];
    let isAnswered = false;
    socket.on('message', () => {
      isAnswered = true;
    });
    socket.send(query('web.default.svc.cluster.local', 'A'), closed, '127.0.0.1');
    allowed.bind(0, '127.0.0.9');
    await once(allowed, 'listening');
    allowed.send(query('web.default.svc.cluster.local', 'A'), closed, '127.0.0.1');
    await once(allowed, 'message', { signal: AbortSignal.timeout(30_000) });
    assert.equal(isAnswered, false);
    socket.close();
    allowed.close();
  });

  it('answers the nodes of the cluster while they are nodes', async () => {
    const nodes = new NodeAddresses();
    const closed = await start({ nodes });
    const node = (uid: string, address: string) =>
      nodes.put({
        ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: uid, uid, resourceVersion: '1' } },
        status: { addresses: [{ type: 'InternalIP', address }] },
      } as unknown as Node & ApiObject);
    node('first', '127.0.0.8');
    node('second', '127.0.0.9');
    nodes.remove('second');
    const [gone, known] = [createSocket('udp4'), createSocket('udp4')];
    let isAnswered = false;
    gone.on('message', () => {
      isAnswered = true;
    });
    for (const [socket, address] of [
      [gone, '127.0.0.9'],
      [known, '127.0.0.8'],
    ] as const) {
      socket.bind(0, address);
      await once(socket, 'listening');
      socket.send(query('web.default.svc.cluster.local', 'A'), closed, '127.0.0.1');
    }
    await once(known, 'message', { signal: AbortSignal.timeout(30_000) });
    assert.equal(isAnswered, false);
    gone.close();
    known.close();
  });

  it('counts under the names that dashboards know', async () => {
    const text = await metrics.registry.metrics();
    const server = `dns://:${port}`;
    assert.match(
      text,
      new RegExp(
        `coredns_dns_requests_total\\{server="${server}",zone="cluster.local.",proto="udp",family="1",type="A"\\} [1-9]`,
      ),
    );
    assert.match(
      text,
      /coredns_dns_responses_total\{server="[^"]*",zone="cluster.local.",rcode="NXDOMAIN",plugin="kubernetes"\} [1-9]/,
    );
    assert.match(text, /coredns_cache_hits_total\{type="success"\} [1-9]/);
    assert.match(text, /coredns_cache_entries\{type="success"\} [1-9]/);
    assert.match(text, /coredns_forward_requests_total\{to="127.0.0.1:\d+"\} [1-9]/);
    assert.match(text, /coredns_panics_total 0/);
  });
});
