import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import { fixedListers } from '../../../../../test/support/fixed-listers.js';
import type { AuthorizerAttributes } from '../../../../base/machinery/authorizer.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { PodSecurityPolicy } from './pod-security-policy.js';

const names = vendorNames('k8s.io');
const any = { rule: 'RunAsAny' };
const strictest = {
  seLinux: any,
  runAsUser: any,
  supplementalGroups: any,
  fsGroup: any,
  allowPrivilegeEscalation: true,
  volumes: ['*'],
};
const policy = (name: string, spec: object = {}, annotations: object = {}) => ({
  metadata: { name, annotations },
  spec: { ...strictest, ...spec },
});
type Body = { metadata: { name: string; annotations?: Record<string, string> }; spec: Record<string, unknown> };
const pod = (spec: object = {}, container: object = {}, annotations?: Record<string, string>): Body => ({
  metadata: { name: 'x', ...(annotations && { annotations }) },
  spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});
const secured = (securityContext: object) => pod({}, { securityContext });
const ofPod = (securityContext: object) => pod({ securityContext });

/**
 * Checks one request; `may` lists which policies each user may use, as `<user> <policy>` (default: every user may use
 * all).
 */
async function judged(policies: object[], request: TestRequest, may: (attributes: string) => boolean = () => true) {
  const authorizer = {
    authorize: ({ user, name, verb, apiGroup, namespace }: AuthorizerAttributes) => {
      assert.deepEqual([verb, namespace], ['use', 'n']);
      const isAllowed = apiGroup === 'policy' && may(`${user.name} ${name}`);
      return { decision: isAllowed ? 'allow' : 'noOpinion', reason: '' } as const;
    },
  };
  const plugin = new PodSecurityPolicy(fixedListers({ 'podsecuritypolicies.policy': policies }), authorizer, names);
  const attributes = admissionAttributes(request);
  try {
    await plugin.admit(attributes);
    await plugin.validate(attributes);
    return { object: attributes.object as unknown as Body, message: '' };
  } catch (error) {
    return { object: undefined, message: (error as Error).message };
  }
}

const head = 'pods "x" is forbidden: PodSecurityPolicy: ';
const local = 'seccomp.security.alpha.kubernetes.io';
const armor = 'apparmor.security.beta.kubernetes.io';
const ids = (rule: string) => ({ rule, ranges: [{ min: 10, max: 20 }] });

/** A policy's fields, its annotations, a pod that it forbids, the reason, and a pod that it allows. */
const rules: readonly (readonly [string, object, Body, string, Body | undefined, object?])[] = [
  [
    'privileged',
    {},
    secured({ privileged: true }),
    'spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed',
    secured({ privileged: false }),
  ],
  [
    'hostNetwork',
    {},
    pod({ hostNetwork: true }),
    'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used',
    pod(),
  ],
  [
    'hostPID',
    { hostIPC: true },
    pod({ hostPID: true }),
    'spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used',
    pod({ hostIPC: true }),
  ],
  [
    'hostIPC',
    { hostPID: true },
    pod({ hostIPC: true }),
    'spec.securityContext.hostIPC: Invalid value: true: Host IPC is not allowed to be used',
    pod({ hostPID: true }),
  ],
  [
    'hostPorts',
    {
      hostPorts: [
        { min: 80, max: 81 },
        { min: 90, max: 90 },
      ],
    },
    pod({}, { ports: [{ hostPort: 82 }] }),
    'spec.containers[0].ports[0].hostPort: Invalid value: 82: Host port 82 is not allowed to be used. Allowed ports: [80-81,90]',
    pod({}, { ports: [{ hostPort: 81 }, { hostPort: 90 }, { containerPort: 1 }] }),
  ],
  [
    'init containers',
    {},
    pod({ initContainers: [{ name: 'i', securityContext: { privileged: true } }] }),
    'spec.initContainers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed',
    undefined,
  ],
  [
    'ephemeral containers',
    {},
    pod({ ephemeralContainers: [{ name: 'e', securityContext: { privileged: true } }] }),
    'spec.ephemeralContainers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed',
    undefined,
  ],
  [
    'added capabilities',
    { allowedCapabilities: ['A'] },
    secured({ capabilities: { add: ['A', 'B'] } }),
    'spec.containers[0].securityContext.capabilities.add: Invalid value: "B": capability may not be added',
    secured({ capabilities: { add: ['A'] } }),
  ],
  [
    'volumes',
    { volumes: ['secret'] },
    pod({ volumes: [{ name: 'v', emptyDir: {} }] }),
    'spec.volumes[0]: Invalid value: "emptyDir": emptyDir volumes are not allowed to be used',
    pod({
      volumes: [
        { name: 'v', secret: {} },
        {
          name: 't',
          projected: {
            sources: [
              { serviceAccountToken: { path: 'token' } },
              { configMap: { name: names.rootAuthorityMap } },
              { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
            ],
          },
        },
      ],
    }),
  ],
  [
    'projected volumes',
    { volumes: ['secret'] },
    pod({ volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] }),
    'spec.volumes[0]: Invalid value: "projected": projected volumes are not allowed to be used',
    undefined,
  ],
  [
    'host paths',
    { allowedHostPaths: [{ pathPrefix: '/var/log/' }] },
    pod({ volumes: [{ name: 'v', hostPath: { path: '/var/logs' } }] }),
    'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/var/logs": is not allowed to be used',
    pod({
      volumes: [
        { name: 'v', hostPath: { path: '/var/log/app' } },
        { name: 'w', hostPath: { path: '/var/log' } },
      ],
    }),
  ],
  [
    'ways around host paths',
    { allowedHostPaths: [{ pathPrefix: '/var/log' }] },
    pod({ volumes: [{ name: 'v', hostPath: { path: '/var/log/../lib' } }] }),
    'spec.volumes[0].hostPath.pathPrefix: Invalid value: "/var/log/../lib": is not allowed to be used',
    undefined,
  ],
  [
    'read-only host paths',
    { allowedHostPaths: [{ pathPrefix: '/', readOnly: true }] },
    pod({ volumes: [{ name: 'v', hostPath: { path: '/d' } }] }, { volumeMounts: [{ name: 'v', readOnly: false }] }),
    'spec.containers[c].volumeMounts[0].readOnly: Invalid value: false: must be read-only',
    pod({ volumes: [{ name: 'v', hostPath: { path: '/d' } }] }, { volumeMounts: [{ name: 'v', readOnly: true }] }),
  ],
  [
    'flex volumes',
    { allowedFlexVolumes: [{ driver: 'a' }] },
    pod({ volumes: [{ name: 'v', flexVolume: { driver: 'b' } }] }),
    'spec.volumes[0].driver: Invalid value: "b": Flexvolume driver is not allowed to be used',
    pod({ volumes: [{ name: 'v', flexVolume: { driver: 'a' } }] }),
  ],
  [
    'CSI drivers',
    { allowedCSIDrivers: [{ name: 'a' }] },
    pod({ volumes: [{ name: 'v', csi: { driver: 'b' } }] }),
    'spec.volumes[0].csi.driver: Invalid value: "b": Inline CSI driver is not allowed to be used',
    pod({ volumes: [{ name: 'v', csi: { driver: 'a' } }] }),
  ],
  [
    'SELinux',
    { seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 's0:c1,c2', type: 't' } } },
    ofPod({ seLinuxOptions: { level: 's0:c1,c2', type: 'u' } }),
    'spec.securityContext.seLinuxOptions.type: Invalid value: "u": must be t spec.containers[0].securityContext.seLinuxOptions.type: Invalid value: "u": must be t',
    ofPod({ seLinuxOptions: { level: 's0:c2,c1', type: 't' } }),
  ],
  [
    'users',
    { runAsUser: ids('MustRunAs') },
    ofPod({ runAsUser: 9 }),
    'spec.containers[0].securityContext.runAsUser: Invalid value: 9: must be in the ranges: [{10 20}]',
    secured({ runAsUser: 20 }),
  ],
  [
    'root',
    { runAsUser: { rule: 'MustRunAsNonRoot' } },
    secured({ runAsUser: 0 }),
    'spec.containers[0].securityContext.runAsUser: Invalid value: 0: running with the root UID is forbidden',
    secured({ runAsUser: 1 }),
  ],
  [
    'root of the image',
    { runAsUser: { rule: 'MustRunAsNonRoot' } },
    secured({ runAsNonRoot: false }),
    'spec.containers[0].securityContext.runAsNonRoot: Invalid value: false: must be true',
    ofPod({ runAsNonRoot: true }),
  ],
  [
    'groups',
    { runAsGroup: ids('MayRunAs') },
    secured({ runAsGroup: 21 }),
    'spec.containers[0].securityContext.runAsGroup: Invalid value: 21: group 21 must be in the ranges: [{10 20}]',
    pod(),
  ],
  [
    'supplemental groups',
    { supplementalGroups: ids('MustRunAs') },
    ofPod({ supplementalGroups: [10, 9] }),
    'spec.securityContext.supplementalGroups: Invalid value: 9: group 9 must be in the ranges: [{10 20}]',
    ofPod({ supplementalGroups: [10, 20] }),
  ],
  [
    'fsGroup',
    { fsGroup: ids('MayRunAs') },
    ofPod({ fsGroup: 9 }),
    'spec.securityContext.fsGroup: Invalid value: 9: group 9 must be in the ranges: [{10 20}]',
    pod(),
  ],
  [
    'writable root',
    { readOnlyRootFilesystem: true },
    secured({ readOnlyRootFilesystem: false }),
    'spec.containers[0].securityContext.readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true',
    secured({ readOnlyRootFilesystem: true }),
  ],
  [
    'escalation',
    { allowPrivilegeEscalation: false },
    secured({ allowPrivilegeEscalation: true }),
    'spec.containers[0].securityContext.allowPrivilegeEscalation: Invalid value: true: Allowing privilege escalation for containers is not allowed',
    secured({ allowPrivilegeEscalation: false }),
  ],
  [
    'procMount',
    {},
    secured({ procMount: 'Unmasked' }),
    'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": ProcMountType is not allowed',
    secured({ procMount: 'Default' }),
  ],
  [
    'unsafe sysctls',
    { allowedUnsafeSysctls: ['net.core.*'] },
    ofPod({ sysctls: [{ name: 'kernel/msgmax' }] }),
    'spec.securityContext.sysctls[0]: Forbidden: unsafe sysctl "kernel.msgmax" is not allowed',
    ofPod({ sysctls: [{ name: 'net.core.somaxconn' }, { name: 'kernel.shm_rmid_forced' }] }),
  ],
  [
    'forbidden sysctls',
    { forbiddenSysctls: ['*'] },
    ofPod({ sysctls: [{ name: 'kernel.shm_rmid_forced' }] }),
    'spec.securityContext.sysctls[0]: Forbidden: sysctl "kernel.shm_rmid_forced" is not allowed',
    undefined,
  ],
  [
    'runtime classes',
    { runtimeClass: { allowedRuntimeClassNames: ['a'] } },
    pod({ runtimeClassName: 'b' }),
    'spec.runtimeClassName: Invalid value: "b": must be one of: [a]',
    pod({ runtimeClassName: 'a' }),
  ],
  [
    'seccomp',
    {},
    secured({ seccompProfile: { type: 'Unconfined' } }),
    'spec.containers[0].securityContext.seccompProfile: Forbidden: unconfined is not an allowed seccomp profile. Valid values are docker/default',
    secured({ seccompProfile: { type: 'RuntimeDefault' } }),
    { [`${local}/allowedProfileNames`]: 'docker/default' },
  ],
  [
    'AppArmor',
    {},
    pod({}, {}, { [`container.${armor}/c`]: 'localhost/b' }),
    'spec.containers[0].securityContext.appArmorProfile: Forbidden: localhost/b is not an allowed profile. Allowed values: "localhost/a"',
    pod({}, {}, { [`container.${armor}/c`]: 'localhost/a' }),
    { [`${armor}/allowedProfileNames`]: 'localhost/a' },
  ],
  [
    'a missing AppArmor profile',
    {},
    pod(),
    'spec.containers[0].securityContext.appArmorProfile: Forbidden: AppArmor profile must be set',
    undefined,
    { [`${armor}/allowedProfileNames`]: 'runtime/default' },
  ],
];

describe('PodSecurityPolicy', () => {
  for (const [what, spec, forbidden, reason, allowed, annotations] of rules) {
    it(`holds pods to the rule about ${what}`, async () => {
      const wanted = reason.replace('docker/default', 'runtime/default');
      const { message } = await judged([policy('p', spec, annotations)], { object: structuredClone(forbidden) });
      assert.equal(message, `${head}unable to admit pod: [${wanted}]`);
      if (allowed === undefined) return;
      const accepted = await judged([policy('p', spec, annotations)], { object: structuredClone(allowed) });
      assert.equal(accepted.message, '');
      assert.deepEqual(accepted.object?.spec, allowed.spec, 'the pod stays as it is');
      assert.equal(accepted.object?.metadata.annotations?.['kubernetes.io/psp'], 'p');
    });
  }

  it('sets what the pod leaves open', async () => {
    const spec = {
      seLinux: { rule: 'MustRunAs', seLinuxOptions: { type: 't' } },
      runAsUser: ids('MustRunAs'),
      runAsGroup: ids('MustRunAs'),
      supplementalGroups: ids('MustRunAs'),
      fsGroup: ids('MustRunAs'),
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      defaultAddCapabilities: ['B', 'A'],
      requiredDropCapabilities: ['C'],
      runtimeClass: { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'fast' },
    };
    const annotations = {
      [`${local}/defaultProfileName`]: 'runtime/default',
      [`${local}/allowedProfileNames`]: '*',
      [`${armor}/defaultProfileName`]: 'localhost/a',
    };
    const { object, message } = await judged([policy('p', spec, annotations)], { object: pod() });
    assert.equal(message, '');
    assert.deepEqual(object?.spec, {
      serviceAccountName: 'robot',
      runtimeClassName: 'fast',
      securityContext: {
        supplementalGroups: [10],
        fsGroup: 10,
        seLinuxOptions: { type: 't' },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'c',
          image: 'i',
          securityContext: {
            runAsUser: 10,
            runAsGroup: 10,
            appArmorProfile: { type: 'Localhost', localhostProfile: 'a' },
            capabilities: { add: ['A', 'B'], drop: ['C'] },
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
          },
        },
      ],
    });
    const nonRoot = await judged([policy('p', { runAsUser: { rule: 'MustRunAsNonRoot' } })], { object: pod() });
    assert.deepEqual(nonRoot.object?.spec.containers, [
      { name: 'c', image: 'i', securityContext: { runAsNonRoot: true } },
    ]);
  });

  const chosen = async (policies: object[], may?: (attributes: string) => boolean) => {
    const { object, message } = await judged(policies, { object: pod() }, may);
    return object?.metadata.annotations?.['kubernetes.io/psp'] ?? message;
  };
  const changing = { readOnlyRootFilesystem: true };

  it('prefers policies that change nothing, then goes by name', async () => {
    assert.equal(await chosen([policy('b'), policy('c'), policy('a', changing)]), 'b');
    assert.equal(await chosen([policy('b', changing), policy('a', changing)]), 'a');
  });

  it('takes only policies that the account or the sender may use', async () => {
    const policies = [policy('a'), policy('b'), policy('c', changing)];
    const robot = 'system:serviceaccount:n:robot';
    assert.equal(await chosen(policies, (attributes) => attributes === `${robot} b`), 'b');
    assert.equal(await chosen(policies, (attributes) => attributes === 'alice c'), 'c');
    assert.equal(await chosen(policies, () => false), `${head}unable to admit pod: []`);
    assert.equal(await chosen([]), `${head}no providers available to validate pod request`);
  });

  it('shows nobody what policies forbid that they may not use', async () => {
    const object = secured({ privileged: true });
    const { message } = await judged([policy('a')], { object }, () => false);
    assert.equal(message, `${head}unable to admit pod: []`);
  });

  it('changes no pod that is there, and judges its changes', async () => {
    const update = (object: Body) => judged([policy('a', changing)], { object, oldObject: pod() });
    assert.equal((await update({ ...pod(), metadata: { name: 'x', annotations: { any: 'thing' } } })).message, '');
    assert.equal((await update(pod({}, { image: 'j' }))).message, `${head}unable to validate pod: []`);
    const debug = pod({ ephemeralContainers: [{ name: 'e', securityContext: { privileged: true } }] });
    const added = await judged([policy('a')], { object: debug, oldObject: pod(), subresource: 'ephemeralcontainers' });
    assert.match(added.message, /unable to validate pod: \[spec\.ephemeralContainers\[0\]/);
    const profile = pod({}, {}, { [`container.${armor}/c`]: 'unconfined' });
    const allowed = { [`${armor}/allowedProfileNames`]: 'runtime/default' };
    const loosened = await judged([policy('a', {}, allowed)], { object: profile, oldObject: pod() });
    assert.match(loosened.message, /unconfined is not an allowed profile/);
    assert.equal((await judged([], { object: debug, oldObject: pod(), subresource: 'status' })).message, '');
  });
});
