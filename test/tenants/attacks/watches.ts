import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';
import { filler, many, map } from './bodies.js';

const longSelector = (n: number, bytes = 57_000) => {
  // Long enough that fewer than 1,000 fit, the most that a selector may have.
  const pad = 'y'.repeat(40);
  const terms: string[] = [];
  for (let i = 0, length = 0; length < bytes; i++) {
    const [a, b, c] = [`!a${n}x${i}${pad}`, `b${n}x${i}${pad}!=v`, `c${i}${pad} notin (v${n},w${n})`];
    const term = [a, b, c][i % 3] as string;
    terms.push(term);
    length += term.length + 3;
  }
  return encodeURIComponent(terms.join(',')).replaceAll('%2C', ',').replaceAll('%20', '+').replaceAll('%3D', '=');
};
const watchOf = (attacker: Attacker, query: string) => ({
  method: 'GET',
  path: `${attacker.path('configmaps')}?watch=true&timeoutSeconds=3000${query}`,
});
const webSocket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

/** Requests that hold memory as long as they run. */
export const watches: readonly Attack[] = [
  {
    name: 'watch-selectors',
    about: '3,000 watches with label selectors of 57 KB, each another one',
    most: 3000,
    parallel: 48,
    act: (attacker, n) => attacker.hold(watchOf(attacker, `&labelSelector=${longSelector(n)}`), true, n),
  },
  {
    name: 'watch-same-selector',
    about: '3,000 watches with one label selector of 57 KB, as streams',
    most: 3000,
    parallel: 48,
    act: (attacker) => attacker.holdStream(watchOf(attacker, `&labelSelector=${longSelector(0, 50_000)}`), true),
  },
  {
    name: 'watch-fields',
    about: '3,000 watches with field selectors of 50 KB',
    most: 3000,
    parallel: 48,
    act: (attacker, n) => {
      const fields = many(990, (i) => `metadata.name!%3Dn${n}x${i}${'y'.repeat(20)}`);
      return attacker.hold(watchOf(attacker, `&fieldSelector=${fields}`), true, n);
    },
  },
  {
    name: 'watch-streams',
    about: '6,000 watches as streams of HTTP/2, with initial events, beside a writer',
    most: 6000,
    act: async (attacker, n) => {
      if (n % 50 === 0) await attacker.create('configmaps', map(`m-${n}`, { text: filler(2000, n) }), n);
      const initial = '&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
      await attacker.holdStream(watchOf(attacker, initial), true);
    },
  },
  {
    name: 'watch-slow',
    about: '600 watches that nobody reads, beside writes of 200 KB',
    act: async (attacker, n) => {
      if (n < 600) return attacker.hold(watchOf(attacker, ''), false, n);
      await attacker.create('configmaps', map(`m-${n}`, { text: filler(200_000, n) }), n);
      await attacker.rest(200);
    },
  },
  {
    name: 'watch-sockets',
    about: '2,000 watches over WebSocket with label selectors of 50 KB',
    most: 2000,
    act: async (attacker, n) => {
      const socket = await attacker.socket(n);
      if (socket === undefined) return attacker.rest();
      const { path } = watchOf(attacker, `&labelSelector=${longSelector(n, 50_000)}`);
      const headers = Object.entries({ ...webSocket, authorization: `Bearer ${attacker.target.token}`, host: 'x' });
      socket.write(`GET ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
      const head = await new Promise<string>((resolve) => {
        socket.once('data', (chunk) => resolve(String(chunk)));
        socket.once('close', () => resolve('closed'));
        attacker.ended(() => resolve('over'));
      });
      attacker.count(/^HTTP\/1.1 (\d+)/.exec(head)?.[1] ?? head.slice(0, 20));
    },
  },
  {
    name: 'watch-forms',
    about: '1,000 watches of large objects in other forms: tables, metadata alone, CBOR, YAML, beside writes',
    act: async (attacker, n) => {
      const forms = [
        'application/json;as=Table;v=v1;g=meta.k8s.io',
        'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
        'application/cbor-seq',
        'application/vnd.kubernetes.protobuf;stream=watch',
      ];
      const accept = forms[n % forms.length] as string;
      if (n < 1000) return attacker.hold({ ...watchOf(attacker, ''), headers: { accept } }, true, n);
      const annotations = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, filler(1000, n)]));
      await attacker.create('configmaps', map(`m-${n}`, { text: filler(300_000, n) }, { annotations }), n);
    },
  },
];
