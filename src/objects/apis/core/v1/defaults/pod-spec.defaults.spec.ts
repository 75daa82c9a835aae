import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podSpecOf } from '../../../../../../test/support/pod-rules.js';
import { processorMs } from '../../../../../../test/support/processor-time.js';
import { imageTag } from './container.defaults.js';
import { applyPodOnlyDefaults, applyPodSpecDefaults } from './pod-spec.defaults.js';

describe('applyPodSpecDefaults', () => {
  it('fills what every pod has', () => {
    assert.deepEqual(podSpecOf({}), {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
    });
  });

  it('fills containers', () => {
    const spec = podSpecOf({
      containers: [
        {
          name: 'c',
          image: 'img',
          ports: [{ containerPort: 80 }],
          env: [{ name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          livenessProbe: { httpGet: { port: 80 } },
          readinessProbe: { grpc: { port: 81 } },
          lifecycle: { preStop: { httpGet: { port: 'http', path: '/x' } } },
          resources: { limits: { cpu: '100u', memory: '1Gi' }, requests: { cpu: '0.0001' } },
        },
      ],
    });
    const container = spec.containers?.[0];
    const timing = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    assert.equal(container?.imagePullPolicy, 'Always');
    assert.deepEqual(container.ports, [{ containerPort: 80, protocol: 'TCP' }]);
    assert.deepEqual(container.env?.[0]?.valueFrom, { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } });
    assert.deepEqual(container.livenessProbe, { httpGet: { path: '/', port: 80, scheme: 'HTTP' }, ...timing });
    assert.deepEqual(container.readinessProbe, { grpc: { port: 81, service: '' }, ...timing });
    assert.deepEqual(container.lifecycle, { preStop: { httpGet: { path: '/x', port: 'http', scheme: 'HTTP' } } });
    assert.deepEqual(container.resources, { limits: { cpu: '1m', memory: '1Gi' }, requests: { cpu: '1m' } });
  });

  it('fills volumes', () => {
    const spec = podSpecOf({
      volumes: [
        { name: 'none' },
        { name: 'host', hostPath: { path: '/x' } },
        { name: 'secret', secret: { secretName: 's' } },
        { name: 'map', configMap: { name: 'm', defaultMode: 0 } },
        { name: 'down', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        { name: 'all', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
        { name: 'image', image: { reference: 'img' } },
        { name: 'iscsi', iscsi: { targetPortal: 'p', iqn: 'iqn.x', lun: 0 } },
        { name: 'rbd', rbd: { monitors: ['m'], image: 'i' } },
        { name: 'disk', azureDisk: { diskName: 'd', diskURI: 'https://x' } },
        { name: 'scale', scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'x' } } },
      ],
    });
    const sources = Object.fromEntries((spec.volumes ?? []).map(({ name, ...source }) => [name, source]));
    assert.deepEqual(sources, {
      none: { emptyDir: {} },
      host: { hostPath: { path: '/x', type: '' } },
      secret: { secret: { secretName: 's', defaultMode: 420 } },
      map: { configMap: { name: 'm', defaultMode: 0 } },
      down: {
        downwardAPI: {
          items: [{ path: 'l', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }],
          defaultMode: 420,
        },
      },
      all: {
        projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 3600 } }], defaultMode: 420 },
      },
      image: { image: { reference: 'img', pullPolicy: 'Always' } },
      iscsi: { iscsi: { targetPortal: 'p', iqn: 'iqn.x', lun: 0, iscsiInterface: 'default' } },
      rbd: { rbd: { monitors: ['m'], image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
      disk: {
        azureDisk: {
          diskName: 'd',
          diskURI: 'https://x',
          cachingMode: 'ReadWrite',
          fsType: 'ext4',
          readOnly: false,
          kind: 'Shared',
        },
      },
      scale: {
        scaleIO: {
          gateway: 'g',
          system: 's',
          secretRef: { name: 'x' },
          storageMode: 'ThinProvisioned',
          fsType: 'xfs',
        },
      },
    });
  });

  it("makes ports the host's in the host's network", () => {
    const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 82 }];
    const spec = podSpecOf({ hostNetwork: true, containers: [{ name: 'c', image: 'i', ports }] });
    const shown = () => spec.containers?.[0]?.ports?.map((p) => p.hostPort);
    assert.deepEqual(shown(), [undefined, 82], 'a template leaves it to its pods');
    applyPodOnlyDefaults(spec);
    assert.deepEqual(shown(), [80, 82]);
  });

  it('shows the account under both names', () => {
    const spec = podSpecOf({ serviceAccount: 'robot' });
    assert.deepEqual([spec.serviceAccountName, spec.serviceAccount], ['robot', 'robot']);
  });

  it('changes nothing the second time', () => {
    const spec = podSpecOf({ volumes: [{ name: 'v' }], hostNetwork: true, serviceAccountName: 'x' });
    const before = structuredClone(spec);
    applyPodSpecDefaults(spec);
    assert.deepEqual(spec, before);
  });
});

describe('applyPodOnlyDefaults', () => {
  it('takes requests from limits', () => {
    const resources = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } };
    const spec = podSpecOf({ containers: [{ name: 'c', image: 'i', resources }] });
    applyPodOnlyDefaults(spec);
    assert.deepEqual(spec.containers?.[0]?.resources.requests, { cpu: '1', memory: '1Gi' });
    assert.equal(spec.enableServiceLinks, true);
  });
});

describe('imageTag', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const tags: readonly (readonly [image: string, tag: string])[] = [
    ['nginx', 'latest'],
    ['nginx:latest', 'latest'],
    ['nginx:1.2', '1.2'],
    ['registry.example:5000/team/app', 'latest'],
    ['REGISTRY.example/app:3', '3'],
    ['localhost/x', 'latest'],
    [`nginx@${digest}`, ''],
    [`nginx:latest@${digest}`, 'latest'],
    ['Upper', ''],
    ['trailing:', ''],
    ['a//b', ''],
    ['with space', ''],
    ['', ''],
  ];
  for (const [image, tag] of tags) {
    it(`reads ${image || 'an empty name'}`, () => {
      assert.equal(imageTag(image), tag);
    });
  }

  it('ends soon for long text', () => {
    const start = processorMs();
    imageTag(`${'a-'.repeat(200_000)}_`);
    imageTag(`${'a/'.repeat(200_000)}A`);
    assert.ok(processorMs() - start < 1000);
  });
});
