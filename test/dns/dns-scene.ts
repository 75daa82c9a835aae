import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import packet from 'dns-packet';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { freePort } from '../support/ports.js';
import { dnsServices, dnsSlices, sliceBody } from './dns-objects.js';
import { described, exchange, queryOf } from './exchange.js';

/** A name server for the names of others: a few names of example.com. */
export class OutsideNames {
  private readonly udp: Socket = createSocket('udp4');
  private readonly tcp: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      const answer = outsideAnswer(chunk.subarray(2), 65_535);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      socket.write(Buffer.concat([length, answer]));
    });
  });

  async start(): Promise<number> {
    this.tcp.listen(0, '127.0.0.1');
    await once(this.tcp, 'listening');
    const { port } = this.tcp.address() as AddressInfo;
    this.udp.on('message', (message, from) => this.udp.send(outsideAnswer(message, 512), from.port, from.address));
    this.udp.bind(port, '127.0.0.1');
    await once(this.udp, 'listening');
    return port;
  }

  stop(): void {
    this.udp.close();
    this.tcp.close();
  }
}

const outside: Readonly<Record<string, readonly object[]>> = {
  'www.example.com A': [{ type: 'A', ttl: 20, data: '192.0.2.80' }],
  'www.example.com AAAA': [{ type: 'AAAA', ttl: 20, data: '2001:db8::80' }],
  'www.example.com TXT': [{ type: 'TXT', ttl: 20, data: 'hello' }],
  'www.example.com SRV': [
    { type: 'SRV', ttl: 20, data: { priority: 0, weight: 0, port: 1, target: 'www.example.com' } },
  ],
  'long.example.com TXT': Array.from({ length: 8 }, (_, i) => ({ type: 'TXT', ttl: 20, data: `${i}`.repeat(200) })),
};

function outsideAnswer(message: Buffer, most: number): Buffer {
  const { id, questions } = packet.decode(message) as unknown as {
    id: number;
    questions: { name: string; type: string }[];
  };
  const [{ name = '', type = '' } = {}] = questions;
  const found = outside[`${name.toLowerCase()} ${type}`];
  const isKnown = Object.keys(outside).some((key) => key.startsWith(`${name.toLowerCase()} `));
  const data = {
    mname: 'ns.example.com',
    rname: 'hostmaster.example.com',
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 9,
  };
  const authorities = found === undefined ? [{ name: 'example.com', type: 'SOA', ttl: 9, data }] : [];
  const code = name.toLowerCase().startsWith('broken') ? 2 : found === undefined && !isKnown ? 3 : 0;
  const answers = (found ?? []).map((each) => ({ name, ...each }));
  const whole = packet.encode({ type: 'response', id, flags: 0x0180 | code, questions, answers, authorities });
  if (whole.length <= most) return whole;
  return packet.encode({ type: 'response', id, flags: 0x0380 | code, questions });
}

export interface NamesProcess {
  readonly port: number;
  readonly process: ChildProcess;
}

/** A server with the sample objects, and name servers that follow it. */
export class DnsScene {
  private readonly processes: ChildProcess[] = [];

  private constructor(
    readonly cluster: TestCluster,
    private readonly outside: OutsideNames,
    private readonly outsidePort: number,
  ) {}

  static async start(): Promise<DnsScene> {
    const names = new OutsideNames();
    const outsidePort = await names.start();
    const flags = ['--compat=kubernetes', '--service-cluster-ip-range=10.96.0.0/16,fd00:96::/112'];
    const cluster = await TestCluster.start({ servers: 1, flags });
    const { client } = cluster.first;
    const made = async (path: string, body: object) => {
      const answer = await client.post(path, body);
      assert.equal(answer.status, 201, answer.text);
    };
    await made('/api/v1/namespaces', { metadata: { name: 'empty' } });
    for (const [name, spec] of Object.entries(dnsServices)) {
      await made('/api/v1/namespaces/default/services', { metadata: { name }, spec });
    }
    for (const slice of dnsSlices) {
      await made('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', sliceBody(slice));
    }
    return new DnsScene(cluster, names, outsidePort);
  }

  /** @param flags more flags of `plinth dns` */
  async ours(...flags: readonly string[]): Promise<NamesProcess> {
    const port = await freePort();
    return this.run(port, process.execPath, [
      ...[mainFile, 'dns', `--kubeconfig=${this.cluster.first.kubeconfig}`, '--compat=kubernetes'],
      ...['--bind-address=127.0.0.1', `--port=${port}`, `--upstream=127.0.0.1:${this.outsidePort}`],
      ...['--healthz-bind-address=', '--metrics-bind-address=', ...flags],
    ]);
  }

  /**
   * @param program CoreDNS
   * @param caches whether it caches responses, as kubeadm sets it up: their times to live then depend on earlier queries
   */
  async theirs(program: string, caches: boolean): Promise<NamesProcess> {
    const port = await freePort();
    const { directory, pki, adminCertificate, first } = this.cluster;
    const write = (name: string, text: string) => {
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    const certificate = write('coredns.crt', adminCertificate.cert);
    const key = write('coredns.key', adminCertificate.key);
    // What kubeadm sets up, but for the addresses and perhaps the cache.
    const file = write(
      `Corefile-${port}`,
      `.:${port} {
  bind 127.0.0.1
  errors
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    endpoint ${first.url}
    tls ${certificate} ${key} ${pki.authorityFile}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  forward . 127.0.0.1:${this.outsidePort}
  ${caches ? 'cache 30' : ''}
  loadbalance
}
`,
    );
    return this.run(port, program, ['-conf', file, '-quiet']);
  }

  async stop(): Promise<void> {
    for (const child of this.processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await this.cluster.stop();
    this.outside.stop();
  }

  private async run(port: number, program: string, flags: readonly string[]): Promise<NamesProcess> {
    const child = spawn(program, [...flags], { stdio: ['ignore', 'ignore', 'inherit'] });
    endWithUs(child);
    this.processes.push(child);
    const asked = queryOf({ name: 'web.default.svc.cluster.local', type: 'A' });
    await eventually(
      async () => described(await exchange(port, asked)).some((line) => line.startsWith('answer')),
      `answers of ${program}`,
      60_000,
    );
    return { port, process: child };
  }
}
