import type { Attack } from '../attack.js';
import { filler, many, map, pod, times, workload } from './bodies.js';

const apply = 'application/apply-patch+yaml';
const now = () => new Date().toISOString();

/** Many writes, large writes and unusual writes. */
export const writes: readonly Attack[] = [
  {
    name: 'events',
    about: 'events without end, each another one, of both groups, and their series',
    act: (attacker, n) => {
      const regarding = { kind: 'Pod', namespace: attacker.target.namespace, name: `p-${n}` };
      const metadata = { name: `e-${n}` };
      if (n % 2 === 0) {
        const body = { metadata, involvedObject: regarding, reason: 'R', message: filler(1000, n), type: 'Normal' };
        return attacker.create('events', body, n);
      }
      const own = {
        eventTime: now().replace('Z', '000Z'),
        reportingController: 'x',
        reportingInstance: 'y',
        action: 'a',
      };
      const body = { metadata, regarding, reason: 'R', note: filler(1000, n), type: 'Normal', ...own };
      return attacker.create('events.k8s.io/v1/events', body, n);
    },
  },
  {
    name: 'secrets',
    about: 'secrets and config maps of 1 MB, new ones and the same ones again and again',
    parallel: 16,
    act: async (attacker, n) => {
      const text = filler(1_000_000, n);
      if (n % 2 === 0) return attacker.create('configmaps', map(`m-${n}`, { text }), n);
      const name = `s-${n % 20}`;
      const body = { metadata: { name }, stringData: { text: filler(700_000, n) } };
      const made = await attacker.create('secrets', body, n);
      if (made?.status !== 409) return;
      await attacker.send({ method: 'PUT', path: attacker.path(`secrets/${name}`), body }, n);
    },
  },
  {
    name: 'large-posts',
    about: '100 posts of 1 to 2 MB at one time',
    parallel: 100,
    act: (attacker, n) => {
      const annotations = Object.fromEntries(times(20, (i) => [`a${i}`, filler(10_000, n)]));
      const bytes = 1_000_000 + (n % 10) * 100_000;
      return attacker.create(
        'configmaps',
        map(`m-${n}`, { text: filler(Math.min(bytes, 1_040_000), n) }, { annotations }),
        n,
      );
    },
  },
  {
    name: 'leases',
    about: 'one lease that sixty clients renew, and 10,000 of their own',
    parallel: 60,
    act: async (attacker, n) => {
      const spec = { holderIdentity: `h-${n}`, renewTime: now().replace('Z', '000Z') };
      const base = 'coordination.k8s.io/v1/leases';
      if (n % 10 === 0) return attacker.create(base, { metadata: { name: `l-${n}` }, spec }, n);
      const path = attacker.path(`${base}/l-0`);
      return attacker.send({ method: 'PATCH', path, body: { spec } }, n);
    },
  },
  {
    name: 'dry-runs',
    about: 'dry runs of creates and updates of large pods and deployments',
    act: (attacker, n) => {
      const env = times(1000, (i) => ({ name: `E${i}`, value: filler(500, n) }));
      const spec = { containers: [{ name: 'c', image: 'x', env }] };
      if (n % 2 === 0) return attacker.create('pods?dryRun=All', pod(`p-${n}`, spec), n);
      return attacker.create('apps/v1/deployments?dryRun=All', workload(`d-${n}`, 1, spec), n);
    },
  },
  {
    name: 'managers',
    about: 'applies to a few objects by a new manager each time',
    act: (attacker, n) => {
      const name = `m-${n % 10}`;
      const data = Object.fromEntries(times(50, (i) => [`k-${i}`, 'x']));
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
      const path = `${attacker.path(`configmaps/${name}`)}?fieldManager=manager-${n}&force=true`;
      return attacker.send({ method: 'PATCH', path, body, type: apply }, n);
    },
  },
  {
    name: 'managed-fields',
    about: 'managed fields of 500 KB that are sent along',
    parallel: 16,
    act: (attacker, n) => {
      const fields = Object.fromEntries(times(20_000, (i) => [`f:k${i}`, {}]));
      const managedFields = times(2, (i) => ({
        manager: `m${i}`,
        operation: i === 0 ? 'Apply' : 'Update',
        apiVersion: 'v1',
        time: now().replace(/\.\d+/, ''),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': fields },
      }));
      return attacker.create('configmaps', map(`m-${n}`, { k: 'x' }, { managedFields }), n);
    },
  },
  {
    name: 'json-patches',
    about: 'JSON patches of 10,000 operations, and such that copy what they copied',
    parallel: 16,
    prepare: async (attacker) => {
      for (let n = 0; n < 16; n++) await attacker.create('configmaps', map(`m-${n}`, { a: 'x' }), n);
    },
    act: (attacker, n) => {
      const copies = times(30, (i) => ({ op: 'copy', from: '/metadata', path: `/metadata/annotations/a${i}` }));
      const doubling = times(20, () => ({ op: 'copy', from: '/data', path: '/data/copy' }));
      const tests = times(10_000, () => ({ op: 'test', path: '/data/a', value: 'x' }));
      const adds = times(9_000, (i) => ({ op: 'add', path: `/data/k${i}`, value: 'x' }));
      const body = [copies, doubling, tests, adds][n % 4];
      const path = attacker.path(`configmaps/m-${n % 16}`);
      return attacker.send({ method: 'PATCH', path, body, type: 'application/json-patch+json' }, n);
    },
  },
  {
    name: 'merges',
    about: 'strategic merge patches and applies of lists of 5,000 items with keys',
    parallel: 16,
    prepare: async (attacker) => {
      for (let n = 0; n < 8; n++) {
        const env = times(5000, (i) => ({ name: `E${i}`, value: 'x' }));
        await attacker.create(
          'apps/v1/deployments',
          workload(`d-${n}`, 0, { containers: [{ name: 'c', image: 'x', env }] }),
          n,
        );
      }
    },
    act: (attacker, n) => {
      const env = times(5000, (i) => ({ name: `E${4999 - i}`, value: `v${n}` }));
      const name = `d-${n % 8}`;
      const spec = { template: { spec: { containers: [{ name: 'c', env }] } } };
      const path = attacker.path(`apps/v1/deployments/${name}`);
      if (n % 2 === 0) {
        return attacker.send(
          { method: 'PATCH', path, body: { spec }, type: 'application/strategic-merge-patch+json' },
          n,
        );
      }
      const body = JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec });
      return attacker.send({ method: 'PATCH', path: `${path}?fieldManager=m&force=true`, body, type: apply }, n);
    },
  },
  {
    name: 'strange-bodies',
    about: 'JSON that is deep, wide, of long numbers and repeated names; YAML of aliases; broken protobuf and CBOR',
    act: (attacker, n) => {
      const yaml = `a0: &a0 [x]\n${many(30, (i) => `a${i + 1}: &a${i + 1} [${many(10, () => `*a${i}`)}]`, '\n')}\n`;
      const bodies: readonly (readonly [string | Buffer, string])[] = [
        [`${'['.repeat(500_000)}`, 'application/json'],
        [`{"metadata":{"name":"x"},"data":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_001)}`, 'application/json'],
        [`{"metadata":{"name":"x-${n}"},"data":{${many(100_000, (i) => `"k${i}":"v"`)}}}`, 'application/json'],
        [`{"metadata":{"generation":${'9'.repeat(1_000_000)}}}`, 'application/json'],
        [`{"metadata":{"name":"x"},${many(60_000, () => '"data":{"a":"b"}')}}`, 'application/json'],
        [`{"metadata":{"name":"x"},${many(60_000, (i) => `"f${i}":1`)}}`, 'application/json'],
        [yaml, 'application/yaml'],
        [`${'- '.repeat(50_000)}x`, 'application/yaml'],
        [Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(1_000_000, 0x0a)]), 'application/vnd.kubernetes.protobuf'],
        [Buffer.concat([Buffer.from([0xd9, 0xd9, 0xf7]), Buffer.alloc(1_000_000, 0x81)]), 'application/cbor'],
      ];
      const [body, type] = bodies[n % bodies.length] as readonly [string | Buffer, string];
      return attacker.send({ method: 'POST', path: attacker.path('configmaps'), body, type }, n);
    },
  },
  {
    name: 'revisions',
    about: 'controller revisions and pod templates of 1 MB with free content',
    parallel: 8,
    act: (attacker, n) => {
      const data = { deep: times(20_000, (i) => ({ k: i, v: 'some text', l: [1, 2, 3] })) };
      const body = { metadata: { name: `r-${n}` }, revision: n, data };
      return attacker.create('apps/v1/controllerrevisions', body, n);
    },
  },
  {
    name: 'conflicts',
    about: 'updates of one object by sixty clients, most of which come too late',
    parallel: 60,
    act: async (attacker, n) => {
      const path = attacker.path('configmaps/one');
      if (n === 0) await attacker.create('configmaps', map('one'), n);
      const body = { data: { [`k${n % 200}`]: filler(3000, n) } };
      await attacker.send({ method: 'PATCH', path, body }, n);
    },
  },
];
