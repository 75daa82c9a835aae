import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';
import { filler, many, map, times } from './bodies.js';

const terms = (count: number, n: number) => many(count, (i) => `!a${n}x${i}`);
/** The most requirements that a selector may have; every fourth list has more. */
const termsOf = (n: number) => terms(n % 4 === 3 ? 6000 : 1000, n);

/** Creates small objects that lists have to search. */
async function fill(attacker: Attacker, count: number, bytes = 100): Promise<void> {
  let next = 0;
  await Promise.all(
    times(16, async () => {
      for (let n = next++; n < count && !attacker.isOver; n = next++) {
        await attacker.create('configmaps', map(`kept-${n}`, { text: filler(bytes, n) }, { labels: { n: `${n}` } }), n);
      }
    }),
  );
}

/** Requests that make the server examine many objects. */
export const lists: readonly Attack[] = [
  {
    name: 'list-selectors',
    about: 'sixteen lists at one time with 1,000 terms, and some with 6,000, over 3,000 objects',
    parallel: 16,
    prepare: (attacker) => fill(attacker, 3000),
    act: (attacker, n) =>
      attacker.send({ method: 'GET', path: `${attacker.path('configmaps')}?labelSelector=${termsOf(n)}` }, n),
  },
  {
    name: 'list-sets',
    about:
      'sixteen lists whose one term has 8,000 values, and field selectors of 1,000 and 2,000 terms, over 3,000 objects',
    parallel: 16,
    prepare: (attacker) => fill(attacker, 3000),
    act: (attacker, n) => {
      const labels = `labelSelector=n+notin+(${many(8000, (i) => `v${i}`)})`;
      const fields = `fieldSelector=${many(n % 4 === 0 ? 2000 : 1000, (i) => `metadata.name!%3Dn${i}`)}`;
      return attacker.send({ method: 'GET', path: `${attacker.path('configmaps')}?${n % 2 ? labels : fields}` }, n);
    },
  },
  {
    name: 'list-forms',
    about: 'lists of 2,000 objects as protobuf, CBOR, YAML, tables, whole and in pages of one',
    prepare: (attacker) => fill(attacker, 2000, 1000),
    act: (attacker, n) => {
      const forms = [
        'application/vnd.kubernetes.protobuf',
        'application/cbor',
        'application/yaml',
        'application/json;as=Table;v=v1;g=meta.k8s.io',
        'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      ];
      const headers = { accept: forms[n % forms.length] as string };
      const query = n % 3 === 0 ? '?limit=1' : n % 3 === 1 ? '' : '?includeObject=Object&resourceVersion=0';
      return attacker.send({ method: 'GET', path: `${attacker.path('configmaps')}${query}`, headers }, n);
    },
  },
  {
    name: 'continue-tokens',
    about: 'pages of one over old and invented continue tokens, and exact old versions',
    prepare: (attacker) => fill(attacker, 500),
    act: async (attacker, n) => {
      const base = attacker.path('configmaps');
      const start = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 1 + n, start: `kept-${n % 500}\u0000` }));
      const invented = `${base}?limit=1&continue=${start.toString('base64url')}`;
      const long = `${base}?limit=1&continue=${filler(40_000, n)}`;
      const exact = `${base}?resourceVersion=${1 + n}&resourceVersionMatch=Exact&limit=1`;
      await attacker.send({ method: 'GET', path: [invented, long, exact][n % 3] as string }, n);
      if (n % 3 !== 0) return;
      const first = await attacker.send({ method: 'GET', path: `${base}?limit=1` }, n);
      const token = first?.body?.metadata?.continue as string | undefined;
      if (token) {
        await attacker.send({ method: 'GET', path: `${base}?limit=1&continue=${encodeURIComponent(token)}` }, n);
      }
    },
  },
  {
    name: 'delete-collections',
    about: 'deletes of collections with selectors of 5,000 terms, as dry runs and for real, beside creates',
    parallel: 16,
    prepare: (attacker) => fill(attacker, 1000),
    act: async (attacker, n) => {
      const path = `${attacker.path('configmaps')}?labelSelector=n%3D${n % 1000},${terms(5000, n)}`;
      await attacker.send({ method: 'DELETE', path: n % 2 === 0 ? `${path}&dryRun=All` : path }, n);
      await attacker.send({ method: 'DELETE', path: `${attacker.path('configmaps')}?dryRun=All` }, n);
    },
  },
  {
    name: 'slow-readers',
    about: '500 lists of 4 MB that nobody reads',
    most: 500,
    prepare: (attacker) => fill(attacker, 200, 20_000),
    act: (attacker, n) => attacker.hold({ method: 'GET', path: attacker.path('configmaps') }, false, n),
  },
];
