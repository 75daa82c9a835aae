import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';
import { filler, map, times } from './bodies.js';

const mebibyte = 2 ** 20;

async function fill(attacker: Attacker, count: number): Promise<void> {
  for (let n = 0; n < count; n++)
    await attacker.create('configmaps', map(`big-${n}`, { text: filler(1_000_000, n) }), n);
}

function head(attacker: Attacker, method: string, path: string, fields: readonly string[]): string {
  const own = [`authorization: Bearer ${attacker.target.token}`, 'content-type: application/json', ...fields];
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\n${own.join('\r\n')}\r\n\r\n`;
}

/** Writes bytes to a connection of its own, and counts the status of each response on it. */
async function write(attacker: Attacker, n: number, pieces: readonly string[]): Promise<void> {
  const socket = await attacker.socket(n);
  if (socket === undefined) return attacker.rest(1000);
  const answered = new Promise<void>((resolve) => {
    socket.once('data', (chunk) => {
      attacker.count(/^HTTP\/1.1 (\d+)/.exec(String(chunk))?.[1] ?? 'other');
      resolve();
    });
    socket.once('close', resolve);
    attacker.ended(resolve);
  });
  for (const piece of pieces) {
    attacker.sentBytes += piece.length;
    socket.write(piece);
  }
  await answered;
  socket.destroy();
}

/** Much text in heads, bodies and responses, in ways that announce it or do not. */
export const sizes: readonly Attack[] = [
  {
    name: 'large-gets',
    about: 'gets of objects of 1 MB in all formats, sixty at one time',
    parallel: 60,
    prepare: (attacker) => fill(attacker, 4),
    act: (attacker, n) => {
      const accept = [
        'application/json',
        'application/yaml',
        'application/vnd.kubernetes.protobuf',
        'application/cbor',
      ];
      // The attacker reads responses in JSON, and knows no compression.
      const headers = { accept: accept[n % 4] as string, 'accept-encoding': n % 4 === 0 ? 'identity' : 'gzip' };
      return attacker.send({ method: 'GET', path: attacker.path(`configmaps/big-${n % 4}`), headers }, n);
    },
  },
  {
    name: 'large-patches',
    about: 'short patches of objects of 1 MB, sixty at one time',
    parallel: 60,
    prepare: (attacker) => fill(attacker, 16),
    act: (attacker, n) => {
      const body = { metadata: { annotations: { n: String(n) } } };
      return attacker.send({ method: 'PATCH', path: attacker.path(`configmaps/big-${n % 16}`), body }, n);
    },
  },
  {
    name: 'unannounced-bodies',
    about: 'bodies of 2.9 MB in chunks, whose length nobody knows before the end',
    parallel: 60,
    act: (attacker, n) => {
      const text = JSON.stringify(map(`m-${n}`, { text: filler(2.9 * mebibyte, n) }));
      const chunks = times(Math.ceil(text.length / 65_536), (i) => text.slice(i * 65_536, (i + 1) * 65_536));
      const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      const begin = head(attacker, 'POST', attacker.path('configmaps'), ['transfer-encoding: chunked']);
      return write(attacker, n, [begin, ...framed, '0\r\n\r\n']);
    },
  },
  {
    name: 'stalled-bodies',
    about: '500 bodies of 3 MB that stop just before their ends',
    parallel: 500,
    act: (attacker, n) => {
      const begin = head(attacker, 'POST', attacker.path('configmaps'), [`content-length: ${3 * mebibyte}`]);
      return write(attacker, n, [begin, n % 4 === 0 ? filler(3 * mebibyte - 100, n) : '{']);
    },
  },
  {
    name: 'refused-bodies',
    about: 'bodies of 3 MB for objects of others, and such that are too long',
    parallel: 30,
    act: (attacker, n) => {
      const body = filler(n % 2 === 0 ? 2.9 * mebibyte : 3.5 * mebibyte, n);
      return attacker.send({ method: 'POST', path: '/api/v1/namespaces/honest/configmaps', body }, n);
    },
  },
  {
    name: 'large-watches',
    about: 'watches that begin with 16 objects of 1 MB, opened and left',
    parallel: 16,
    prepare: (attacker) => fill(attacker, 16),
    act: async (attacker, n) => {
      const path = `${attacker.path('configmaps')}?watch=true&timeoutSeconds=1${n % 2 === 0 ? '' : '&resourceVersion=0'}`;
      await attacker.send({ method: 'GET', path }, n);
    },
  },
  {
    name: 'large-deletes',
    about: 'collections of objects of 1 MB that are filled and deleted',
    parallel: 16,
    act: async (attacker, n) => {
      if (n % 16 !== 15) return attacker.create('configmaps', map(`m-${n}`, { text: filler(1_000_000, n) }), n);
      return attacker.send({ method: 'DELETE', path: attacker.path('configmaps') }, n);
    },
  },
  {
    name: 'long-heads',
    about: 'gets with 60 KB of header fields, each time other names',
    act: (attacker, n) => {
      const headers = Object.fromEntries(times(600, (i) => [`x-${n}-${i}`, 'v'.repeat(60)]));
      return attacker.send({ method: 'GET', path: attacker.path('configmaps/none'), headers }, n);
    },
  },
  {
    name: 'forbidden',
    about: 'reads and writes in the namespaces of others, in vain',
    parallel: 64,
    act: (attacker, n) => {
      const path = `/api/v1/namespaces/honest/${n % 2 === 0 ? 'configmaps' : `secrets/s-${n}`}`;
      return attacker.send({ method: n % 3 === 0 ? 'PUT' : 'GET', path, ...(n % 3 === 0 ? { body: {} } : {}) }, n);
    },
  },
  {
    name: 'large-applies',
    about: 'applies of objects of 1 MB by a new manager each time',
    parallel: 60,
    act: (attacker, n) => {
      const name = `a-${n % 16}`;
      const body = JSON.stringify({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: { text: filler(1_000_000, n) },
      });
      const path = `${attacker.path(`configmaps/${name}`)}?fieldManager=manager-${n % 500}&force=true`;
      return attacker.send({ method: 'PATCH', path, body, type: 'application/apply-patch+yaml' }, n);
    },
  },
];
