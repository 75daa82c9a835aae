import assert from 'node:assert/strict';
import { it } from 'node:test';
import { admissionAttributes } from '../../../../../test/support/admission-attributes.js';
import type { AuthorizerAttributes } from '../../../../base/machinery/authorizer.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { ClusterTrustBundleAttest } from './cluster-trust-bundle-attest.js';

const resource = 'clustertrustbundles.certificates.k8s.io';
const bundle = (signerName: string | undefined, more: object = {}, trustBundle = 'x') => ({
  metadata: { name: 'b', ...more },
  spec: { signerName, trustBundle },
});

it('publishing the bundle of a signer takes the right to attest for it', async () => {
  const asked: string[] = [];
  const authorizer = {
    authorize: ({ verb, resource: of, name }: AuthorizerAttributes) => {
      asked.push(`${verb} ${of} ${name}`);
      return { decision: name === 'mine.example.com/*' ? ('allow' as const) : ('noOpinion' as const), reason: '' };
    },
  };
  const plugin = new ClusterTrustBundleAttest(authorizer as never, vendorNames('k8s.io'));
  const refusal = (object: object, oldObject?: object) =>
    plugin.validate(admissionAttributes({ resource, object, oldObject, name: 'b' })).then(
      () => undefined,
      (error: Error) => error.message,
    );
  assert.equal(
    await refusal(bundle('other.example.com/a')),
    'clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "other.example.com/a"',
  );
  assert.deepEqual(asked, ['attest signers other.example.com/a', 'attest signers other.example.com/*']);
  assert.equal(await refusal(bundle('mine.example.com/a')), undefined);
  assert.equal(await refusal(bundle(undefined)), undefined);
  // Changes that work without the right `attest`: finalizers, owners, and rewriting the stored object.
  const old = bundle('other.example.com/a');
  assert.equal(
    await refusal(bundle('other.example.com/a', { finalizers: ['x/y'], resourceVersion: '2' }), old),
    undefined,
  );
  assert.notEqual(await refusal(bundle('other.example.com/a', {}, 'changed'), old), undefined);
});
