import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { horizontalPodAutoscalerResource } from './horizontal-pod-autoscaler.resource.js';

const definition = horizontalPodAutoscalerResource(testNames);
const tester = new DefinitionTester(definition);
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'n' };
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } };
const annotation = (name: string): string => `autoscaling.alpha.${testNames.labelPrefix}/${name}`;

const notPopulated = 'Required value: must populate information for the given metric source';
const typeRule = 'supported values: "ContainerResource", "External", "Object", "Pods", "Resource"';

/** Fields added to a valid spec with a target and at most five replicas, and the expected causes. */
const cases: readonly (readonly [spec: Record<string, unknown>, causes: readonly string[]])[] = [
  [{ minReplicas: 5, metrics: [cpu], behavior: { scaleUp: { tolerance: '0.1' } } }, []],
  [{ scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'n' } }, []],
  [{ scaleTargetRef: { kind: 'ReplicationController', name: 'n' } }, []],
  [
    {
      minReplicas: 0,
      metrics: [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '1' } } }],
    },
    [],
  ],
  [
    { scaleTargetRef: { kind: '', name: 'x/y' }, minReplicas: 0, maxReplicas: -1 },
    [
      'FieldValueInvalid | spec.maxReplicas | Invalid value: -1: must be greater than or equal to `minReplicas`',
      'FieldValueRequired | spec.scaleTargetRef.kind | Required value',
      'FieldValueInvalid | spec.scaleTargetRef.name | Invalid value: "x/y": may not contain \'/\'',
      'FieldValueInvalid | spec.scaleTargetRef.apiVersion | Invalid value: "": apiVersion must specify API group',
      'FieldValueForbidden | spec.metrics | Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      'FieldValueInvalid | spec.maxReplicas | Invalid value: -1: must be greater than or equal to 1',
    ],
  ],
  [
    {
      metrics: [
        {
          type: 'Odd',
          pods: { metric: { name: 'a/b' }, target: { type: 'AverageValue', averageValue: '1' } },
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } },
        },
      ],
    },
    [
      `FieldValueNotSupported | spec.metrics[0].type | Unsupported value: "Odd": ${typeRule}`,
      'FieldValueInvalid | spec.metrics[0].pods.metric.name | Invalid value: "a/b": may not contain \'/\'',
      'FieldValueForbidden | spec.metrics[0].resource | Forbidden: must populate the given metric source only',
    ],
  ],
  [
    { metrics: [{ type: 'Odd' }, { type: 'Object' }, { type: 'Pods' }, { type: 'External' }] },
    [
      `FieldValueNotSupported | spec.metrics[0].type | Unsupported value: "Odd": ${typeRule}`,
      `FieldValueRequired | spec.metrics[1].object | ${notPopulated}`,
      `FieldValueRequired | spec.metrics[2].pods | ${notPopulated}`,
      `FieldValueRequired | spec.metrics[3].external | ${notPopulated}`,
    ],
  ],
  [
    {
      metrics: [
        { type: 'Resource', resource: { name: '', target: { type: 'Utilization' } } },
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Odd', averageUtilization: 0, averageValue: '1' } },
        },
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: '', target: { type: 'Utilization' } },
        },
        { type: 'Pods', pods: { metric: { name: '' }, target: { type: 'Value', value: '1' } }, resource: cpu.resource },
        {
          type: 'Object',
          object: { describedObject: { kind: '', name: '' }, metric: { name: 'a/b' }, target: { type: '' } },
        },
        {
          type: 'External',
          external: { metric: { name: 'e' }, target: { type: 'Value', value: '0', averageValue: '-1' } },
        },
        { type: 'External', external: { metric: { name: 'e' }, target: { type: 'Value' } } },
      ],
    },
    [
      'FieldValueRequired | spec.metrics[0].resource.name | Required value: must specify a resource name',
      'FieldValueRequired | spec.metrics[0].resource.target.averageUtilization | Required value: must set either a target raw value or a target utilization',
      'FieldValueInvalid | spec.metrics[1].resource.target.type | Invalid value: "Odd": must be either Utilization, Value, or AverageValue',
      'FieldValueInvalid | spec.metrics[1].resource.target.averageUtilization | Invalid value: 0: must be greater than 0',
      'FieldValueForbidden | spec.metrics[1].resource.target.averageValue | Forbidden: may not set both a target raw value and a target utilization',
      'FieldValueRequired | spec.metrics[2].containerResource.container | Required value: must specify a container',
      'FieldValueRequired | spec.metrics[2].containerResource.target.averageUtilization | Required value: must set either a target raw value or a target utilization',
      'FieldValueRequired | spec.metrics[3].pods.metric.name | Required value: must specify a metric name',
      'FieldValueRequired | spec.metrics[3].pods.target.averageValue | Required value: must specify a positive target averageValue',
      'FieldValueForbidden | spec.metrics[3].resource | Forbidden: must populate the given metric source only',
      'FieldValueRequired | spec.metrics[4].object.describedObject.kind | Required value',
      'FieldValueRequired | spec.metrics[4].object.describedObject.name | Required value',
      'FieldValueInvalid | spec.metrics[4].object.metric.name | Invalid value: "a/b": may not contain \'/\'',
      'FieldValueRequired | spec.metrics[4].object.target.type | Required value: must specify a metric target type',
      'FieldValueInvalid | spec.metrics[4].object.target.type | Invalid value: "": must be either Utilization, Value, or AverageValue',
      'FieldValueRequired | spec.metrics[4].object.target.averageValue | Required value: must set either a target value or averageValue',
      'FieldValueInvalid | spec.metrics[5].external.target.value | Invalid value: "0": must be positive',
      'FieldValueInvalid | spec.metrics[5].external.target.averageValue | Invalid value: "-1": must be positive',
      'FieldValueForbidden | spec.metrics[5].external.target.value | Forbidden: may not set both a target value for metric and a per-pod target',
      'FieldValueRequired | spec.metrics[6].external.target.averageValue | Required value: must set either a target value for metric or a per-pod target',
    ],
  ],
  [
    {
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: -1,
          selectPolicy: 'X',
          tolerance: '-1',
          policies: [
            { type: 'A', value: 0, periodSeconds: 0 },
            { type: 'Pods', value: 1, periodSeconds: 1801 },
          ],
        },
        scaleDown: { stabilizationWindowSeconds: 3601 },
      },
    },
    [
      'FieldValueInvalid | spec.behavior.scaleUp.stabilizationWindowSeconds | Invalid value: -1: must be greater than or equal to zero',
      'FieldValueNotSupported | spec.behavior.scaleUp.selectPolicy | Unsupported value: "X": supported values: "Disabled", "Max", "Min"',
      'FieldValueNotSupported | spec.behavior.scaleUp.policies[0].type | Unsupported value: "A": supported values: "Percent", "Pods"',
      'FieldValueInvalid | spec.behavior.scaleUp.policies[0].value | Invalid value: 0: must be greater than zero',
      'FieldValueInvalid | spec.behavior.scaleUp.policies[0].periodSeconds | Invalid value: 0: must be greater than zero',
      'FieldValueInvalid | spec.behavior.scaleUp.policies[1].periodSeconds | Invalid value: 1801: must be less than or equal to 1800',
      'FieldValueInvalid | spec.behavior.scaleUp.tolerance | Invalid value: "-1": must be greater than or equal to 0',
      'FieldValueInvalid | spec.behavior.scaleDown.stabilizationWindowSeconds | Invalid value: 3601: must be less than or equal to 3600',
    ],
  ],
];

describe('HorizontalPodAutoscaler', () => {
  it('fills in the same defaults under every version', () => {
    for (const { version } of definition.versions) {
      const made = new DefinitionTester(definition, version).create({ spec: { scaleTargetRef, maxReplicas: 3 } });
      assert.deepEqual(made.causes, []);
      assert.deepEqual(made.object.spec, { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics: [cpu] });
      assert.deepEqual(made.object.status, { desiredReplicas: 0, currentMetrics: null });
    }
    const { object } = tester.create({ spec: { scaleTargetRef, maxReplicas: 3, behavior: {} } });
    assert.deepEqual((object.spec as { behavior: unknown }).behavior, {
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
    });
  });

  for (const [spec, causes] of cases) {
    it(`judges ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(tester.create({ spec: { scaleTargetRef, maxReplicas: 5, ...spec } }).causes, causes);
    });
  }

  it('judges the status', () => {
    const { object } = tester.create({ spec: { scaleTargetRef, maxReplicas: 3 } });
    const conditions = [{ type: 'a', status: 'True', observedGeneration: -1 }];
    const patch = { status: { currentReplicas: -1, desiredReplicas: -2, conditions } };
    assert.deepEqual(tester.patch(object, patch, 'status').causes, [
      'FieldValueInvalid | status.currentReplicas | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.desiredReplicas | Invalid value: -2: must be greater than or equal to 0',
      'FieldValueInvalid | status.conditions[0].observedGeneration | Invalid value: -1: must be greater than or equal to 0',
    ]);
  });
});

/** An autoscaler with every kind of metric. */
function full(): ApiObject {
  const selector = { matchLabels: { a: 'b' } };
  const average = { type: 'AverageValue', averageValue: '9' };
  const { object, causes } = tester.create({
    spec: {
      scaleTargetRef,
      maxReplicas: 5,
      metrics: [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
        { type: 'Pods', pods: { metric: { name: 'm', selector }, target: average } },
        {
          type: 'Object',
          object: {
            describedObject: { kind: 'S', name: 's' },
            metric: { name: 'om' },
            target: { type: 'Value', value: '7' },
          },
        },
        {
          type: 'Object',
          object: { describedObject: { kind: 'S', name: 's' }, metric: { name: 'om', selector }, target: average },
        },
        { type: 'External', external: { metric: { name: 'em', selector }, target: average } },
        { type: 'External', external: { metric: { name: 'em' }, target: { type: 'Value', value: '3' } } },
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 7 } },
        },
        cpu,
      ],
      behavior: { scaleDown: { policies: [{ type: 'Pods', value: 3, periodSeconds: 60 }] } },
    },
  });
  assert.deepEqual(causes, []);
  const currentMetrics = [
    { type: 'Resource', resource: { name: 'memory', current: { averageValue: '77' } } },
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 33, averageValue: '30m' } } },
    { type: 'Pods', pods: { metric: { name: 'm' }, current: { averageValue: '1' } } },
    { type: 'External', external: { metric: { name: 'em' }, current: { value: '2' } } },
    {
      type: 'Object',
      object: { describedObject: { kind: 'S', name: 's' }, metric: { name: 'om' }, current: { averageValue: '4' } },
    },
  ];
  const conditions = [{ type: 'AbleToScale', status: 'True', reason: 'r', lastTransitionTime: '2030-01-01T00:00:00Z' }];
  const status = { currentReplicas: 2, desiredReplicas: 3, currentMetrics, conditions };
  return tester.patch(object, { status }, 'status').object;
}

describe('versions of HorizontalPodAutoscaler', () => {
  for (const served of definition.versions.slice(1)) {
    it(`loses nothing by way of ${served.version}`, () => {
      const stored = full();
      const shown = served.fromStored?.(structuredClone(stored)) as ApiObject;
      const back = served.toStored?.(structuredClone(shown)) as ApiObject;
      assert.deepEqual(
        { metadata: back.metadata, spec: back.spec, status: back.status },
        { metadata: stored.metadata, spec: stored.spec, status: stored.status },
      );
    });
  }

  it('shows v1 with the rest in annotations', () => {
    const shown = definition.versions[1]?.fromStored?.(full()) as ApiObject;
    assert.deepEqual(shown.spec, {
      scaleTargetRef,
      minReplicas: 1,
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 80,
    });
    assert.deepEqual(shown.status, { currentReplicas: 2, desiredReplicas: 3, currentCPUUtilizationPercentage: 33 });
    const texts = shown.metadata.annotations ?? {};
    assert.deepEqual(
      Object.keys(texts).sort(),
      ['behavior', 'conditions', 'current-metrics', 'metrics'].map(annotation),
    );
    const metrics = JSON.parse(texts[annotation('metrics')] ?? '') as unknown[];
    assert.deepEqual(metrics[0], { type: 'Resource', resource: { name: 'memory', targetAverageValue: '100Mi' } });
    assert.equal(metrics.length, 7);
    const behavior = JSON.parse(texts[annotation('behavior')] ?? '') as { ScaleDown: unknown };
    assert.deepEqual(behavior.ScaleDown, {
      StabilizationWindowSeconds: null,
      SelectPolicy: 'Max',
      Policies: [{ Type: 'Pods', Value: 3, PeriodSeconds: 60 }],
      Tolerance: null,
    });
  });

  it('does not trust annotations', () => {
    const v1 = new DefinitionTester(definition, 'v1');
    for (const text of ['{', '[{"type":7}]', '"x"', '[null]', '{"a":1}']) {
      const annotations = { keep: 'x', [annotation('metrics')]: text, [annotation('behavior')]: text };
      const { object } = v1.create({ metadata: { annotations }, spec: { scaleTargetRef, maxReplicas: 3 } });
      assert.deepEqual(object.metadata.annotations, { keep: 'x' });
    }
  });

  it('shows present and wanted values in tables', () => {
    const object = full();
    const cells = tester.cells(object);
    assert.deepEqual(cells, ['a', 'Deployment/n', 'memory: 77/100Mi, <unknown>/9 + 6 more...', '1', 5, 2, '0s']);
    const simple = tester.create({ spec: { scaleTargetRef, maxReplicas: 3 } }).object;
    assert.equal(tester.cells(simple)[2], 'cpu: <unknown>/80%');
  });
});
