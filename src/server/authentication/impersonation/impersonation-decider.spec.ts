import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Authorizer, AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { ImpersonationDecider } from './impersonation-decider.js';
import { readImpersonation } from './impersonation-request.js';

const names = vendorNames('k8s.io', 'kubernetes');
const plain: UserInfo = { name: 'alice', uid: '', groups: [], extra: {} };
const agent: UserInfo = {
  name: 'system:serviceaccount:a:agent',
  uid: '',
  groups: [],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
};
const onUser = 'impersonate-on:user-info:list pods';
const asCarol = 'impersonate:user-info authentication.k8s.io/users carol';

/** A permission as a string: verb, group and resource, name. */
const textOf = ({ verb, apiGroup, resource, subresource, name }: AuthorizerAttributes) =>
  [verb, (apiGroup === '' ? '' : `${apiGroup}/`) + resource + (subresource && `/${subresource}`), name]
    .filter((part) => part !== '')
    .join(' ');

/** A list of pods, without its user. */
const listing: Omit<AuthorizerAttributes, 'user'> = {
  verb: 'list',
  isResourceRequest: true,
  namespace: '',
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  name: '',
  path: '',
};

/** The outcome when a user with these rights tries to list pods as another user. */
async function outcome(sender: UserInfo, rights: readonly string[], fields: Record<string, string[]>, hasModes = true) {
  const asked: string[] = [];
  const authorizer: Authorizer = {
    authorize: (attributes) => {
      asked.push(textOf(attributes));
      return { decision: rights.includes(asked.at(-1) as string) ? 'allow' : 'noOpinion', reason: '' };
    },
  };
  const rawHeaders = Object.entries(fields).flatMap(([name, values]) => values.flatMap((value) => [name, value]));
  const headers = Object.fromEntries(Object.entries(fields).map(([name, values]) => [name.toLowerCase(), values[0]]));
  const wanted = readImpersonation({ headers, rawHeaders } as never);
  assert.ok(wanted);
  const request: AuthorizerAttributes = { ...listing, user: sender };
  try {
    const { user, constraint } = await new ImpersonationDecider(authorizer, names, hasModes).decide(wanted, request);
    return { asked, groups: user.groups, constraint };
  } catch (error) {
    assert.ok(error instanceof StatusError);
    return { asked, refused: error.message };
  }
}

const carol = { 'Impersonate-User': ['carol'] };

describe('the right to impersonate', () => {
  it('is looked for first where it was found last, and its refusal is shown', async () => {
    const rights = ['impersonate users carol'];
    const authorizer: Authorizer = {
      authorize: (attributes) => ({
        decision: rights.includes(textOf(attributes)) ? 'allow' : 'noOpinion',
        reason: '',
      }),
    };
    const decider = new ImpersonationDecider(authorizer, names, true);
    const decide = (name: string) => {
      const field = { 'impersonate-user': name };
      const wanted = readImpersonation({ headers: field, rawHeaders: ['Impersonate-User', name] } as never);
      assert.ok(wanted);
      return decider.decide(wanted, { ...listing, user: plain });
    };
    await assert.rejects(decide('dave'), /cannot impersonate-on:user-info:list resource "pods"/);
    await decide('carol');
    await assert.rejects(
      decide('dave'),
      /^StatusError: users "dave" is forbidden: .* cannot impersonate resource "users"/,
    );
  });

  it('is bounded by what is done as the other user, and needs both rights', async () => {
    const both = await outcome(plain, [onUser, asCarol], carol);
    assert.deepEqual([both.constraint, both.groups], ['impersonate:user-info', ['system:authenticated']]);
    const message =
      'pods is forbidden: User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope';
    assert.equal((await outcome(plain, [asCarol], carol)).refused, message);
    const onlyOn = await outcome(plain, [onUser], carol);
    assert.match(
      onlyOn.refused ?? '',
      /^users\.authentication\.k8s\.io "carol" is forbidden: .* impersonate:user-info/,
    );
  });

  it('without bounds still counts, and is all that counts without the feature', async () => {
    const legacy = await outcome(plain, ['impersonate users carol'], carol);
    assert.deepEqual([legacy.constraint, legacy.groups], [undefined, ['system:authenticated']]);
    const off = await outcome(plain, [onUser, asCarol], carol, false);
    assert.deepEqual(off.asked, ['impersonate users carol']);
    assert.match(off.refused ?? '', /^users "carol" is forbidden: User "alice" cannot impersonate resource "users"/);
  });

  it('is needed for each part', async () => {
    const fields = {
      ...carol,
      'Impersonate-Group': ['devs'],
      'Impersonate-Uid': ['7'],
      'Impersonate-Extra-acme.com%2Fproject': ['p'],
    };
    const parts = ['groups devs', 'userextras/acme.com/project p', 'uids 7'];
    const bounded = parts.map((part) => `impersonate:user-info authentication.k8s.io/${part}`);
    assert.equal((await outcome(plain, [onUser, asCarol, ...bounded], fields)).constraint, 'impersonate:user-info');
    for (const missing of bounded) {
      const others = bounded.filter((right) => right !== missing);
      assert.ok((await outcome(plain, [onUser, asCarol, ...others], fields)).refused, missing);
    }
    const unbounded = ['users carol', 'groups devs', 'authentication.k8s.io/userextras/acme.com/project p'];
    const legacy = [...unbounded, 'authentication.k8s.io/uids 7'].map((part) => `impersonate ${part}`);
    assert.ok((await outcome(plain, legacy, fields)).groups);
    for (const missing of legacy) {
      assert.ok(
        (
          await outcome(
            plain,
            legacy.filter((right) => right !== missing),
            fields,
          )
        ).refused,
        missing,
      );
    }
  });

  it('with bounds gives neither the privileged group nor odd extra fields', async () => {
    const rights = [onUser, asCarol, 'impersonate:user-info authentication.k8s.io/groups system:masters'];
    const masters = { ...carol, 'Impersonate-Group': ['system:masters'] };
    assert.match((await outcome(plain, rights, masters)).refused ?? '', /the system:masters group is not allowed$/);
    const odd = { ...carol, 'Impersonate-Extra-scopes': ['a'] };
    const extra = 'impersonate:user-info authentication.k8s.io/userextras/scopes a';
    assert.match((await outcome(plain, [onUser, asCarol, extra], odd)).refused ?? '', /an invalid key in extra/);
  });

  it('knows service accounts and nodes, whose groups are fixed', async () => {
    const account = { 'Impersonate-User': ['system:serviceaccount:a:b'] };
    const asAccount = [
      'impersonate-on:serviceaccount:list pods',
      'impersonate:serviceaccount authentication.k8s.io/serviceaccounts b',
    ];
    assert.deepEqual((await outcome(plain, asAccount, account)).groups, [
      'system:serviceaccounts',
      'system:serviceaccounts:a',
      'system:authenticated',
    ]);
    assert.ok((await outcome(plain, [...asAccount, onUser], { ...account, 'Impersonate-Group': ['x'] })).refused);
    const node = { 'Impersonate-User': ['system:node:n1'] };
    const anyNode = [
      'impersonate-on:arbitrary-node:list pods',
      'impersonate:arbitrary-node authentication.k8s.io/nodes n1',
    ];
    const became = await outcome(plain, anyNode, node);
    assert.deepEqual(became.groups, ['system:nodes', 'system:authenticated']);
    const ownNode = [
      'impersonate-on:associated-node:list pods',
      'impersonate:associated-node authentication.k8s.io/nodes *',
    ];
    assert.equal((await outcome(agent, ownNode, node)).constraint, 'impersonate:associated-node');
    assert.ok((await outcome(agent, ownNode, { 'Impersonate-User': ['system:node:n2'] })).refused);
    assert.ok((await outcome(plain, ownNode, node)).refused);
  });
});
