import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../../../../base/machinery/vendor.js';
import type { PodSpec } from '../../../../../objects/apis/core/v1/pod-spec.types.js';
import { type LevelVersion, parseLevel, parseVersion } from '../policy-version.js';
import { PodEvaluator, reasonsText, violationsText } from './pod-evaluator.js';
import { checkedPod } from './standard.js';

const names = vendorNames('k8s.io');
const evaluator = new PodEvaluator(names);

function levelVersion(text: string): LevelVersion {
  const [level = '', version = ''] = text.split(':');
  return {
    level: parseLevel(level) ?? assert.fail(`level ${level}`),
    version: parseVersion(version) ?? assert.fail(`version ${version}`),
  };
}

type Pod = { readonly annotations?: Record<string, string>; readonly spec: Record<string, unknown> };

function violations(level: string, { annotations, spec }: Pod): string {
  return violationsText(evaluator.evaluate(levelVersion(level), checkedPod(annotations, spec as unknown as PodSpec)));
}

/** A pod with one container per security context, named `a`, `b`, ... */
function contexts(...each: readonly (object | undefined)[]): Pod {
  return { spec: { containers: each.map((securityContext, i) => ({ name: 'abc'[i], securityContext })) } };
}

function ofPod(securityContext: object, ...containers: readonly (object | undefined)[]): Pod {
  return { spec: { securityContext, ...contexts(...(containers.length === 0 ? [undefined] : containers)).spec } };
}

function volumes(...types: readonly string[]): Pod {
  return { spec: { volumes: types.map((type, i) => ({ name: 'abcdefghijk'[i], [type]: {} })) } };
}

const strict = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

/** A pod that violates only the rules that `change` makes it violate. */
function restricted(change: object = {}, spec: object = {}): Pod {
  return { spec: { ...contexts({ ...strict, ...change }).spec, ...spec } };
}

const windows = { os: { name: 'windows' } };

describe('the Pod Security Standards', () => {
  const cases: readonly (readonly [what: string, level: string, pod: Pod, expected: string])[] = [
    ['host namespaces', 'baseline:latest', { spec: { hostNetwork: true } }, 'host namespaces (hostNetwork=true)'],
    [
      'all host namespaces',
      'baseline:v1.0',
      { spec: { hostIPC: true, hostPID: true, hostNetwork: true } },
      'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
    ],
    ['no host namespaces', 'baseline:latest', { spec: { hostNetwork: false } }, ''],
    ['a hostPath volume', 'baseline:latest', volumes('hostPath'), 'hostPath volumes (volume "a")'],
    [
      'hostPath volumes',
      'baseline:latest',
      volumes('hostPath', 'nfs', 'hostPath'),
      'hostPath volumes (volumes "a", "c")',
    ],
    [
      'a host port',
      'baseline:latest',
      { spec: { containers: [{ name: 'a', ports: [{ hostPort: 80 }, { containerPort: 1 }, { hostPort: 0 }] }] } },
      'hostPort (container "a" uses hostPort 80)',
    ],
    [
      'host ports, once each, of all sorts of containers',
      'baseline:latest',
      {
        spec: {
          containers: [{ name: 'a', ports: [{ hostPort: 9 }] }],
          initContainers: [{ name: 'i', ports: [{ hostPort: 80 }, { hostPort: 9 }] }],
          ephemeralContainers: [{ name: 'e', ports: [{ hostPort: 80 }] }],
        },
      },
      'hostPort (containers "i", "a", "e" use hostPorts 80, 9)',
    ],
    [
      'privileged',
      'baseline:latest',
      contexts({ privileged: true }),
      'privileged (container "a" must not set securityContext.privileged=true)',
    ],
    [
      'two privileged',
      'baseline:latest',
      contexts({ privileged: true }, { privileged: false }, { privileged: true }),
      'privileged (containers "a", "c" must not set securityContext.privileged=true)',
    ],
    ['default capabilities', 'baseline:latest', contexts({ capabilities: { add: ['CHOWN', 'SYS_CHROOT'] } }), ''],
    [
      'other capabilities',
      'baseline:latest',
      contexts({ capabilities: { add: ['SYS_ADMIN', 'CHOWN'] } }, { capabilities: { add: ['NET_RAW', 'ALL'] } }),
      'non-default capabilities (containers "a", "b" must not include "ALL", "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    [
      'a host in a probe',
      'baseline:v1.34',
      { spec: { containers: [{ name: 'a', livenessProbe: { httpGet: { host: '1.2.3.4' } } }] } },
      'probe or lifecycle host (container "a" uses probe or lifecycle host "1.2.3.4")',
    ],
    [
      'hosts in hooks',
      'baseline:latest',
      {
        spec: {
          containers: [
            {
              name: 'a',
              lifecycle: { preStop: { httpGet: { host: 'y' } } },
              startupProbe: { tcpSocket: { host: 'x' } },
            },
            { name: 'b', lifecycle: { postStart: { tcpSocket: { host: 'y' } } }, readinessProbe: { httpGet: {} } },
          ],
        },
      },
      'probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "x", "y")',
    ],
    [
      'a host before the rule',
      'baseline:v1.33',
      { spec: { containers: [{ name: 'a', livenessProbe: { httpGet: { host: '1.2.3.4' } } }] } },
      '',
    ],
    [
      'AppArmor by annotation',
      'baseline:latest',
      {
        annotations: { 'container.apparmor.security.beta.kubernetes.io/a': 'unconfined' },
        spec: {},
      },
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/a="unconfined"")',
    ],
    [
      'AppArmor by annotations, fields of the pod and of a container',
      'baseline:latest',
      {
        annotations: {
          'container.apparmor.security.beta.kubernetes.io/b': 'x',
          'container.apparmor.security.beta.kubernetes.io/a': 'unconfined',
          'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default',
          'container.apparmor.security.beta.kubernetes.io/d': 'localhost/x',
          'container.apparmor.security.beta.kubernetes.io/e': '',
        },
        ...ofPod({ appArmorProfile: { type: 'Unconfined' } }, { appArmorProfile: { type: 'Unconfined' } }, undefined),
      },
      'forbidden AppArmor profiles (pod and container "a" and annotations must not set AppArmor profile type to "Unconfined", ' +
        '"container.apparmor.security.beta.kubernetes.io/a="unconfined"", "container.apparmor.security.beta.kubernetes.io/b="x"")',
    ],
    [
      'allowed AppArmor profiles',
      'baseline:latest',
      ofPod({ appArmorProfile: { type: 'RuntimeDefault' } }, { appArmorProfile: { type: 'Localhost' } }),
      '',
    ],
    [
      'SELinux types',
      'baseline:latest',
      ofPod(
        { seLinuxOptions: { type: 'spc_t' } },
        { seLinuxOptions: { type: 'container_t' } },
        { seLinuxOptions: { type: 'x' } },
      ),
      'seLinuxOptions (pod and container "b" set forbidden securityContext.seLinuxOptions: types "spc_t", "x")',
    ],
    [
      'SELinux user and role',
      'baseline:latest',
      contexts({ seLinuxOptions: { user: 'u', role: 'r', level: 's0' } }),
      'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: user may not be set; role may not be set)',
    ],
    ['an SELinux level', 'baseline:latest', contexts({ seLinuxOptions: { level: 's0' } }), ''],
    ['container_engine_t', 'baseline:v1.31', contexts({ seLinuxOptions: { type: 'container_engine_t' } }), ''],
    [
      'container_engine_t before it was allowed',
      'baseline:v1.30',
      contexts({ seLinuxOptions: { type: 'container_engine_t' } }),
      'seLinuxOptions (container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
    ],
    [
      'procMount',
      'baseline:latest',
      contexts({ procMount: 'Unmasked' }, { procMount: 'Default' }),
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'procMount in a user namespace',
      'baseline:v1.35',
      { spec: { hostUsers: false, ...contexts({ procMount: 'Unmasked' }).spec } },
      '',
    ],
    [
      'procMount in a user namespace before the relaxation',
      'baseline:v1.34',
      { spec: { hostUsers: false, ...contexts({ procMount: 'Unmasked' }).spec } },
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'procMount in a user namespace, restricted',
      'restricted:latest',
      restricted({ procMount: 'Unmasked' }, { hostUsers: false }),
      'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'seccomp',
      'baseline:v1.19',
      ofPod(
        { seccompProfile: { type: 'Unconfined' } },
        { seccompProfile: { type: 'Unconfined' } },
        { seccompProfile: { type: 'x' } },
      ),
      'seccompProfile (pod and containers "a", "b" must not set securityContext.seccompProfile.type to "Unconfined", "x")',
    ],
    [
      'seccomp by annotations',
      'baseline:v1.18',
      {
        annotations: {
          'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
          'container.seccomp.security.alpha.kubernetes.io/a': 'unconfined',
          'container.seccomp.security.alpha.kubernetes.io/b': 'docker/default',
          'container.seccomp.security.alpha.kubernetes.io/none': 'unconfined',
        },
        ...contexts(undefined, undefined),
      },
      'seccompProfile (forbidden annotations container.seccomp.security.alpha.kubernetes.io/a="unconfined", seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    ],
    [
      'seccomp annotations when there are fields',
      'baseline:latest',
      { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }, ...contexts(undefined) },
      '',
    ],
    [
      'sysctls',
      'baseline:v1.26',
      ofPod({
        sysctls: [
          { name: 'net.ipv4.tcp_syncookies' },
          { name: 'kernel.msgmax' },
          { name: 'net.ipv4.ip_local_reserved_ports' },
        ],
      }),
      'forbidden sysctls (kernel.msgmax, net.ipv4.ip_local_reserved_ports)',
    ],
    ['reserved ports', 'baseline:v1.27', ofPod({ sysctls: [{ name: 'net.ipv4.ip_local_reserved_ports' }] }), ''],
    ['keepalive', 'baseline:v1.29', ofPod({ sysctls: [{ name: 'net.ipv4.tcp_keepalive_time' }] }), ''],
    [
      'keepalive before',
      'baseline:v1.28',
      ofPod({ sysctls: [{ name: 'net.ipv4.tcp_keepalive_time' }] }),
      'forbidden sysctls (net.ipv4.tcp_keepalive_time)',
    ],
    [
      'buffers',
      'baseline:v1.32',
      ofPod({ sysctls: [{ name: 'net.ipv4.tcp_rmem' }, { name: 'net.ipv4.tcp_wmem' }] }),
      '',
    ],
    [
      'buffers before',
      'baseline:v1.31',
      ofPod({ sysctls: [{ name: 'net.ipv4.tcp_wmem' }] }),
      'forbidden sysctls (net.ipv4.tcp_wmem)',
    ],
    [
      'a sysctl named like a property of objects',
      'baseline:latest',
      ofPod({ sysctls: [{ name: 'constructor' }] }),
      'forbidden sysctls (constructor)',
    ],
    [
      'hostProcess',
      'baseline:latest',
      ofPod(
        { windowsOptions: { hostProcess: true } },
        { windowsOptions: { hostProcess: true } },
        { windowsOptions: { hostProcess: false } },
      ),
      'hostProcess (pod and container "a" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
    ['a plain pod', 'baseline:latest', contexts(undefined), ''],
    [
      'a plain pod',
      'restricted:latest',
      contexts(undefined, undefined),
      'allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (containers "a", "b" must set securityContext.capabilities.drop=["ALL"]), ' +
        'runAsNonRoot != true (pod or containers "a", "b" must set securityContext.runAsNonRoot=true), ' +
        'seccompProfile (pod or containers "a", "b" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
    [
      'a plain pod in the first version',
      'restricted:v1.0',
      contexts(undefined),
      'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
    ],
    ['a careful pod', 'restricted:latest', restricted(), ''],
    ['a careful pod in a version of the future', 'restricted:v1.999', restricted(), ''],
    [
      'settings of the pod instead of its containers',
      'restricted:latest',
      ofPod(
        { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
        { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      ),
      '',
    ],
    ['anything', 'privileged:latest', { spec: { hostNetwork: true, ...contexts({ privileged: true }).spec } }, ''],
    [
      'baseline rules first, each group by id',
      'restricted:latest',
      restricted({ privileged: true, allowPrivilegeEscalation: true, runAsUser: 0 }, { hostNetwork: true }),
      'host namespaces (hostNetwork=true), privileged (container "a" must not set securityContext.privileged=true), ' +
        'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
        'runAsUser=0 (container "a" must not set runAsUser=0)',
    ],
    [
      'capabilities',
      'restricted:latest',
      ofPod(
        {},
        { ...strict, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
        { ...strict, capabilities: { drop: ['NET_RAW'], add: ['CHOWN', 'SYS_ADMIN'] } },
      ),
      'unrestricted capabilities (container "b" must set securityContext.capabilities.drop=["ALL"]; ' +
        'container "b" must not include "CHOWN", "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    [
      'capabilities before they were restricted',
      'restricted:v1.21',
      restricted({ capabilities: { add: ['SYS_ADMIN'] } }),
      'non-default capabilities (container "a" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
    ],
    [
      'runAsNonRoot=false of the pod and a container',
      'restricted:latest',
      ofPod({ runAsNonRoot: false }, { ...strict, runAsNonRoot: false }, strict),
      'runAsNonRoot != true (pod and container "a" must not set securityContext.runAsNonRoot=false)',
    ],
    [
      'a container that says the opposite of its pod',
      'restricted:latest',
      ofPod({ runAsNonRoot: true }, { ...strict, runAsNonRoot: false }),
      'runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
    ],
    [
      'root',
      'restricted:v1.23',
      ofPod({ runAsUser: 0 }, { ...strict, runAsUser: 0 }, { ...strict, runAsUser: 1 }),
      'runAsUser=0 (pod and container "a" must not set runAsUser=0)',
    ],
    ['root before the rule', 'restricted:v1.22', restricted({ runAsUser: 0 }), ''],
    [
      'root in a user namespace',
      'restricted:v1.35',
      restricted({ runAsUser: 0, runAsNonRoot: undefined }, { hostUsers: false }),
      '',
    ],
    [
      'root in the users of the node',
      'restricted:v1.35',
      restricted({ runAsUser: 0 }, { hostUsers: true }),
      'runAsUser=0 (container "a" must not set runAsUser=0)',
    ],
    [
      'root in a user namespace before the relaxation',
      'restricted:v1.34',
      restricted({ runAsUser: 0 }, { hostUsers: false }),
      'runAsUser=0 (container "a" must not set runAsUser=0)',
    ],
    [
      'seccomp, one container silent',
      'restricted:latest',
      ofPod({}, strict, { ...strict, seccompProfile: undefined }),
      'seccompProfile (pod or container "b" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
    [
      'seccomp, one container unconfined',
      'restricted:latest',
      ofPod({ seccompProfile: { type: 'RuntimeDefault' } }, { ...strict, seccompProfile: { type: 'Unconfined' } }),
      'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'allowed volumes',
      'restricted:latest',
      volumes(
        'configMap',
        'csi',
        'downwardAPI',
        'emptyDir',
        'ephemeral',
        'image',
        'persistentVolumeClaim',
        'projected',
        'secret',
      ),
      '',
    ],
    [
      'one restricted volume',
      'restricted:latest',
      volumes('hostPath'),
      'restricted volume types (volume "a" uses restricted volume type "hostPath")',
    ],
    [
      'restricted volumes',
      'restricted:latest',
      volumes('nfs', 'emptyDir', 'hostPath', 'nfs'),
      'restricted volume types (volumes "a", "c", "d" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'a volume without a type',
      'restricted:latest',
      { spec: { volumes: [{ name: 'v' }] } },
      'restricted volume types (volume "v" uses restricted volume type "unknown")',
    ],
    ['Windows', 'restricted:v1.25', { spec: { ...windows, ...contexts({ runAsNonRoot: true }).spec } }, ''],
    [
      'Windows before the relaxation',
      'restricted:v1.24',
      { spec: { ...windows, ...contexts({ runAsNonRoot: true }).spec } },
      'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), ' +
        'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), ' +
        'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
    ['escalation before the rule', 'restricted:v1.7', restricted({ allowPrivilegeEscalation: true }), ''],
    [
      'ephemeral containers',
      'restricted:latest',
      restricted({}, { ephemeralContainers: [{ name: 'e', securityContext: { ...strict, privileged: true } }] }),
      'privileged (container "e" must not set securityContext.privileged=true)',
    ],
  ];
  for (const [what, level, pod, expected] of cases) {
    it(`${level} judges ${what}`, () => assert.equal(violations(level, pod), expected));
  }

  it('names reasons alone', () => {
    const pod = checkedPod(undefined, { hostNetwork: true, securityContext: { sysctls: [{ name: 'a' }] } } as PodSpec);
    assert.equal(
      reasonsText(evaluator.evaluate(levelVersion('baseline:latest'), pod)),
      'host namespaces, forbidden sysctls',
    );
  });

  it('knows the annotations of other vendors', () => {
    const other = new PodEvaluator(vendorNames('example.dev'));
    const pod = checkedPod({ 'container.apparmor.security.beta.example.dev/a': 'unconfined' }, {} as PodSpec);
    assert.equal(reasonsText(other.evaluate(levelVersion('baseline:latest'), pod)), 'forbidden AppArmor profile');
  });
});
