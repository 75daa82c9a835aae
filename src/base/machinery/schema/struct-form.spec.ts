import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { persistentVolumeSource } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { podTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import { securityContext } from '../../../objects/apis/core/v1/security-context.types.js';
import { servicePort } from '../../../objects/apis/core/v1/service.types.js';
import { podDisruptionBudgetSpec } from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';
import { structDiff } from './struct-diff.js';
import { structForm } from './struct-form.js';

const textOf = (...args: Parameters<typeof structForm>) => JSON.stringify(structForm(...args));

describe('the form of values in messages', () => {
  it('has every field by its own name, in declared order', () => {
    assert.equal(
      textOf(securityContext, { privileged: true, allowPrivilegeEscalation: false, capabilities: { add: ['A'] } }),
      '{"Capabilities":{"Add":["A"],"Drop":null},"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,' +
        '"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,' +
        '"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}',
    );
    assert.equal(
      textOf(servicePort, { port: 80, protocol: 'TCP' }),
      '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
    );
  });

  it('keeps types of metadata as they are', () => {
    assert.equal(
      textOf(podDisruptionBudgetSpec, { minAvailable: '1%', selector: { matchLabels: { a: 'b' } } }),
      '{"MinAvailable":"1%","Selector":{"matchLabels":{"a":"b"}},"MaxUnavailable":null,"UnhealthyPodEvictionPolicy":null}',
    );
    const template = structForm(podTemplateSpec, { metadata: { labels: { a: 'b' } }, spec: {} }) as object;
    assert.deepEqual(Object.keys(template), ['labels', 'Spec']);
  });

  it('is undefined for a value of another type', () => {
    assert.equal(structForm(servicePort, { port: 80, other: 1 }), undefined);
    assert.equal(structForm(servicePort, [1]), undefined);
  });
});

describe('the difference of values in messages', () => {
  it('is a unified diff with three lines around a change', () => {
    assert.equal(
      structDiff(
        persistentVolumeSource,
        { hostPath: { path: '/x', type: '' } },
        { hostPath: { path: '/y', type: '' } },
      ),
      '@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n' +
        '-  "Path": "/x",\n+  "Path": "/y",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
    );
    assert.equal(structDiff(persistentVolumeSource, {}, {}), '');
  });

  it('joins changes that are close, and parts those that are not', () => {
    const before = { template: { spec: { containers: [{ name: 'a', image: 'i' }], nodeName: 'n' } } };
    const changed = (image: string, nodeName: string) => ({
      ...before.template.spec,
      containers: [{ name: 'a', image }],
      nodeName,
    });
    const text = structDiff(podTemplateSpec, { spec: changed('i', 'n') }, { spec: changed('j', 'm') });
    assert.equal(text.split('@@ -').length - 1, 2, text);
    assert.match(text, /\n- {4}"Image": "i",\n\+ {4}"Image": "j",\n/);
  });
});
