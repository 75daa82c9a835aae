import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';
import { filler, map, times } from './bodies.js';

const owner = (uid: string, name: string, kind = 'ConfigMap', apiVersion = 'v1') => ({ apiVersion, kind, name, uid });
const uid = (n: number, i: number) =>
  `${(n + 0x10000000).toString(16)}-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;
const removal = { propagationPolicy: 'Foreground' };

async function remove(attacker: Attacker, name: string, n: number): Promise<void> {
  await attacker.send({ method: 'DELETE', path: attacker.path(`configmaps/${name}`), body: removal }, n);
}

/** Objects and owners that the garbage collector has to follow. */
export const owners: readonly Attack[] = [
  {
    name: 'owners-absent',
    about: '600 objects with 2,000 owners each that do not exist',
    most: 600,
    parallel: 8,
    act: (attacker, n) => {
      const ownerReferences = times(2000, (i) => owner(uid(n, i), `absent-${n}-${i}`));
      return attacker.create('configmaps', map(`o-${n}`, {}, { ownerReferences }), n);
    },
  },
  {
    name: 'owners-unknown',
    about: 'owners of kinds that do not exist, in other namespaces and of the cluster',
    most: 3000,
    parallel: 8,
    act: (attacker, n) => {
      const ownerReferences = times(100, (i) =>
        owner(uid(n, i), 'honest-work', `Kind${n}x${i}`, `g${i}.example.com/v1`),
      );
      ownerReferences.push(owner(uid(n, 1000), 'honest', 'Namespace'), owner(uid(n, 1001), 'sim-0', 'Node'));
      return attacker.create('configmaps', map(`o-${n}`, {}, { ownerReferences }), n);
    },
  },
  {
    name: 'owner-cycles',
    about: 'rings and chains of owners that block each other, deleted in the foreground',
    parallel: 8,
    act: async (attacker, n) => {
      const name = `ring-${n}`;
      const made = await attacker.create('configmaps', map(name), n);
      const first = made?.body?.metadata?.uid as string | undefined;
      if (first === undefined) return;
      let last = { name, uid: first };
      for (let i = 0; i < 10; i++) {
        const ownerReferences = [{ ...owner(last.uid, last.name), blockOwnerDeletion: true }];
        const next = await attacker.create('configmaps', map(`${name}-${i}`, {}, { ownerReferences }), n);
        if (next?.body?.metadata?.uid === undefined) return;
        last = { name: `${name}-${i}`, uid: next.body.metadata.uid };
      }
      const ownerReferences = [{ ...owner(last.uid, last.name), blockOwnerDeletion: true }];
      const path = attacker.path(`configmaps/${name}`);
      await attacker.send({ method: 'PATCH', path, body: { metadata: { ownerReferences } } }, n);
      await remove(attacker, name, n);
    },
  },
  {
    name: 'owner-of-many',
    about: 'owners of 5,000 objects that are deleted in the foreground, orphaned, and made again',
    act: async (attacker, n) => {
      const name = `chief-${n % 4}`;
      const path = attacker.path(`configmaps/${name}`);
      let chief = await attacker.send({ method: 'GET', path }, n);
      if (chief?.status === 404) chief = await attacker.create('configmaps', map(name), n);
      const chiefUid = chief?.body?.metadata?.uid as string | undefined;
      if (chiefUid === undefined) return;
      const ownerReferences = [{ ...owner(chiefUid, name), blockOwnerDeletion: true }];
      await attacker.create('configmaps', map(`d-${n}`, {}, { ownerReferences }), n);
      if (n % 5000 !== 4999) return;
      const propagationPolicy = n % 10_000 > 5000 ? 'Orphan' : 'Foreground';
      await attacker.send({ method: 'DELETE', path, body: { propagationPolicy } }, n);
    },
  },
  {
    name: 'finalizers',
    about: 'objects with 500 finalizers that nobody removes, deleted again and again',
    act: async (attacker, n) => {
      const name = `f-${n % 1000}`;
      const finalizers = times(500, (i) => `example.com/never-${i}`);
      if (n < 1000) await attacker.create('configmaps', map(name, { text: filler(1000, n) }, { finalizers }), n);
      await remove(attacker, name, n);
    },
  },
];
