import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeRequest, toBase64 } from '../../../../../test/support/certificate-requests.js';
import { nameOfType, rawName, rawRequest, textTags, tlv } from '../../../../../test/support/raw-certificates.js';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import type { Authorizer, AuthorizerAttributes } from '../../../../base/machinery/authorizer.js';
import type { RequestContext } from '../../../../base/machinery/request-context.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes } from '../../attributes.js';
import { Reinvocation } from '../../reinvocation.js';
import { CertificateSigning } from '../certificate-signing/certificate-signing.js';
import { CertificateSubjectRestriction } from '../certificate-subject-restriction/certificate-subject-restriction.js';
import { CertificateApproval } from './certificate-approval.js';

const names = vendorNames('k8s.io');
const user = { name: 'alice', uid: '', groups: ['devs'], extra: {} };
const group = 'certificates.k8s.io';

/** Allows one verb on one signer and records the checks. */
class OneSigner implements Authorizer {
  readonly asked: AuthorizerAttributes[] = [];

  constructor(
    private readonly verb: string,
    private readonly signer: string,
  ) {}

  authorize(attributes: AuthorizerAttributes) {
    this.asked.push(attributes);
    const isAllowed = attributes.verb === this.verb && attributes.name === this.signer;
    return { decision: isAllowed ? 'allow' : 'noOpinion', reason: '' } as const;
  }
}

function requestObject(signerName: string, status: object = {}, request = ''): ApiObject {
  return { metadata: { name: 'r' }, spec: { request, signerName }, status } as unknown as ApiObject;
}

function attributesFor(over: Partial<AdmissionAttributes>): AdmissionAttributes {
  return {
    context: undefined as unknown as RequestContext,
    operation: 'UPDATE',
    resource: { group, version: 'v1', resource: 'certificatesigningrequests' },
    subresource: '',
    kind: { group, version: 'v1', kind: 'CertificateSigningRequest' },
    namespace: '',
    name: 'r',
    object: undefined,
    oldObject: undefined,
    options: {},
    dryRun: false,
    userInfo: user,
    storedObject: over.object,
    storedOldObject: over.oldObject,
    reinvocation: new Reinvocation(),
    writeThrough: () => assert.fail('writes go by themselves'),
    ...over,
  };
}

async function refusal(plugin: AdmissionPlugin, over: Partial<AdmissionAttributes>): Promise<string> {
  try {
    await plugin.validate?.(attributesFor(over));
    return '';
  } catch (error) {
    assert.ok(error instanceof StatusError && error.code === 403);
    return error.message;
  }
}

const subject = 'certificatesigningrequests.certificates.k8s.io "r" is forbidden:';

describe('CertificateApproval', () => {
  const approval = { subresource: 'approval', object: requestObject('example.com/a') };

  it('asks for the right to approve, for the signer and for its domain', async () => {
    const authorizer = new OneSigner('approve', 'nobody');
    const message = await refusal(new CertificateApproval(authorizer, names), approval);
    assert.equal(message, `${subject} user not permitted to approve requests with signerName "example.com/a"`);
    const asked = authorizer.asked.map(({ apiGroup, resource, verb, name }) => [apiGroup, resource, verb, name]);
    assert.deepEqual(asked, [
      [group, 'signers', 'approve', 'example.com/a'],
      [group, 'signers', 'approve', 'example.com/*'],
    ]);
    assert.ok(authorizer.asked.every(({ user: who }) => who === user));
  });

  it('accepts either right', async () => {
    for (const signer of ['example.com/a', 'example.com/*']) {
      assert.equal(await refusal(new CertificateApproval(new OneSigner('approve', signer), names), approval), '');
    }
    assert.notEqual(
      await refusal(new CertificateApproval(new OneSigner('sign', 'example.com/a'), names), approval),
      '',
    );
  });

  it('leaves other paths, groups and operations alone', async () => {
    const plugin = new CertificateApproval(new OneSigner('approve', 'nobody'), names);
    assert.equal(await refusal(plugin, { ...approval, subresource: 'status' }), '');
    const other = { group: 'example.com', version: 'v1', resource: 'certificatesigningrequests' };
    assert.equal(await refusal(plugin, { ...approval, resource: other }), '');
    assert.equal(plugin.handles('CREATE'), false);
  });
});

describe('CertificateSigning', () => {
  const plugin = new CertificateSigning(new OneSigner('sign', 'example.com/mine'), names);
  const change = (signer: string, status: object, old: object = {}) => ({
    subresource: 'status',
    object: requestObject(signer, status),
    oldObject: requestObject(signer, old),
  });

  it('asks for the right to sign when certificate or conditions change', async () => {
    const denied = `${subject} user not permitted to sign requests with signerName "example.com/a"`;
    assert.equal(await refusal(plugin, change('example.com/a', { certificate: 'eA==' })), denied);
    assert.equal(await refusal(plugin, change('example.com/a', { conditions: [{ type: 'Failed' }] })), denied);
    assert.equal(await refusal(plugin, change('example.com/mine', { certificate: 'eA==' })), '');
  });

  it('allows writes of all other status fields', async () => {
    const status = { certificate: 'eA==', conditions: [{ type: 'Approved' }] };
    assert.equal(await refusal(plugin, change('example.com/a', status, structuredClone(status))), '');
    assert.equal(await refusal(plugin, change('example.com/a', { conditions: [] }, {})), '');
  });
});

describe('CertificateSubjectRestriction', () => {
  const plugin = new CertificateSubjectRestriction(names);
  const create = async (signer: string, asked: string) =>
    refusal(plugin, {
      operation: 'CREATE',
      object: requestObject(signer, {}, toBase64(await makeRequest({ subject: asked }))),
    });

  it('refuses administrators as clients of the API', async () => {
    const signer = names.apiserverClientSigner;
    const message = `${subject} use of ${signer} signer with system:masters group is not allowed`;
    assert.equal(await create(signer, 'CN=a, O=devs, O=system:masters'), message);
    assert.equal(await create(signer, 'CN=a, O=devs'), '');
    assert.equal(await create('example.com/a', 'CN=a, O=system:masters'), '');
  });

  it('refuses them in every encoding of the group name', async () => {
    const signer = names.apiserverClientSigner;
    for (const type of ['utf8', 'printable', 'teletex', 'ia5', 'bmp', 'universal'] as const) {
      const { pem } = rawRequest(nameOfType(type, 'a', 'devs', 'system:masters'));
      const object = requestObject(signer, {}, toBase64(pem));
      assert.match(
        await refusal(plugin, { operation: 'CREATE', object }),
        /system:masters group is not allowed$/,
        type,
      );
    }
    const oddity = rawName([['O', tlv(textTags.bmp, Buffer.from('system:masters'))]]);
    const { pem } = rawRequest(tlv(0x30, oddity.subarray(2), nameOfType('utf8', 'a').subarray(2)));
    const object = requestObject(signer, {}, toBase64(pem));
    assert.equal(await refusal(plugin, { operation: 'CREATE', object }), '', 'these bytes spell seven other letters');
  });

  it('refuses requests that it cannot read', async () => {
    const object = requestObject(names.apiserverClientSigner);
    assert.match(await refusal(plugin, { operation: 'CREATE', object }), /failed to parse CSR: PEM block type/);
  });
});
