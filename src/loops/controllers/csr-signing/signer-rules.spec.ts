import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeRequest, type TestRequest } from '../../../../test/support/certificate-requests.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { parseCertificateRequest } from '../../../base/machinery/x509/certificate-request.js';
import { signerRules } from './signer-rules.js';

const names = vendorNames('k8s.io');
const rules = signerRules(names);
const node = 'CN=system:node:n, O=system:nodes';
const dns = { type: 'dns', value: 'n' } as const;
const ip = { type: 'ip', value: '10.0.0.1' } as const;
const client = ['digital signature', 'key encipherment', 'client auth'];
const server = ['digital signature', 'key encipherment', 'server auth'];
const signing = ['digital signature', 'key encipherment'];

type Case = readonly [what: string, signer: string, usages: readonly string[], request: TestRequest, problem?: RegExp];

const api = names.apiserverClientSigner;
const agent = names.nodeClientSigner;
const serving = names.nodeServingSigner;

const cases: readonly Case[] = [
  ['any subject and names', api, client, { subject: 'CN=a, O=b, O=c', names: [dns, ip] }],
  ['fewer usages', api, ['client auth'], {}],
  ['no client usage', api, signing, {}, /must include "client auth"/],
  ['a further usage', api, [...client, 'server auth'], {}, /may only be/],

  ['a node', agent, client, { subject: node }],
  ['a node in another order', agent, client.toReversed(), { subject: node, key: 'rsa' }],
  ['a key that cannot encipher', agent, ['digital signature', 'client auth'], { subject: node }],
  [
    'an RSA key without enciphering',
    agent,
    ['digital signature', 'client auth'],
    { subject: node, key: 'rsa' },
    /exactly/,
  ],
  ['a usage too many', agent, [...client, 'server auth'], { subject: node }, /exactly/],
  ['a server', agent, server, { subject: node }, /exactly/],
  ['a DNS name', agent, client, { subject: node, names: [dns] }, /names are not allowed/],
  ['a URI', agent, client, { subject: node, names: [{ type: 'url', value: 'a:b' }] }, /names are not allowed/],
  ['a further group', agent, client, { subject: `${node}, O=x` }, /organization must be system:nodes/],
  ['no group', agent, client, { subject: 'CN=system:node:n' }, /organization must be system:nodes/],
  ['another user', agent, client, { subject: 'CN=n, O=system:nodes' }, /common name must begin/],

  ['a DNS name', serving, server, { subject: node, names: [dns] }],
  ['an address', serving, client, { subject: node, names: [ip] }],
  ['both purposes', serving, [...client, 'server auth'], { subject: node, names: [ip] }, /exactly/],
  ['no name', serving, server, { subject: node }, /a DNS name or an IP address is needed/],
  ['a mail address', serving, server, { subject: node, names: [dns, { type: 'email', value: 'a@b' }] }, /email/],
  ['a URI', serving, server, { subject: node, names: [dns, { type: 'url', value: 'a:b' }] }, /URIs/],
  ['another group', serving, server, { subject: 'CN=system:node:n, O=x', names: [dns] }, /organization/],

  ['administrators', api, client, { subject: 'CN=a, O=b, O=system:masters' }, /nobody signs for the group/],
  ['administrators', names.legacyUnknownSigner, ['any'], { subject: 'O=system:masters' }, /nobody signs for the group/],
  ['anything', names.legacyUnknownSigner, ['any', 'code signing'], { subject: 'CN=x, O=system:nodes', names: [dns] }],
];

describe('built-in signers', () => {
  for (const [what, signer, usages, asked, problem] of cases) {
    it(`${signer.split('/')[1]} ${problem === undefined ? 'signs' : 'refuses'} ${what}`, async () => {
      const request = parseCertificateRequest(Buffer.from(await makeRequest(asked)));
      const found = rules.get(signer)?.(request, usages);
      if (problem === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', problem);
    });
  }

  it('are the four of the specification', () => {
    assert.deepEqual(
      [...rules.keys()],
      [
        'k8s.io/apiserver-client',
        'k8s.io/apiserver-client-nodeagent',
        'k8s.io/nodeagent-serving',
        'k8s.io/legacy-unknown',
      ],
    );
  });
});
