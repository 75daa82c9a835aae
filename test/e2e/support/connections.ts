import { connect as connectTls, type TLSSocket } from 'node:tls';
import { eventually, type TestCluster, type TestServer } from './test-cluster.js';

/* Connections below the level of requests, and the numbers that a server reports about them. */

/** A connection that speaks HTTP/1.1. */
export function dial({ pki }: TestCluster, { url }: TestServer): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      port: Number(new URL(url).port),
      host: '127.0.0.1',
      ca: pki.authority,
      ALPNProtocols: ['http/1.1'],
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Reads everything until the other side closes the connection. */
export async function readAll(socket: TLSSocket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString();
  return text;
}

/** The number that a pattern matches in the metrics of a server; 0 if there is no match. */
export async function metric({ client }: TestServer, pattern: RegExp): Promise<number> {
  const { text } = await client.get('/metrics');
  return Number(pattern.exec(text)?.[1] ?? 0);
}

/** Waits until this many requests are under way; the scrape itself counts as one that reads. */
export async function inFlight(server: TestServer, kind: 'readOnly' | 'mutating', count: number): Promise<void> {
  const pattern = new RegExp(`apiserver_current_inflight_requests\\{request_kind="${kind}"\\} (\\d+)\\n`);
  await eventually(async () => (await metric(server, pattern)) === count, `${count} ${kind} requests under way`);
}

/** The number of open watches of ConfigMaps. */
export function watchers(server: TestServer): Promise<number> {
  return metric(server, /plinth_registered_watchers\{group="",version="v1",kind="ConfigMap"\} (\d+)\n/);
}
