import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { makeCertificate, makeRequest, toBase64 } from '../../../../test/support/certificate-requests.js';
import { DefinitionTester, testClock, testNames, testTime } from '../../../../test/support/definition-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { certificateSigningRequestResource } from './certificate-signing-request.resource.js';

const user = { name: 'alice', uid: 'alice-uid', groups: ['devs'], extra: { scope: ['a', 'b'] } };
const definition = certificateSigningRequestResource(testNames, testClock);
const tester = new DefinitionTester(definition, 'v1', user);
const beta = new DefinitionTester(definition, 'v1beta1', user);
const nobody = new DefinitionTester(definition);
const approved = { type: 'Approved', status: 'True', reason: 'r', message: 'm' };

let request = '';
let certificate = '';
let object: ApiObject;

before(async () => {
  request = toBase64(await makeRequest());
  certificate = await makeCertificate();
  object = create().object;
});

function create(spec: object = {}, by = tester) {
  return by.create({ spec: { request, signerName: 'example.com/signer', usages: ['client auth'], ...spec } });
}

function approve(conditions: object[] | null, old = object, by = tester) {
  return by.patch(old, { status: { conditions } }, 'approval');
}

function sign(text: string, old = object) {
  return tester.patch(old, { status: { certificate: toBase64(text) } }, 'status');
}

describe('a new CertificateSigningRequest', () => {
  it('records the sender, whatever the body says', () => {
    const { object: created, causes } = create({ username: 'admin', groups: ['system:masters'], extra: { x: ['y'] } });
    assert.deepEqual(causes, []);
    const spec = { request, signerName: 'example.com/signer', usages: ['client auth'] };
    assert.deepEqual(created.spec, {
      ...spec,
      username: 'alice',
      uid: 'alice-uid',
      groups: ['devs'],
      extra: { scope: ['a', 'b'] },
    });
    assert.deepEqual(created.status, {});
    assert.deepEqual(create({ username: 'admin' }, nobody).object.spec, spec);
    assert.deepEqual(tester.cells(created), ['a', '0s', 'example.com/signer', 'alice', '<none>', 'Pending']);
    assert.deepEqual(definition.selectableFields?.(created), { 'spec.signerName': 'example.com/signer' });
  });

  it('takes names that fit into a path', () => {
    assert.deepEqual(tester.create({ metadata: { name: 'A b' }, spec: object.spec }).causes, []);
    assert.equal(tester.create({ metadata: { name: 'a/b' }, spec: object.spec }).causes.length, 1);
  });

  it('shows a bad request in base64, cut when long', () => {
    const reason = 'PEM block type must be CERTIFICATE REQUEST';
    assert.deepEqual(create({ request: toBase64('not') }).causes, [
      `FieldValueInvalid | spec.request | Invalid value: "bm90": ${reason}`,
    ]);
    const [long] = create({ request: toBase64('x'.repeat(5000)) }).causes;
    assert.ok((long as string).endsWith(`...": ${reason}`));
    assert.ok((long as string).length < 10_000);
  });

  const label =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ expirationSeconds: 600 }, []],
    [
      { expirationSeconds: 599 },
      [
        'FieldValueInvalid | spec.expirationSeconds | Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
      ],
    ],
    [{ usages: [] }, ['FieldValueRequired | spec.usages | Required value']],
    [
      { usages: ['client auth', 'client auth'] },
      ['FieldValueDuplicate | spec.usages[1] | Duplicate value: "client auth"'],
    ],
    [{ signerName: '' }, ['FieldValueRequired | spec.signerName | Required value']],
    [
      { signerName: 'noslash' },
      [
        'FieldValueInvalid | spec.signerName | Invalid value: "noslash": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      ],
    ],
    [
      { signerName: 'a/b' },
      [
        'FieldValueInvalid | spec.signerName | Invalid value: "a": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      { signerName: 'A.b/c' },
      [`FieldValueInvalid | spec.signerName | Invalid value: "A.b": validating label "A": ${label}`],
    ],
    [
      { signerName: 'k8s.io/legacy-unknown' },
      [
        'FieldValueInvalid | spec.signerName | Invalid value: "k8s.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
  ];
  for (const [spec, expected] of cases) {
    it(`judges ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(
        create(spec).causes.map((cause) => cause.replace(/ \(e\.g\..*$/, '')),
        expected,
      );
    });
  }

  it('refuses unknown usages, in v1', () => {
    const [cause] = create({ usages: ['x'] }).causes;
    assert.match(
      cause as string,
      /^FieldValueNotSupported \| spec\.usages\[0\] \| Unsupported value: "x": supported values: "any"/,
    );
    assert.deepEqual(create({ usages: ['x'] }, beta).causes, []);
  });
});

describe('v1beta1', () => {
  const node = 'CN=system:node:n, O=system:nodes';
  const dns = [{ type: 'dns', value: 'n' }] as const;
  const cases = [
    ['any', {}, undefined, 'k8s.io/legacy-unknown'],
    [
      'a node client',
      { subject: node },
      ['key encipherment', 'digital signature', 'client auth'],
      'k8s.io/apiserver-client-nodeagent',
    ],
    [
      'a node client with names',
      { subject: node, names: dns },
      ['key encipherment', 'digital signature', 'client auth'],
      'k8s.io/legacy-unknown',
    ],
    [
      'a node server',
      { subject: node, names: dns },
      ['key encipherment', 'digital signature', 'server auth'],
      'k8s.io/nodeagent-serving',
    ],
    [
      'another group',
      { subject: 'CN=system:node:n, O=x' },
      ['key encipherment', 'digital signature', 'client auth'],
      'k8s.io/legacy-unknown',
    ],
  ] as const;
  for (const [name, asked, usages, signer] of cases) {
    it(`guesses the signer of ${name} request`, async () => {
      const pem = toBase64(await makeRequest(asked));
      const { object: created, causes } = beta.create({ spec: { request: pem, ...(usages && { usages }) } });
      assert.deepEqual(causes, []);
      const spec = created.spec as { signerName: string; usages: string[] };
      assert.equal(spec.signerName, signer);
      assert.deepEqual(spec.usages, usages ?? ['digital signature', 'key encipherment']);
    });
  }

  it('approves without a status and ignores approvals through the status path', () => {
    const { object: done, causes } = approve([{ type: 'Approved' }], object, beta);
    assert.deepEqual(causes, []);
    assert.deepEqual(done.status, {
      conditions: [{ type: 'Approved', status: 'True', lastUpdateTime: testTime, lastTransitionTime: testTime }],
    });
    const ignored = beta.patch(object, { status: { conditions: [{ type: 'Approved' }] } }, 'status');
    assert.deepEqual(ignored.causes, []);
    assert.deepEqual(ignored.object.status, {});
  });
});

describe('updates of a CertificateSigningRequest', () => {
  it('keep spec and status on the main path', () => {
    const { object: changed, causes } = tester.patch(object, {
      metadata: { labels: { a: 'b' } },
      spec: { username: 'admin' },
      status: { conditions: [approved] },
    });
    assert.deepEqual(causes, []);
    assert.deepEqual(changed.spec, object.spec);
    assert.deepEqual(changed.status, {});
    assert.deepEqual(changed.metadata.labels, { a: 'b' });
  });

  it('approve, with times, and keep spec and certificate', () => {
    const { object: done, causes } = tester.patch(
      object,
      { spec: { username: 'admin' }, status: { conditions: [approved], certificate: toBase64(certificate) } },
      'approval',
    );
    assert.deepEqual(causes, []);
    assert.deepEqual(done.spec, object.spec);
    const times = { lastUpdateTime: testTime, lastTransitionTime: testTime };
    assert.deepEqual(done.status, { conditions: [{ ...approved, ...times }] });
    assert.equal(tester.cells(done)[5], 'Approved');
  });

  it('keep the time of the last change while the status stays', () => {
    const early = { lastUpdateTime: '2020-01-01T00:00:00Z', lastTransitionTime: '2020-01-01T00:00:00Z' };
    const first = approve([{ ...approved, ...early }]).object;
    assert.deepEqual(first.status, { conditions: [{ ...approved, ...early }] });
    const second = approve([{ ...approved, reason: 'other' }], first).object;
    const times = { lastUpdateTime: testTime, lastTransitionTime: early.lastTransitionTime };
    assert.deepEqual(second.status, { conditions: [{ ...approved, reason: 'other', ...times }] });
  });

  const denied = { type: 'Denied', status: 'True' };
  const conditionCases: readonly (readonly [object[], readonly string[]])[] = [
    [[{ type: 'Other', status: 'Unknown' }], []],
    [[{ status: 'True' }], ['FieldValueRequired | status.conditions[0].type | Required value']],
    [[{ type: 'Other' }], ['FieldValueRequired | status.conditions[0].status | Required value']],
    [
      [{ type: 'Other', status: 'x' }],
      [
        'FieldValueNotSupported | status.conditions[0].status | Unsupported value: "x": supported values: "False", "True", "Unknown"',
      ],
    ],
    [
      [{ ...approved, status: 'False' }],
      ['FieldValueNotSupported | status.conditions[0].status | Unsupported value: "False": supported values: "True"'],
    ],
    [[approved, approved], ['FieldValueDuplicate | status.conditions[1].type | Duplicate value: "Approved"']],
    [
      [approved, denied],
      [
        'FieldValueInvalid | status.conditions | Invalid value: "{conditions[{\\"type\\": \\"Approved\\"}], conditions[{\\"type\\": \\"Denied\\"}]}": must specify at most one of: `conditions[{"type": "Approved"}]`, `conditions[{"type": "Denied"}]`',
      ],
    ],
  ];
  for (const [conditions, expected] of conditionCases) {
    it(`judge conditions ${JSON.stringify(conditions)}`, () => assert.deepEqual(approve(conditions).causes, expected));
  }

  it('cannot take a decision back', () => {
    const done = approve([approved]).object;
    const removed = [
      'FieldValueForbidden | status.conditions | Forbidden: updates may not remove a condition of type "Approved"',
    ];
    assert.deepEqual(approve(null, done).causes, removed);
    assert.deepEqual(tester.patch(done, { status: { conditions: null } }, 'status').causes, removed);
  });

  it('cannot decide through the status path', () => {
    const { causes } = tester.patch(object, { status: { conditions: [approved] } }, 'status');
    assert.deepEqual(causes, [
      'FieldValueForbidden | status.conditions | Forbidden: updates may not add a condition of type "Approved"',
    ]);
    const decided = approve([approved]).object;
    const changed = { status: { conditions: [{ ...approved, status: 'False', reason: 'Other' }] } };
    const kept = tester.patch(decided, changed, 'status');
    assert.deepEqual([kept.causes, kept.object.status], [[], decided.status]);
    const failed = tester.patch(object, { status: { conditions: [{ type: 'Failed', status: 'True' }] } }, 'status');
    assert.deepEqual(failed.causes, []);
    assert.equal(tester.cells(failed.object)[5], 'Pending,Failed');
  });
});

describe('status.certificate', () => {
  const problem = (text: string) => {
    const [cause] = sign(text).causes;
    return cause?.replace('FieldValueInvalid | status.certificate | Invalid value: "<certificate data>": ', '');
  };

  it('takes PEM certificates with free text around them, once', () => {
    const { object: issued, causes } = sign(`hello\n${certificate}${certificate}bye`, approve([approved]).object);
    assert.deepEqual(causes, []);
    assert.equal(tester.cells(issued)[5], 'Approved,Issued');
    assert.deepEqual(sign(certificate, issued).causes, [
      'FieldValueForbidden | status.certificate | Forbidden: updates may not modify existing certificate content',
    ]);
    assert.deepEqual(sign('junk', issued).causes, [
      'FieldValueInvalid | status.certificate | Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
      'FieldValueForbidden | status.certificate | Forbidden: updates may not modify existing certificate content',
    ]);
  });

  it('refuses everything else', () => {
    const pem = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
    assert.equal(problem('junk'), 'must contain at least one CERTIFICATE PEM block');
    assert.equal(problem(certificate + pem('FOO', 'AAAA')), 'only CERTIFICATE PEM blocks are allowed, found "FOO"');
    assert.equal(problem(pem('CERTIFICATE', 'AAAA')), 'x509: malformed certificate');
    assert.equal(problem(pem('CERTIFICATE', '')), 'found CERTIFICATE PEM block containing 0 certificates');
    const withHeaders = certificate.replace('-----\n', '-----\nA: b\n\n');
    assert.equal(problem(withHeaders), 'no PEM block headers are permitted');
  });
});
