import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgePodSpec, type PodCase } from '../../../../../../test/support/pod-rules.js';

const cases: readonly PodCase[] = [
  [
    'mounts of volumes',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          volumeMounts: [
            { name: 'v', mountPath: '/a', subPath: '/x' },
            { name: 'v', mountPath: '/a', subPath: 'a/../b', subPathExpr: 'x' },
            { name: '', mountPath: '/b', mountPropagation: 'Odd' },
            { name: 'v', mountPath: '/c', mountPropagation: 'Bidirectional' },
            { name: 'v', mountPath: '/d:e', subPathExpr: '/q' },
          ],
        },
      ],
      volumes: [{ name: 'v' }],
    },
    [
      'FieldValueInvalid | spec.containers[0].volumeMounts.subPath | Invalid value: "/x": must be a relative path',
      'FieldValueInvalid | spec.containers[0].volumeMounts[1].mountPath | Invalid value: "/a": must be unique',
      'FieldValueInvalid | spec.containers[0].volumeMounts.subPath | Invalid value: "a/../b": must not contain \'..\'',
      'FieldValueInvalid | spec.containers[0].volumeMounts[1].subPathExpr | Invalid value: "x": subPathExpr and subPath are mutually exclusive',
      'FieldValueRequired | spec.containers[0].volumeMounts[2].name | Required value',
      'FieldValueNotFound | spec.containers[0].volumeMounts[2].name | Not found: ""',
      'FieldValueNotSupported | spec.containers[0].volumeMounts.mountPropagation | Unsupported value: "Odd": supported values: "Bidirectional", "HostToContainer", "None"',
      'FieldValueForbidden | spec.containers[0].volumeMounts.mountPropagation | Forbidden: Bidirectional mount propagation is available only to privileged containers',
      'FieldValueInvalid | spec.containers[0].volumeMounts.subPathExpr | Invalid value: "/q": must be a relative path',
    ],
  ],
  [
    'block devices',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          volumeMounts: [{ name: 'p', mountPath: '/dev/x' }],
          volumeDevices: [
            { name: 'p', devicePath: '/dev/x' },
            { name: 'v', devicePath: '' },
            { name: 'none', devicePath: '/a/../b' },
            { name: 'p', devicePath: '/dev/x' },
            { name: '', devicePath: '/z' },
          ],
        },
      ],
      volumes: [{ name: 'v' }, { name: 'p', persistentVolumeClaim: { claimName: 'x' } }],
    },
    [
      'FieldValueInvalid | spec.containers[0].volumeMounts[0].name | Invalid value: "p": must not already exist in volumeDevices',
      'FieldValueInvalid | spec.containers[0].volumeMounts[0].mountPath | Invalid value: "/dev/x": must not already exist as a path in volumeDevices',
      'FieldValueInvalid | spec.containers[0].volumeDevices[0].name | Invalid value: "p": must not already exist in volumeMounts',
      'FieldValueInvalid | spec.containers[0].volumeDevices[0].devicePath | Invalid value: "/dev/x": must not already exist as a path in volumeMounts',
      'FieldValueInvalid | spec.containers[0].volumeDevices[1].name | Invalid value: "v": can only use volume source type of PersistentVolumeClaim for block mode',
      'FieldValueRequired | spec.containers[0].volumeDevices[1].devicePath | Required value',
      'FieldValueNotFound | spec.containers[0].volumeDevices[2].name | Not found: "none"',
      'FieldValueInvalid | spec.containers[0].volumeDevices[2].devicePath | Invalid value: "/a/../b": can not contain backsteps (\'..\')',
      'FieldValueInvalid | spec.containers[0].volumeDevices[3].name | Invalid value: "p": must be unique',
      'FieldValueInvalid | spec.containers[0].volumeDevices[3].devicePath | Invalid value: "/dev/x": must be unique',
      'FieldValueInvalid | spec.containers[0].volumeDevices[3].name | Invalid value: "p": must not already exist in volumeMounts',
      'FieldValueInvalid | spec.containers[0].volumeDevices[3].devicePath | Invalid value: "/dev/x": must not already exist as a path in volumeMounts',
      'FieldValueRequired | spec.containers[0].volumeDevices[4].name | Required value',
      'FieldValueNotFound | spec.containers[0].volumeDevices[4].name | Not found: ""',
    ],
  ],
  [
    'ports',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          ports: [
            { containerPort: 0 },
            { containerPort: 80, name: 'a' },
            { containerPort: 81, name: 'a' },
            { containerPort: 82, hostPort: 70000 },
            { containerPort: 83, name: 'A--b-' },
            { containerPort: 83, name: '123' },
            { containerPort: 1, hostPort: 9 },
            { containerPort: 2, hostPort: 9, hostIP: '' },
          ],
        },
      ],
    },
    [
      'FieldValueRequired | spec.containers[0].ports[0].containerPort | Required value',
      'FieldValueDuplicate | spec.containers[0].ports[2].name | Duplicate value: "a"',
      'FieldValueInvalid | spec.containers[0].ports[3].hostPort | Invalid value: 70000: must be between 1 and 65535, inclusive',
      'FieldValueInvalid | spec.containers[0].ports[4].name | Invalid value: "A--b-": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'FieldValueInvalid | spec.containers[0].ports[4].name | Invalid value: "A--b-": must not contain consecutive hyphens',
      'FieldValueInvalid | spec.containers[0].ports[4].name | Invalid value: "A--b-": must not begin or end with a hyphen',
      'FieldValueInvalid | spec.containers[0].ports[5].name | Invalid value: "123": must contain at least one letter (a-z)',
      'FieldValueDuplicate | spec.containers[0].ports[7].hostPort | Duplicate value: "TCP//9"',
    ],
  ],
  [
    'probes and hooks',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          livenessProbe: { exec: { command: [] }, httpGet: { port: 1 } },
          readinessProbe: {
            tcpSocket: { port: 'a_b' },
            timeoutSeconds: -1,
            failureThreshold: -2,
            initialDelaySeconds: -3,
            successThreshold: -1,
          },
          startupProbe: { httpGet: { port: '', httpHeaders: [{ name: 'a b', value: 'x' }] }, successThreshold: 3 },
          lifecycle: { postStart: { httpGet: { port: 99999, scheme: 'x' } } },
        },
      ],
    },
    [
      'FieldValueInvalid | spec.containers[0].lifecycle.postStart.httpGet.port | Invalid value: 99999: must be between 1 and 65535, inclusive',
      'FieldValueNotSupported | spec.containers[0].lifecycle.postStart.httpGet.scheme | Unsupported value: "x": supported values: "HTTP", "HTTPS"',
      'FieldValueRequired | spec.containers[0].livenessProbe.exec.command | Required value',
      'FieldValueForbidden | spec.containers[0].livenessProbe.httpGet | Forbidden: may not specify more than 1 handler type',
      'FieldValueInvalid | spec.containers[0].readinessProbe.tcpSocket.port | Invalid value: "a_b": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'FieldValueInvalid | spec.containers[0].readinessProbe.initialDelaySeconds | Invalid value: -3: must be greater than or equal to 0',
      'FieldValueInvalid | spec.containers[0].readinessProbe.timeoutSeconds | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.containers[0].readinessProbe.successThreshold | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.containers[0].readinessProbe.failureThreshold | Invalid value: -2: must be greater than or equal to 0',
      'FieldValueInvalid | spec.containers[0].startupProbe.httpGet.port | Invalid value: "": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'FieldValueInvalid | spec.containers[0].startupProbe.httpGet.port | Invalid value: "": must contain at least one letter (a-z)',
      "FieldValueInvalid | spec.containers[0].startupProbe.httpGet.httpHeaders | Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      'FieldValueInvalid | spec.containers[0].startupProbe.successThreshold | Invalid value: 3: must be 1',
    ],
  ],
  [
    'init containers',
    {
      initContainers: [
        {
          name: 'c',
          image: 'i',
          ports: [
            { containerPort: 1, hostPort: 5 },
            { containerPort: 2, hostPort: 5 },
          ],
        },
        {
          name: '',
          image: '',
          livenessProbe: { exec: { command: [] } },
          readinessProbe: { exec: { command: ['a'] } },
          lifecycle: { preStop: { exec: { command: ['x'] } } },
        },
      ],
    },
    [
      'FieldValueDuplicate | spec.initContainers[0].name | Duplicate value: "c"',
      'FieldValueDuplicate | spec.initContainers[0].ports[1].hostPort | Duplicate value: "TCP//5"',
      'FieldValueRequired | spec.initContainers[1].name | Required value',
      'FieldValueRequired | spec.initContainers[1].image | Required value',
      'FieldValueForbidden | spec.initContainers[1].lifecycle | Forbidden: may not be set for init containers without restartPolicy=Always',
      'FieldValueForbidden | spec.initContainers[1].livenessProbe | Forbidden: may not be set for init containers without restartPolicy=Always',
      'FieldValueForbidden | spec.initContainers[1].readinessProbe | Forbidden: may not be set for init containers without restartPolicy=Always',
    ],
  ],
  [
    'host ports taken twice',
    {
      containers: [
        {
          name: 'c',
          image: 'img:1',
          ports: [{ containerPort: 1, hostPort: 5 }],
          resources: { requests: { cpu: '1' } },
        },
        { name: 'd', image: 'img:1', ports: [{ containerPort: 2, hostPort: 5 }] },
      ],
    },
    ['FieldValueDuplicate | spec.containers[1].ports[0].hostPort | Duplicate value: "TCP//5"'],
  ],
  [
    "ports in the host's network",
    {
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 82 }] }],
      hostNetwork: true,
    },
    [
      'FieldValueInvalid | spec.containers[0].ports[1].hostPort | Invalid value: 82: must match `containerPort` when `hostNetwork` is true',
    ],
  ],
];

describe('rules of containers', () => {
  for (const [about, part, causes] of cases) {
    it(`judges ${about}`, () => {
      assert.deepEqual(judgePodSpec(part), causes);
    });
  }
});
