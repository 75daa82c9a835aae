import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { setTimeout as delay } from 'node:timers/promises';
import { configMaps, type Target } from './target.js';

/*
 * An attacker in a process of its own: sends many concurrent requests of the given kind over a few HTTP/2 connections.
 * Reports how they were answered when its parent asks it to stop.
 */
const [, , targetText = '{}', kind = '', parallelText = '256'] = process.argv;
const target = JSON.parse(targetText) as Target;
const parallel = Number(parallelText);
const connections = 8;
const counts: Record<string, number> = {};
let isOver = false;
let next = 0;

const sessions: (ClientHttp2Session | undefined)[] = [];

function sessionOf(slot: number): ClientHttp2Session {
  const at = slot % connections;
  const open = sessions[at];
  if (open !== undefined && !open.closed && !open.destroyed) return open;
  const session = connect(target.url, { rejectUnauthorized: false, maxSendHeaderBlockLength: 1 << 20 });
  session.on('error', () => undefined);
  sessions[at] = session;
  return session;
}

interface Attack {
  readonly method: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Buffer;
  /** Milliseconds between the bytes of the body, or between reads of the answer. */
  readonly slowMs?: number;
  /** The client drops the response after its first bytes. */
  readonly isCut?: boolean;
}

const as = (user: string, ...groups: string[]): OutgoingHttpHeaders => ({
  'impersonate-user': user,
  ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
});
const account = (n: number) => as(`system:serviceaccount:greedy:a-${n % 1000}`, 'system:serviceaccounts');
const user = (n: number) => as(`greedy-${n % 1000}`);
const bearer = { authorization: `Bearer ${target.token}` };
const json = { 'content-type': 'application/json' };
const map = (n: number) => Buffer.from(JSON.stringify({ metadata: { name: `flood-${process.pid}-${n}` } }));
const token = `${Buffer.from('{"alg":"RS256","kid":"x"}').toString('base64url')}.${Buffer.from('{"iss":"https://kubernetes.default.svc","sub":"x"}').toString('base64url')}.${'A'.repeat(342)}`;

const attacks: Readonly<Record<string, (n: number) => Attack>> = {
  accounts: (n) => ({ method: 'GET', path: configMaps, headers: { ...bearer, ...account(n) } }),
  users: (n) => ({ method: 'GET', path: configMaps, headers: { ...bearer, ...user(n) } }),
  forbidden: (n) => ({
    method: 'GET',
    path: '/api/v1/namespaces/fairness/secrets',
    headers: { ...bearer, ...user(n) },
  }),
  'bad tokens': (n) => ({ method: 'GET', path: configMaps, headers: { authorization: `Bearer ${token}${n}` } }),
  anonymous: () => ({ method: 'GET', path: configMaps }),
  probes: (n) => ({ method: 'GET', path: n % 2 === 0 ? '/readyz' : '/livez?verbose' }),
  watches: () => ({
    method: 'GET',
    path: `${configMaps}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
    headers: { ...bearer, ...as('greedy') },
    isCut: true,
  }),
  pages: () => ({ method: 'GET', path: `${configMaps}?limit=500`, headers: { ...bearer, ...as('greedy') } }),
  protobuf: () => ({
    method: 'POST',
    path: configMaps,
    headers: { ...bearer, ...as('greedy'), 'content-type': 'application/vnd.kubernetes.protobuf' },
    body: Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(200_000, 0x0a)]),
  }),
  'slow bodies': (n) => ({
    method: 'POST',
    path: configMaps,
    headers: { ...bearer, ...as('greedy'), ...json },
    body: map(n),
    slowMs: 1000,
  }),
  'slow readers': () => ({ method: 'GET', path: configMaps, headers: { ...bearer, ...as('greedy') }, slowMs: 80 }),
  headers: (n) => ({
    method: 'GET',
    path: `${configMaps}/kept-0`,
    headers: {
      ...bearer,
      ...as('greedy', ...Array.from({ length: 200 }, (_, i) => `group-${n}-${i}`)),
      'user-agent': 'x'.repeat(4000),
      'audit-id': 'y'.repeat(2000),
      ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`impersonate-extra-k${i}`, 'v'.repeat(50)])),
    },
  }),
};

async function send(slot: number): Promise<string> {
  const attack = (attacks[kind] as (n: number) => Attack)(next++);
  const { method, path, headers, body, slowMs, isCut } = attack;
  const session = sessionOf(slot);
  const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined });
  const ended = new Promise<string>((resolve) => {
    let status = 'none';
    stream.once('response', (fields) => {
      status = String(fields[':status']);
    });
    stream.on('error', () => undefined);
    stream.once('close', () => resolve(status));
    stream.on('data', () => {
      if (isCut === true) stream.close(8);
      if (slowMs === undefined || body !== undefined) return;
      stream.pause();
      setTimeout(() => stream.resume(), slowMs);
    });
    stream.once('end', () => stream.close());
  });
  if (body !== undefined && slowMs === undefined) stream.end(body);
  else if (body !== undefined) {
    for (const byte of body) {
      if (isOver || stream.closed) break;
      stream.write(Buffer.of(byte));
      await delay(slowMs);
    }
    stream.end();
  }
  return ended;
}

async function client(slot: number): Promise<void> {
  while (!isOver) {
    const status = await send(slot).catch(() => 'failed');
    counts[status] = (counts[status] ?? 0) + 1;
    // A client without back-off, but with a short pause, so that the benchmark does not only measure how fast requests
    // are refused.
    if (status === '429' || status === 'failed' || status === 'none') await delay(20);
  }
}

process.on('message', () => {
  isOver = true;
  process.send?.(counts, () => process.exit());
});
process.on('disconnect', () => process.exit());
await Promise.all(Array.from({ length: parallel }, (_, i) => client(i)));
