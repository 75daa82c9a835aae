import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';
import { times } from './bodies.js';

const apiGroup = 'rbac.authorization.k8s.io';
const account = (attacker: Attacker, n: number) => `system:serviceaccount:${attacker.target.namespace}:a-${n}`;

async function makeAccounts(attacker: Attacker, count: number): Promise<void> {
  let next = 0;
  await Promise.all(
    times(8, async () => {
      for (let n = next++; n < count; n = next++)
        await attacker.create('serviceaccounts', { metadata: { name: `a-${n}` } }, n);
    }),
  );
}

/** Accounts, tokens, roles and access reviews. */
export const rights: readonly Attack[] = [
  {
    name: 'token-requests',
    about: 'tokens of accounts without end, bound to secrets and with many audiences',
    prepare: (attacker) => makeAccounts(attacker, 20),
    act: (attacker, n) => {
      const audiences = n % 2 === 0 ? times(500, (i) => `https://audience-${i}.example.com`) : [];
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences } };
      return attacker.create(`serviceaccounts/a-${n % 20}/token`, body, n);
    },
  },
  {
    name: 'token-secrets',
    about: '5,000 accounts and secrets for their tokens, half of them for accounts that do not exist',
    act: async (attacker, n) => {
      if (n >= 5000) return attacker.rest(1000);
      await attacker.create('serviceaccounts', { metadata: { name: `a-${n}` } }, n);
      const annotations = { 'kubernetes.io/service-account.name': `a-${n % 2 === 0 ? n : 100_000 + n}` };
      const body = { metadata: { name: `t-${n}`, annotations }, type: 'kubernetes.io/service-account-token' };
      return attacker.create('secrets', body, n);
    },
  },
  {
    name: 'identities',
    about: '500 accounts of the namespace, whom the tenant may act as, list in turn',
    parallel: 200,
    prepare: async (attacker) => {
      await makeAccounts(attacker, 500);
      const subjects = [{ kind: 'Group', name: `system:serviceaccounts:${attacker.target.namespace}`, apiGroup }];
      const roleRef = { apiGroup, kind: 'ClusterRole', name: 'admin' };
      await attacker.create(`${apiGroup}/v1/rolebindings`, { metadata: { name: 'all' }, subjects, roleRef });
      for (let n = 0; n < 500; n++) {
        await attacker.create('configmaps', { metadata: { name: `m-${n}` }, data: { text: 'x'.repeat(2000) } }, n);
      }
    },
    act: (attacker, n) => {
      const headers = { 'impersonate-user': account(attacker, n % 500) };
      return attacker.send({ method: 'GET', path: attacker.path('configmaps'), headers }, n);
    },
  },
  {
    name: 'impersonation',
    about: 'requests with hundreds of headers about another user, in vain',
    act: (attacker, n) => {
      const extras = Object.fromEntries(times(150, (i) => [`impersonate-extra-k${i}-${n}`, 'v'.repeat(60)]));
      const headers = {
        ...extras,
        'impersonate-user': account(attacker, n),
        'impersonate-group': times(300, (i) => `group-${n}-${i}`),
      };
      return attacker.send({ method: 'GET', path: attacker.path('configmaps'), headers }, n);
    },
  },
  {
    name: 'roles',
    about: '1,000 roles of 1,000 rules and 2,000 bindings of 1,000 subjects, honest accounts among them, that change',
    parallel: 8,
    prepare: async (attacker) => {
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
      for (let n = 0; n < 1000; n++) {
        await attacker.create(`${apiGroup}/v1/roles`, { metadata: { name: `r-${n}` }, rules }, n);
      }
    },
    act: async (attacker, n) => {
      const name = `r-${n % 1000}`;
      const rules = times(1000, (i) => ({
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: [`m-${n}-${i}`],
        verbs: ['get'],
      }));
      if (n % 3 === 0) {
        await attacker.send(
          { method: 'PATCH', path: attacker.path(`${apiGroup}/v1/roles/${name}`), body: { rules } },
          n,
        );
      } else {
        const subjects = times(1000, (i) => ({ kind: 'User', name: `user-${n}-${i}`, apiGroup }));
        subjects.push({ kind: 'Group', name: 'system:authenticated', apiGroup });
        const roleRef = { apiGroup, kind: 'Role', name };
        await attacker.create(`${apiGroup}/v1/rolebindings`, { metadata: { name: `b-${n}` }, subjects, roleRef }, n);
      }
    },
  },
  {
    name: 'reviews',
    about: 'questions about own rights, with 500 roles bound, and about those of others in the namespace',
    prepare: async (attacker) => {
      const rules = times(200, (i) => ({
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: [`m-${i}`],
        verbs: ['get'],
      }));
      const subjects = [{ kind: 'Group', name: 'system:authenticated', apiGroup }];
      for (let n = 0; n < 300; n++) {
        const metadata = { name: `r-${n}` };
        await attacker.create(`${apiGroup}/v1/roles`, { metadata, rules }, n);
        const roleRef = { apiGroup, kind: 'Role', name: `r-${n}` };
        await attacker.create(`${apiGroup}/v1/rolebindings`, { metadata, subjects, roleRef }, n);
      }
    },
    act: (attacker, n) => {
      const { namespace } = attacker.target;
      const base = '/apis/authorization.k8s.io/v1';
      if (n % 2 === 0) {
        const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } };
        return attacker.send({ method: 'POST', path: `${base}/selfsubjectrulesreviews`, body }, n);
      }
      const attributes = { namespace, verb: 'get', resource: 'configmaps', name: `m-${n}` };
      const spec = { user: `u-${n}`, groups: times(500, (i) => `g-${n}-${i}`), resourceAttributes: attributes };
      const body = { metadata: { namespace }, spec };
      return attacker.send(
        { method: 'POST', path: `${base}/namespaces/${namespace}/localsubjectaccessreviews`, body },
        n,
      );
    },
  },
  {
    name: 'bad-tokens',
    about: 'tokens of the right form that nobody signed, each another one',
    parallel: 64,
    act: (attacker, n) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { iss: 'https://kubernetes.default.svc', sub: account(attacker, n), exp: 4_000_000_000 };
      const token = `${part({ alg: 'RS256', kid: `k-${n}` })}.${part(claims)}.${'A'.repeat(342)}`;
      // Sent as a review, since the attacker's own requests carry its token.
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
      return attacker.send({ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews', body }, n);
    },
  },
];
