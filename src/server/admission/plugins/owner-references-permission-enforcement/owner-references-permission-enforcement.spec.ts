import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import { registeredGroups } from '../../../../../test/support/registered-groups.js';
import type { AuthorizerAttributes } from '../../../../base/machinery/authorizer.js';
import type { ResourceRegistry } from '../../../../objects/registry/resource-registry.js';
import { OwnerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.js';

let registry: ResourceRegistry;

before(async () => {
  registry = (await registeredGroups()).registry;
});

const owner = (uid: string, fields: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: `rs-${uid}`,
  uid,
  ...fields,
});
const block = { blockOwnerDeletion: true };
const object = (...ownerReferences: object[]) => ({ metadata: { name: 'x', ownerReferences } });
const node = owner('n', { apiVersion: 'v1', kind: 'Node', ...block });

const asksDelete = 'delete n/pods/x';
const cannotDelete = "cannot set an ownerRef on a resource you can't delete: no, <nil>";
const cannotBlock =
  "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no, <nil>";
const asksBlock = (uid: string) => `update n/replicasets.apps/rs-${uid}/finalizers`;

const gone = (fields: object) => owner('a', { apiVersion: 'example.com/v1', kind: 'Thing', ...fields });

/** The write, the checks that must be allowed, and the refusal when the last check is denied. */
const rows: readonly (readonly [string, TestRequest, readonly string[], string])[] = [
  ['no owners', { object: object(), oldObject: { metadata: { name: 'x' } } }, [], ''],
  ['owners that stay', { object: object(owner('a', block)), oldObject: object(owner('a', block)) }, [], ''],
  ['a new object with an owner', { object: object(owner('a')) }, [], ''],
  ['a new owner', { object: object(owner('a')), oldObject: object() }, [asksDelete], cannotDelete],
  ['an owner less', { object: object(), oldObject: object(owner('a')) }, [asksDelete], cannotDelete],
  [
    'a changed owner',
    { object: object(owner('a', { controller: true })), oldObject: object(owner('a')) },
    [asksDelete],
    cannotDelete,
  ],
  ['a new object that blocks its owner', { object: object(owner('a', block)) }, [asksBlock('a')], cannotBlock],
  [
    'an owner that becomes blocked',
    { object: object(owner('a', block)), oldObject: object(owner('a')) },
    [asksDelete, asksBlock('a')],
    cannotBlock,
  ],
  [
    'a blocked owner besides an old one',
    { object: object(owner('a', block), owner('b', block)), oldObject: object(owner('a', block)) },
    [asksDelete, asksBlock('b')],
    cannotBlock,
  ],
  [
    'an owner that is no longer blocked',
    { object: object(owner('a', { blockOwnerDeletion: false })), oldObject: object(owner('a', block)) },
    [asksDelete, asksBlock('a')],
    cannotBlock,
  ],
  [
    'an owner that was never blocked, said in two ways',
    { object: object(owner('a', { blockOwnerDeletion: false })), oldObject: object(owner('a')) },
    [asksDelete],
    cannotDelete,
  ],
  ['a blocked owner less', { object: object(), oldObject: object(owner('a', block)) }, [asksDelete], cannotDelete],
  [
    'an owner of a kind that is gone, no longer blocked',
    { object: object(gone({ blockOwnerDeletion: false })), oldObject: object(gone(block)) },
    [asksDelete],
    cannotDelete,
  ],
  ['an owner of the cluster', { object: object(node) }, ['update /nodes/rs-n/finalizers'], cannotBlock],
  ['the status of a pod', { object: object(owner('a', block)), oldObject: object(), subresource: 'status' }, [], ''],
];

class Answers {
  readonly asked: string[] = [];

  constructor(private readonly refuses: string | undefined) {}

  authorize(attributesOf: AuthorizerAttributes) {
    const { verb, namespace, resource, apiGroup, name, subresource } = attributesOf;
    const group = apiGroup === '' ? '' : `.${apiGroup}`;
    const text = `${verb} ${namespace}/${resource}${group}/${name}${subresource === '' ? '' : `/${subresource}`}`;
    this.asked.push(text);
    return { decision: text === this.refuses ? 'noOpinion' : 'allow', reason: 'no' } as const;
  }
}

async function outcome(request: TestRequest, answers: Answers): Promise<string> {
  try {
    await new OwnerReferencesPermissionEnforcement(answers, registry).validate(admissionAttributes(request));
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('OwnerReferencesPermissionEnforcement', () => {
  for (const [what, request, questions, refusal] of rows) {
    it(`asks ${questions.length === 0 ? 'nothing' : questions.join(' and ')} for ${what}`, async () => {
      const answers = new Answers(undefined);
      assert.equal(await outcome(request, answers), '');
      assert.deepEqual(answers.asked, questions);
      if (refusal === '') return;
      assert.equal(await outcome(request, new Answers(questions.at(-1))), `pods "x" is forbidden: ${refusal}`);
    });
  }

  it('refuses to block owners of an unknown kind', async () => {
    const unknown = object(owner('a', { apiVersion: 'example.com/v1', kind: 'Thing', ...block }));
    assert.equal(
      await outcome({ object: unknown }, new Answers(undefined)),
      'pods "x" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for ' +
        'APIVersion example.com/v1 Kind Thing: no matches for kind "Thing" in version "example.com/v1"',
    );
  });

  it('refuses when the question fails', async () => {
    const broken = {
      authorize: () => {
        throw new Error('unreachable');
      },
    };
    const plugin = new OwnerReferencesPermissionEnforcement(broken, registry);
    const attributes = admissionAttributes({ object: object(owner('a')), oldObject: object() });
    await assert.rejects(plugin.validate(attributes), /can't delete: , unreachable$/);
  });
});
