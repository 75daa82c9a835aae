import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { StatusError } from '../../../../base/machinery/status-error.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import type { Pod } from '../../../../objects/apis/core/v1/pod.types.js';
import type { AdmissionAttributes } from '../../attributes.js';
import { ServiceAccountAdmission } from './service-account-admission.js';

const names = vendorNames('k8s.io', 'kubernetes');
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const limited = { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } };

/** The plugin in a namespace with these service accounts: `accounts` are in the cache, `stored` only in the store. */
function plugin(accounts: Readonly<Record<string, object>>, stored: Readonly<Record<string, object>> = {}) {
  let reads = 0;
  const object = (value: object | undefined) =>
    value === undefined ? undefined : ({ metadata: {}, ...value } as unknown as ApiObject);
  const made = new ServiceAccountAdmission({
    names,
    listers: {
      of: (_resource, project) => ({
        get: (_namespace: string, name: string) => {
          const found = object(accounts[name]);
          return found === undefined ? undefined : project(found);
        },
        inNamespace: () => [].values(),
        all: () => [].values(),
        lostForMs: 0,
      }),
    },
    objects: {
      read: async (_resource, _namespace, name) => {
        reads++;
        return object(stored[name]);
      },
    },
  });
  return { plugin: made, reads: () => reads };
}

function pod(spec: object = {}, annotations?: Record<string, string>) {
  return {
    metadata: { name: 'x', ...(annotations === undefined ? {} : { annotations }) },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  };
}

async function run(phase: () => Promise<void> | void): Promise<StatusError | undefined> {
  try {
    await phase();
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}

async function admitted(
  request: TestRequest,
  accounts: Readonly<Record<string, object>> = { default: {} },
): Promise<{
  readonly spec: Pod['spec'];
  readonly error: StatusError | undefined;
  readonly attributes: AdmissionAttributes;
}> {
  const attributes = admissionAttributes(request);
  const { plugin: made } = plugin(accounts);
  const error = await run(() => made.admit(attributes));
  return { spec: (attributes.object as unknown as Pod)?.spec, error, attributes };
}

describe('ServiceAccount', () => {
  it('gives a pod the default account and a token', async () => {
    const { spec, error } = await admitted({ object: pod({ initContainers: [{ name: 'i', image: 'i' }] }) });
    assert.equal(error, undefined);
    assert.equal(spec.serviceAccountName, 'default');
    const [volume] = spec.volumes ?? [];
    assert.match(volume?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(volume, {
      name: volume?.name,
      projected: {
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
        defaultMode: 0o644,
      },
    });
    const mount = { name: volume?.name, readOnly: true, mountPath };
    assert.deepEqual(spec.containers?.[0]?.volumeMounts, [mount]);
    assert.deepEqual(spec.initContainers?.[0]?.volumeMounts, [mount]);
  });

  it('changes nothing in a second round', async () => {
    const first = await admitted({ object: pod() });
    const before = JSON.stringify(first.spec);
    const again = await admitted({ object: first.attributes.object });
    assert.equal(JSON.stringify(again.spec), before);
  });

  const token: readonly (readonly [what: string, object, account: object, boolean])[] = [
    ['the pod wants none', { automountServiceAccountToken: false }, {}, false],
    ['the account wants none', {}, { automountServiceAccountToken: false }, false],
    [
      'the pod wants one though its account does not',
      { automountServiceAccountToken: true },
      { automountServiceAccountToken: false },
      true,
    ],
    ['the account wants one', {}, { automountServiceAccountToken: true }, true],
    [
      'something is mounted there',
      {
        containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath }] }],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
      {},
      false,
    ],
  ];
  for (const [what, spec, account, expected] of token) {
    it(`${expected ? 'mounts' : 'mounts no'} token when ${what}`, async () => {
      const { spec: result } = await admitted({ object: pod(spec) }, { default: account });
      assert.equal(result.volumes?.some(({ projected }) => projected !== undefined) ?? false, expected);
    });
  }

  it('mounts a token volume that is there already', async () => {
    const { spec } = await admitted({ object: pod({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] }) });
    assert.equal(spec.volumes?.length, 1);
    assert.equal(spec.containers?.[0]?.volumeMounts?.[0]?.name, 'kube-api-access-mine');
  });

  it('knows the old name of the field', async () => {
    const { spec } = await admitted({ object: pod({ serviceAccount: 'a' }) }, { a: {} });
    assert.equal(spec.serviceAccountName, 'a');
  });

  it('hands over pull secrets unless the pod has its own', async () => {
    const accounts = { default: { imagePullSecrets: [{ name: 'a' }, {}, { name: 'b' }] } };
    const { spec } = await admitted({ object: pod() }, accounts);
    assert.deepEqual(spec.imagePullSecrets, [{ name: 'a' }, { name: 'b' }]);
    const own = await admitted({ object: pod({ imagePullSecrets: [{ name: 'c' }] }) }, accounts);
    assert.deepEqual(own.spec.imagePullSecrets, [{ name: 'c' }]);
  });

  it('refuses pods of accounts that do not exist', async () => {
    const { error } = await admitted({ object: pod({ serviceAccountName: 'none' }) });
    assert.equal(error?.code, 403);
    assert.equal(
      error?.message,
      'pods "x" is forbidden: error looking up service account n/none: serviceaccount "none" not found',
    );
    const generated = { metadata: { generateName: 'x-' }, spec: { serviceAccountName: 'none' } };
    const unnamed = await admitted({ name: '', object: generated });
    assert.match(unnamed.error?.message ?? '', /^pods "x-" is forbidden/);
  });

  it('finds an account that only the store has, and asks it about no other', async () => {
    const fresh = plugin({ default: {} }, { fresh: { automountServiceAccountToken: false } });
    const attributes = admissionAttributes({ object: pod({ serviceAccountName: 'fresh' }) });
    assert.equal(await run(() => fresh.plugin.admit(attributes)), undefined);
    assert.equal((attributes.object as unknown as Pod).spec.volumes, undefined);
    assert.equal(fresh.reads(), 1);
    await fresh.plugin.admit(admissionAttributes({ object: pod() }));
    assert.equal(fresh.reads(), 1);
  });

  it('waits for the default account of a fresh namespace', async () => {
    const accounts: Record<string, object> = {};
    const { plugin: made } = plugin(accounts);
    const waiting = run(() => made.admit(admissionAttributes({ object: pod() })));
    accounts.default = {};
    assert.equal(await waiting, undefined);
  });

  const mirrorAnnotations = { 'kubernetes.io/config.mirror': 'x' };
  const secretVolume = { volumes: [{ name: 'v', secret: { secretName: 's' } }] };
  const mirrors: readonly (readonly [object, string | undefined])[] = [
    [{}, undefined],
    [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
    [{ serviceAccount: 'default' }, 'a mirror pod may not reference service accounts'],
    [secretVolume, 'a mirror pod may not reference secrets'],
    [{ imagePullSecrets: [{ name: 's' }] }, 'a mirror pod may not reference secrets'],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ];
  for (const [spec, problem] of mirrors) {
    it(`judges a mirror pod with ${JSON.stringify(spec)}`, async () => {
      const { error, attributes } = await admitted({ object: pod(spec, mirrorAnnotations) });
      assert.equal(error?.message, problem === undefined ? undefined : `pods "x" is forbidden: ${problem}`);
      assert.deepEqual(attributes.object, pod(spec, mirrorAnnotations));
      const { plugin: made } = plugin({ default: {} });
      const judged = await run(() => made.validate(admissionAttributes({ object: pod(spec, mirrorAnnotations) })));
      assert.equal(judged === undefined, problem === undefined);
    });
  }

  const env = (secretKeyRef: object) => [{ name: 'E', valueFrom: { secretKeyRef } }];
  const references: readonly (readonly [object, string | undefined])[] = [
    [{ volumes: [{ name: 'v', secret: { secretName: 'ok' } }] }, undefined],
    [
      secretVolume,
      'volume with secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] },
      'volume with secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    ...[
      { csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } },
      { flexVolume: { driver: 'a/b', secretRef: { name: 's' } } },
      { azureFile: { secretName: 's', shareName: 'x' } },
    ].map(
      (source) =>
        [
          { volumes: [{ name: 'v', ...source }] },
          'volume with secret.secretName="s" is not allowed because service account default does not reference that secret',
        ] as const,
    ),
    [
      { containers: [{ name: 'c', env: env({ name: 's', key: 'k' }) }] },
      'container c with envVar E referencing secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [{ containers: [{ name: 'c', env: env({ name: 'ok', key: 'k' }) }] }, undefined],
    [
      { initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 's' } }] }] },
      'init container i with envFrom referencing secret.secretName="s" is not allowed because service account default does not reference that secret',
    ],
    [
      { imagePullSecrets: [{ name: 'pull' }, { name: 'ok' }] },
      'imagePullSecrets[1].name="ok" is not allowed because service account default does not reference that imagePullSecret',
    ],
  ];
  for (const [spec, problem] of references) {
    it(`limits the secrets of pods, here ${JSON.stringify(spec)}`, async () => {
      const accounts = {
        default: {
          metadata: limited,
          secrets: [{ name: 'ok' }],
          imagePullSecrets: [{ name: 'pull' }],
          automountServiceAccountToken: false,
        },
      };
      const { error } = await admitted({ object: pod(spec) }, accounts);
      assert.equal(error?.message, problem === undefined ? undefined : `pods "x" is forbidden: ${problem}`);
    });
  }

  it('limits the secrets of ephemeral containers', async () => {
    const { plugin: made } = plugin({ a: { metadata: limited } });
    const update = (spec: object) =>
      run(() =>
        made.validate(
          admissionAttributes({
            subresource: 'ephemeralcontainers',
            object: pod({ serviceAccountName: 'a', ...spec }),
            oldObject: pod({ serviceAccountName: 'a' }),
          }),
        ),
      );
    const error = await update({ ephemeralContainers: [{ name: 'e', env: env({ name: 's', key: 'k' }) }] });
    assert.match(error?.message ?? '', /^pods "x" is forbidden: ephemeral container e with envVar E referencing/);
    assert.equal(await update({ ephemeralContainers: [{ name: 'e' }] }), undefined);
    // Clients may set the annotation of mirror pods themselves.
    const spec = {
      serviceAccountName: 'a',
      ephemeralContainers: [{ name: 'e', envFrom: [{ secretRef: { name: 's' } }] }],
    };
    const disguised = pod(spec, { 'kubernetes.io/config.mirror': 'x' });
    const request = {
      subresource: 'ephemeralcontainers',
      object: disguised,
      oldObject: pod({ serviceAccountName: 'a' }),
    };
    const refusal = await run(() => made.validate(admissionAttributes(request)));
    assert.match(refusal?.message ?? '', /ephemeral container e with envFrom referencing/);
  });

  it('leaves everything else alone', async () => {
    for (const request of [
      { object: pod({ serviceAccountName: 'none' }), oldObject: pod() },
      { subresource: 'binding', object: { metadata: {}, target: {} } },
      { resource: 'configmaps', object: { metadata: {} } },
    ]) {
      const before = JSON.stringify(request.object);
      const { error, attributes } = await admitted(request);
      assert.deepEqual([error, JSON.stringify(attributes.object)], [undefined, before]);
      assert.equal(await run(() => plugin({}).plugin.validate(admissionAttributes(request))), undefined);
    }
  });
});
