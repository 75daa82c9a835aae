import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { cronJobResource } from './cron-job.resource.js';

const definition = cronJobResource(testNames);
const tester = new DefinitionTester(definition);
const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img:1' }] };
const jobTemplate = { spec: { template: { spec: podSpec } } };
const valid = { spec: { schedule: '0 0 1 1 *', jobTemplate } };

const cases: readonly (readonly [spec: Record<string, unknown>, causes: readonly string[]])[] = [
  [{ schedule: '' }, ['FieldValueRequired | spec.schedule | Required value']],
  [{ timeZone: 'Europe/Berlin' }, []],
  [
    {
      schedule: 'every day',
      concurrencyPolicy: 'Odd',
      startingDeadlineSeconds: -1,
      successfulJobsHistoryLimit: -1,
      failedJobsHistoryLimit: -2,
    },
    [
      'FieldValueInvalid | spec.schedule | Invalid value: "every day": expected exactly 5 fields, found 2: [every day]',
      'FieldValueInvalid | spec.startingDeadlineSeconds | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueNotSupported | spec.concurrencyPolicy | Unsupported value: "Odd": supported values: "Allow", "Forbid", "Replace"',
      'FieldValueInvalid | spec.successfulJobsHistoryLimit | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | spec.failedJobsHistoryLimit | Invalid value: -2: must be greater than or equal to 0',
    ],
  ],
  [
    { jobTemplate: { spec: { ...jobTemplate.spec, manualSelector: true, selector: { matchLabels: { a: 'b' } } } } },
    [
      'FieldValueInvalid | spec.jobTemplate.spec.selector | Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      'FieldValueNotSupported | spec.jobTemplate.spec.manualSelector | Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
  [
    { jobTemplate: { spec: { template: { spec: { containers: podSpec.containers } } } } },
    [
      'FieldValueRequired | spec.jobTemplate.spec.template.spec.restartPolicy | Required value: valid values: "OnFailure", "Never"',
    ],
  ],
  [
    { timeZone: '' },
    ['FieldValueInvalid | spec.timeZone | Invalid value: "": timeZone must be nil or non-empty string'],
  ],
  [
    { timeZone: 'Local' },
    [
      'FieldValueInvalid | spec.timeZone | Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
    ],
  ],
  [
    { timeZone: 'Mars/Base' },
    ['FieldValueInvalid | spec.timeZone | Invalid value: "Mars/Base": unknown time zone Mars/Base'],
  ],
  [{ timeZone: 'utc' }, ['FieldValueInvalid | spec.timeZone | Invalid value: "utc": unknown time zone utc']],
  [{ timeZone: 'US/Pacific' }, []],
  [{ timeZone: '+01:00' }, ['FieldValueInvalid | spec.timeZone | Invalid value: "+01:00": unknown time zone +01:00']],
];

describe('CronJob', () => {
  it('fills defaults, under both versions', () => {
    for (const version of ['v1', 'v1beta1']) {
      const { object, causes } = new DefinitionTester(definition, version).create(valid);
      assert.deepEqual(causes, []);
      assert.deepEqual(object.spec, {
        schedule: '0 0 1 1 *',
        concurrencyPolicy: 'Allow',
        suspend: false,
        jobTemplate: {
          metadata: {},
          spec: {
            template: {
              metadata: {},
              spec: {
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
                restartPolicy: 'Never',
                terminationGracePeriodSeconds: 30,
                dnsPolicy: 'ClusterFirst',
                securityContext: {},
                schedulerName: 'default-scheduler',
              },
            },
          },
        },
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      });
    }
  });

  for (const [spec, causes] of cases) {
    it(`judges ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(tester.create({ spec: { ...valid.spec, ...spec } }).causes, causes);
    });
  }

  it('has a short name, so that its jobs have one', () => {
    const name = 'x'.repeat(53);
    assert.deepEqual(tester.create({ ...valid, metadata: { name } }).causes, [
      `FieldValueInvalid | metadata.name | Invalid value: "${name}": must be no more than 52 characters`,
    ]);
  });

  it('shows the time since the last job', () => {
    const { object } = tester.create(valid);
    assert.deepEqual(tester.cells(object).slice(0, 7), ['a', '0 0 1 1 *', '<none>', 'False', 0, '<none>', '0s']);
    const status = { lastScheduleTime: '2030-01-01T00:00:00Z', active: [{ kind: 'Job', name: 'x' }] };
    const shown = tester.patch(object, { status, spec: { suspend: true } }, 'status').object;
    assert.deepEqual(tester.cells(shown, 30).slice(3, 7), ['False', 1, '30s', '30s']);
  });
});
