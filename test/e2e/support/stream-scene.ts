import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { type ClientOptions, WebSocket } from 'ws';
import { NodeAgent } from '../../support/node-agent.js';
import { TestIdentity } from '../../support/test-authority.js';
import type { ApiClient } from './api-client.js';
import { dial } from './connections.js';
import { TestCluster, type TestServer, tokens } from './test-cluster.js';

export const podsPath = '/api/v1/namespaces/default/pods';

/** A serving process, and the agent of its only node with a pod. */
export class StreamScene {
  private constructor(
    readonly cluster: TestCluster,
    readonly agent: NodeAgent,
  ) {}

  static async start(flags: readonly string[] = []): Promise<StreamScene> {
    const callers = await TestIdentity.root('callers');
    const caller = await callers.issue({ subject: [{ CN: ['plinth'] }] });
    const agent = await NodeAgent.start(callers.cert);
    agent.containers.add('main');
    const cluster = await TestCluster.start({ servers: 0 });
    const scene = new StreamScene(cluster, agent);
    try {
      const file = (name: string, text: string) => {
        const path = join(cluster.directory, name);
        writeFileSync(path, text, { mode: 0o600 });
        return path;
      };
      await cluster.addServer(undefined, [
        '--authorization-mode=RBAC',
        `--kubelet-client-certificate=${file('caller.crt', caller.chain)}`,
        `--kubelet-client-key=${file('caller.key', caller.key)}`,
        `--kubelet-certificate-authority=${file('agents.crt', agent.authority)}`,
        ...flags,
      ]);
      await scene.makeNode('node', agent.port);
      await scene.makePod('pod', ['main']);
      return scene;
    } catch (error) {
      await scene.stop();
      throw error;
    }
  }

  get first(): TestServer {
    return this.cluster.first;
  }

  get client(): ApiClient {
    return this.first.client;
  }

  /** Creates a node whose agent is on this machine. */
  async makeNode(name: string, port: number, address = '127.0.0.1'): Promise<void> {
    await this.make('/api/v1/nodes', {
      metadata: { name },
      status: {
        addresses: [{ type: 'InternalIP', address }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    });
  }

  async makePod(
    name: string,
    containers: readonly string[],
    spec: object = { nodeName: 'node' },
    podIP = '127.0.0.1',
  ): Promise<void> {
    const list = containers.map((container) => ({ name: container, image: 'i' }));
    await this.make(podsPath, { metadata: { name, labels: { app: name } }, spec: { containers: list, ...spec } });
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
    assert.equal((await this.client.patch(`${podsPath}/${name}/status`, 'merge', { status })).status, 200);
  }

  async make(path: string, body: object): Promise<void> {
    const answer = await this.client.post(path, body);
    assert.equal(answer.status, 201, answer.text);
  }

  /** Opens a WebSocket to a path, by default as the administrator. */
  open(path: string, protocols: string[], options: ClientOptions = {}): WebSocket {
    const headers = { authorization: `Bearer ${tokens.admin}`, ...options.headers };
    const url = `${this.first.url.replace('https', 'wss')}${path}`;
    const socket = new WebSocket(url, protocols, { ca: this.cluster.pki.authority, ...options, headers });
    socket.on('error', () => undefined);
    return socket;
  }

  /** Opens a connection, requests SPDY, and returns the head of the answer. */
  async spdy(path: string, versions: readonly string[], method = 'POST', token: string = tokens.admin): Promise<Spdy> {
    const socket = await dial(this.cluster, this.first);
    socket.on('error', () => undefined);
    const fields = [
      `Host: ${new URL(this.first.url).host}`,
      `Authorization: Bearer ${token}`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'Content-Length: 0',
      ...versions.map((version) => `X-Stream-Protocol-Version: ${version}`),
    ];
    socket.write(`${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
    let bytes = Buffer.alloc(0);
    while (!bytes.includes('\r\n\r\n')) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      bytes = Buffer.concat([bytes, chunk]);
    }
    socket.pause();
    const end = bytes.indexOf('\r\n\r\n') + 4;
    return { socket, head: bytes.subarray(0, end).toString('latin1'), rest: bytes.subarray(end) };
  }

  /**
   * Stops all servers. Also checks that no server logged actions of its clients, or missing agents, as errors of its
   * own.
   */
  async stop(): Promise<void> {
    const servers = [...this.cluster.servers];
    await this.agent.stop();
    await this.cluster.stop();
    for (const { log } of servers) {
      assert.deepEqual(
        log.split('\n').filter((line) => line.includes(' ERROR ')),
        [],
      );
    }
  }
}

export interface Spdy {
  readonly socket: TLSSocket;
  readonly head: string;
  /** The bytes after the head. */
  readonly rest: Buffer;
}

/** The texts received on the channels of a WebSocket, and its close code. */
export interface ChannelTexts {
  readonly texts: readonly string[];
  readonly closeCode: number;
}

/** Collects all messages until the WebSocket closes. */
export async function channelsOf(socket: WebSocket): Promise<ChannelTexts> {
  const texts: string[] = [];
  socket.on('message', (data: Buffer) => {
    const channel = data[0] ?? 0;
    texts[channel] = (texts[channel] ?? '') + data.subarray(1).toString('utf8');
  });
  const [closeCode] = (await once(socket, 'close')) as [number];
  return { texts, closeCode };
}

/** A message for a channel. */
export function onChannel(channel: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([channel]), Buffer.from(text)]);
}

/** The status and the body of a refused upgrade. */
export async function refusalOf(socket: WebSocket): Promise<{ status: number; message: string; reason: string }> {
  const [, response] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  const { message = '', reason = '' } = JSON.parse(text);
  return { status: response.statusCode, message, reason };
}
