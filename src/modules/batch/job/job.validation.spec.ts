import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { jobResource } from './job.resource.js';

const tester = new DefinitionTester(jobResource(testNames));
const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'img:1' }] };
const template = { spec: podSpec };
const uidLabel = `batch.${testNames.labelPrefix}/controller-uid`;
const nameLabel = `batch.${testNames.labelPrefix}/job-name`;
const valid = { spec: { template } };

type Case = readonly [part: Record<string, unknown>, causes: readonly string[]];

/** Specs of new jobs and the expected causes; the template is valid unless the case has its own. */
const creates: readonly Case[] = [
  [{ parallelism: 2, completions: 5, completionMode: 'Indexed', backoffLimitPerIndex: 1, maxFailedIndexes: 5 }, []],
  [
    {
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1, 42] } }] },
      podReplacementPolicy: 'Failed',
    },
    [],
  ],
  [{ completionMode: 'Indexed', completions: 9, successPolicy: { rules: [{ succeededIndexes: '1,3-5' }] } }, []],
  [
    { parallelism: -1, completions: -1, activeDeadlineSeconds: -1, backoffLimit: -1, ttlSecondsAfterFinished: -1 },
    ['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'].map(
      (field) => `FieldValueInvalid | spec.${field} | Invalid value: -1: must be greater than or equal to 0`,
    ),
  ],
  [
    { template: { spec: { containers: podSpec.containers } } },
    ['FieldValueRequired | spec.template.spec.restartPolicy | Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    { manualSelector: true },
    [
      'FieldValueRequired | spec.selector | Required value',
      'FieldValueInvalid | spec.template.metadata.labels | Invalid value: null: `selector` does not match template `labels`',
    ],
  ],
  [
    {
      completionMode: 'Indexed',
      completions: 200_000,
      parallelism: 20_000,
      backoffLimitPerIndex: 1,
      maxFailedIndexes: 120_000,
    },
    [
      'FieldValueInvalid | spec.maxFailedIndexes | Invalid value: 120000: must be less than or equal to 100000',
      'FieldValueInvalid | spec.parallelism | Invalid value: 20000: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
      'FieldValueInvalid | spec.maxFailedIndexes | Invalid value: 120000: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
  ],
  [
    { completionMode: 'Indexed', completions: 200_000, backoffLimitPerIndex: 1 },
    ['FieldValueRequired | spec.maxFailedIndexes | Required value: must be specified when completions is above 100000'],
  ],
  [
    { manualSelector: true, selector: { matchLabels: { a: 'b' } } },
    [
      'FieldValueInvalid | spec.template.metadata.labels | Invalid value: null: `selector` does not match template `labels`',
    ],
  ],
  [
    { completionMode: 'Odd', podReplacementPolicy: 'Odd' },
    [
      'FieldValueNotSupported | spec.completionMode | Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"',
      'FieldValueNotSupported | spec.podReplacementPolicy | Unsupported value: "Odd": supported values: "Failed", "TerminatingOrFailed"',
    ],
  ],
  [
    { completionMode: 'Indexed', parallelism: 100_001, maxFailedIndexes: 1 },
    [
      'FieldValueRequired | spec.backoffLimitPerIndex | Required value: when maxFailedIndexes is specified',
      'FieldValueRequired | spec.completions | Required value: when completion mode is Indexed',
      'FieldValueInvalid | spec.parallelism | Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
      'FieldValueInvalid | spec.maxFailedIndexes | Invalid value: 1: must be less than or equal to completions',
    ],
  ],
  [
    { backoffLimitPerIndex: 1 },
    ['FieldValueInvalid | spec.backoffLimitPerIndex | Invalid value: 1: requires indexed completion mode'],
  ],
  [
    {
      template: { spec: { ...podSpec, restartPolicy: 'OnFailure' } },
      podFailurePolicy: {
        rules: [
          { action: 'Odd', onExitCodes: { operator: 'Odd', values: [2, 1, 1], containerName: 'z' } },
          { action: 'FailIndex', onPodConditions: [{ type: 'a b', status: 'Maybe' }] },
          { action: '', onExitCodes: { operator: 'In', values: [0] } },
          { action: 'Ignore' },
        ],
      },
    },
    [
      'FieldValueNotSupported | spec.podFailurePolicy.rules[0].action | Unsupported value: "Odd": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
      'FieldValueNotSupported | spec.podFailurePolicy.rules[0].onExitCodes.operator | Unsupported value: "Odd": supported values: "In", "NotIn"',
      'FieldValueInvalid | spec.podFailurePolicy.rules[0].onExitCodes.containerName | Invalid value: "z": must be one of the container or initContainer names in the pod template',
      'FieldValueDuplicate | spec.podFailurePolicy.rules[0].onExitCodes.values[2] | Duplicate value: 1',
      'FieldValueInvalid | spec.podFailurePolicy.rules[0].onExitCodes.values | Invalid value: [2,1,1]: must be ordered',
      'FieldValueInvalid | spec.podFailurePolicy.rules[1].action | Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
      "FieldValueInvalid | spec.podFailurePolicy.rules[1].onPodConditions[0].type | Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      'FieldValueNotSupported | spec.podFailurePolicy.rules[1].onPodConditions[0].status | Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      'FieldValueRequired | spec.podFailurePolicy.rules[2].action | Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
      'FieldValueInvalid | spec.podFailurePolicy.rules[2].onExitCodes.values[0] | Invalid value: 0: must not be 0 for the In operator',
      'FieldValueInvalid | spec.podFailurePolicy.rules[3] | Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      'FieldValueInvalid | spec.template.spec.restartPolicy | Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
    ],
  ],
  [
    {
      completionMode: 'Indexed',
      completions: 3,
      successPolicy: {
        rules: [
          {},
          { succeededIndexes: '0-9' },
          { succeededIndexes: '1', succeededCount: 2 },
          { succeededIndexes: '0-' },
        ],
      },
    },
    [
      'FieldValueRequired | spec.successPolicy.rules[0] | Required value: at least one of succeededCount or succeededIndexes must be specified',
      'FieldValueInvalid | spec.successPolicy.rules[1].succeededIndexes | Invalid value: "0-9": error parsing succeededIndexes: too large index: "9"',
      'FieldValueInvalid | spec.successPolicy.rules[2].succeededCount | Invalid value: 2: must be less than or equal to 1 (the number of indexes in the specified succeededIndexes field)',
      'FieldValueInvalid | spec.successPolicy.rules[3].succeededIndexes | Invalid value: "0-": error parsing succeededIndexes: cannot convert string to integer for index: ""',
    ],
  ],
  [
    { maxFailedIndexes: 1 },
    [
      'FieldValueRequired | spec.backoffLimitPerIndex | Required value: when maxFailedIndexes is specified',
      'FieldValueInvalid | spec.maxFailedIndexes | Invalid value: 1: requires indexed completion mode',
    ],
  ],
];

/** Patches of a valid job. */
const updates: readonly Case[] = [
  [{ spec: { parallelism: 7, backoffLimit: 2, suspend: true } }, []],
  [
    { spec: { completionMode: 'Indexed' } },
    ['FieldValueInvalid | spec.completionMode | Invalid value: "Indexed": field is immutable'],
  ],
  [{ spec: { completions: 4 } }, ['FieldValueInvalid | spec.completions | Invalid value: 4: field is immutable']],
  [
    { spec: { completionMode: 'NonIndexed', managedBy: 'example.com/x' } },
    ['FieldValueInvalid | spec.managedBy | Invalid value: "example.com/x": field is immutable'],
  ],
];

describe('rules of Job', () => {
  it('selects its own pods by its uid', () => {
    const { object, causes } = tester.create(valid);
    const { uid } = object.metadata;
    assert.deepEqual(causes, []);
    assert.deepEqual(object.metadata.labels, {
      'job-name': 'a',
      'controller-uid': uid,
      [nameLabel]: 'a',
      [uidLabel]: uid,
    });
    const { selector, template: made, ...rest } = object.spec as Record<string, unknown>;
    assert.deepEqual(selector, { matchLabels: { [uidLabel]: uid } });
    assert.deepEqual((made as { metadata: { labels: unknown } }).metadata.labels, object.metadata.labels);
    assert.deepEqual(rest, {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    });
    assert.equal(object.metadata.generation, 1);
    assert.deepEqual(object.status, {});
  });

  it("refuses labels and selectors that are somebody else's", () => {
    const labels = { 'controller-uid': 'u', 'job-name': 'n' };
    const { object, causes } = tester.create({
      spec: { selector: { matchLabels: { x: 'y' } }, template: { metadata: { labels }, spec: podSpec } },
    });
    const { uid } = object.metadata;
    const shown = JSON.stringify({ [uidLabel]: uid, [nameLabel]: 'a', ...labels });
    // Messages show the labels in order.
    const selector = JSON.stringify({ matchLabels: { [uidLabel]: uid, x: 'y' } });
    const path = 'spec.template.metadata.labels';
    assert.deepEqual(causes, [
      `FieldValueInvalid | ${path}[controller-uid] | Invalid value: ${shown}: must be '${uid}'`,
      `FieldValueInvalid | ${path}[job-name] | Invalid value: ${shown}: must be 'a'`,
      `FieldValueInvalid | spec.selector | Invalid value: ${selector}: \`selector\` not auto-generated`,
      `FieldValueInvalid | ${path} | Invalid value: ${shown}: \`selector\` does not match template \`labels\``,
    ]);
  });

  for (const [spec, causes] of creates) {
    it(`judges a new one with ${JSON.stringify(spec)}`, () => {
      assert.deepEqual(tester.create({ spec: { template, ...spec } }).causes, causes);
    });
  }

  for (const [patch, causes] of updates) {
    it(`judges the change ${JSON.stringify(patch)}`, () => {
      assert.deepEqual(tester.patch(tester.create(valid).object, patch).causes, causes);
    });
  }

  it('keeps the template, but for scheduling before the start', () => {
    const moved = { spec: { template: { spec: { nodeSelector: { zone: 'x' } } } } };
    const running = tester.create(valid).object;
    assert.match(tester.patch(running, moved).causes[0] ?? '', /^FieldValueInvalid \| spec\.template \| .*immutable$/);
    const suspended = tester.create({ spec: { template, suspend: true } }).object;
    assert.deepEqual(tester.patch(suspended, moved).causes, []);
    const renamed = { spec: { template: { spec: { hostname: 'h' } } } };
    assert.equal(tester.patch(suspended, renamed).causes.length, 1);
  });

  it('lets the resources of containers change while a job is at rest', () => {
    const resources = { requests: { cpu: '1' } };
    const sized = { spec: { template: { spec: { containers: [{ name: 'c', image: 'img:1', resources }] } } } };
    const causesOf = (status: object, suspend = true, change: Record<string, unknown> = sized) => {
      const { object } = tester.create({ spec: { template, suspend } });
      return tester.patch({ ...object, status } as typeof object, change).causes.map((cause) => cause.split(' | ')[1]);
    };
    const startTime = '2030-01-01T00:00:00Z';
    const conditions = [{ type: 'Suspended', status: 'True' }];
    assert.deepEqual(causesOf({}), []);
    assert.deepEqual(causesOf({ startTime, conditions }), []);
    assert.deepEqual(causesOf({ startTime, conditions, active: 1 }), ['spec.template']);
    assert.deepEqual(causesOf({ startTime }), ['spec.template']);
    assert.deepEqual(causesOf({}, false), ['spec.template']);
    const other = { spec: { template: { spec: { containers: [{ name: 'c', image: 'other', resources }] } } } };
    assert.deepEqual(causesOf({}, true, other), ['spec.template.spec']);
    const renamed = { spec: { template: { spec: { containers: [{ name: 'd', image: 'img:1', resources }] } } } };
    assert.deepEqual(causesOf({}, true, renamed), ['spec.template.spec']);
  });

  it('lets indexed jobs grow with their parallelism', () => {
    const indexed = { template, completionMode: 'Indexed', completions: 2, parallelism: 2 };
    const { object } = tester.create({ spec: indexed });
    assert.deepEqual(tester.patch(object, { spec: { completions: 5, parallelism: 5 } }).causes, []);
    assert.deepEqual(tester.patch(object, { spec: { completions: 5 } }).causes, [
      'FieldValueInvalid | spec.completions | Invalid value: 5: can only be modified in tandem with spec.parallelism',
    ]);
    const uneven = tester.create({ spec: { ...indexed, parallelism: 1 } }).object;
    assert.deepEqual(tester.patch(uneven, { spec: { completions: 1 } }).causes, [], 'as many as run at one time');
  });

  it('judges and shows the status', () => {
    const { object } = tester.create(valid);
    const negative = { status: { active: -1, succeeded: -2, failed: -3 } };
    assert.deepEqual(tester.patch(object, negative, 'status').causes, [
      'FieldValueInvalid | status.active | Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid | status.succeeded | Invalid value: -2: must be greater than or equal to 0',
      'FieldValueInvalid | status.failed | Invalid value: -3: must be greater than or equal to 0',
      'FieldValueInvalid | status.failed | Invalid value: -3: cannot decrease the failed counter',
      'FieldValueInvalid | status.succeeded | Invalid value: -2: cannot decrease the succeeded counter',
    ]);
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True' }));
    const times = { startTime: '2030-01-01T00:00:00Z', completionTime: '2030-01-01T00:01:05Z' };
    const done = { ...times, conditions, succeeded: 1 };
    const shown = tester.patch(object, { status: done, spec: { parallelism: 9 } }, 'status').object;
    assert.equal((shown.spec as { parallelism: number }).parallelism, 1);
    const selector = `${uidLabel}=${object.metadata.uid}`;
    assert.deepEqual(tester.cells(shown, 90), ['a', 'Complete', '1/1', '65s', '90s', 'c', 'img:1', selector]);
    const undone = tester.patch(shown, { status: { conditions: [], completionTime: null } }, 'status').causes;
    assert.deepEqual(undone, [
      'FieldValueInvalid | status.conditions | Invalid value: cannot disable the terminal Complete=True condition',
      'FieldValueInvalid | status.conditions | Invalid value: cannot disable the SuccessCriteriaMet=True condition',
    ]);
    const both = ['Complete', 'Failed'].map((type) => ({ type, status: 'True' }));
    const broken = { status: { conditions: both, active: 1, ready: 2 } };
    assert.deepEqual(tester.patch(object, broken, 'status').causes, [
      'FieldValueInvalid | status.conditions | Invalid value: cannot set Complete=True and Failed=true conditions',
      'FieldValueRequired | status.completionTime | Required value: completionTime is required for Complete jobs',
      'FieldValueInvalid | status.conditions | Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
      'FieldValueInvalid | status.conditions | Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      'FieldValueInvalid | status.active | Invalid value: 1: active>0 is invalid for finished job',
      'FieldValueRequired | status.startTime | Required value: startTime is required for finished job',
      'FieldValueInvalid | status.ready | Invalid value: 2: cannot set more ready pods than active',
    ]);
    const many = tester.create({ spec: { template, parallelism: 3 } }).object;
    assert.deepEqual(tester.cells(many).slice(1, 4), ['Running', '0/1 of 3', '']);
  });

  const indexed = { template, completionMode: 'Indexed', completions: 4, parallelism: 2, backoffLimitPerIndex: 1 };
  const elastic = { template, completionMode: 'Indexed', completions: 2, parallelism: 2 };
  const named = { template, completions: 4 };
  const met = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));
  const ended = { startTime: '2030-01-01T00:00:00Z', completionTime: '2030-01-01T00:01:00Z' };
  const reports: readonly (readonly [string, object, object, object, readonly string[]])[] = [
    [
      'pods named twice or not at all',
      { template },
      {},
      { uncountedTerminatedPods: { succeeded: ['a', 'a'], failed: ['a', ''] } },
      [
        'uncountedTerminatedPods.succeeded[1] | Duplicate value: "a"',
        'uncountedTerminatedPods.failed[0] | Duplicate value: "a"',
        'uncountedTerminatedPods.failed[1] | Invalid value: "": must not be empty',
      ],
    ],
    [
      'counters that fall',
      { template },
      { failed: 2, succeeded: 2 },
      { failed: 1, succeeded: 1 },
      [
        'failed | Invalid value: 1: cannot decrease the failed counter',
        'succeeded | Invalid value: 1: cannot decrease the succeeded counter',
      ],
    ],
    [
      'the end and the counts of a job undone, in the order of the release',
      { template },
      { ...ended, conditions: met('SuccessCriteriaMet', 'Complete'), succeeded: 2 },
      { ...ended, succeeded: 1, completionTime: null, conditions: [] },
      [
        'conditions | Invalid value: cannot disable the terminal Complete=True condition',
        'succeeded | Invalid value: 1: cannot decrease the succeeded counter',
        'conditions | Invalid value: cannot disable the SuccessCriteriaMet=True condition',
      ],
    ],
    [
      'failures that fall, of elastic jobs',
      elastic,
      { failed: 2, succeeded: 2 },
      { failed: 1, succeeded: 1 },
      ['failed | Invalid value: 1: cannot decrease the failed counter'],
    ],
    [
      'indexes of a job without any',
      named,
      {},
      { completedIndexes: '0,x', failedIndexes: '1' },
      [
        'completedIndexes | Invalid value: "0,x": error parsing completedIndexes: cannot convert string to integer for index: "x"',
        'completedIndexes | Invalid value: "0,x": cannot set non-empty completedIndexes when non-indexed completion mode',
        'failedIndexes | Invalid value: "1": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
      ],
    ],
    [
      'indexes beyond the completions or out of order',
      indexed,
      {},
      { completedIndexes: '5-9', failedIndexes: '2,1' },
      [
        'completedIndexes | Invalid value: "5-9": error parsing completedIndexes: too large index: "5"',
        'failedIndexes | Invalid value: "2,1": error parsing failedIndexes: non-increasing order, previous: 2, current: 1',
      ],
    ],
    [
      'indexes that both failed and succeeded',
      indexed,
      {},
      { completedIndexes: '0,2-3', failedIndexes: '1-2' },
      ['failedIndexes | Invalid value: "1-2": failedIndexes and completedIndexes overlap at index: 2'],
    ],
    [
      'success beside failure',
      { template },
      {},
      { startTime: '2030-01-01T00:00:00Z', conditions: met('SuccessCriteriaMet', 'FailureTarget', 'Failed') },
      [
        'conditions | Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions',
        'conditions | Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
      ],
    ],
    [
      'another start of a job that does not resume',
      { template },
      { startTime: '2030-01-01T00:00:00Z', conditions: met('Suspended') },
      { startTime: '2030-01-02T00:00:00Z' },
      ['startTime | Invalid value: "2030-01-02T00:00:00Z": field is immutable for unsuspended job once set'],
    ],
    [
      'no start that changes when a job resumes',
      { template },
      { startTime: '2030-01-01T00:00:00Z', conditions: met('Suspended') },
      { startTime: '2030-01-02T00:00:00Z', conditions: [{ type: 'Suspended', status: 'False' }] },
      [],
    ],
  ];
  it('refuses criteria that a job meets once it is complete', () => {
    const { object } = tester.create({ spec: { template } });
    const complete = { ...object, status: { ...ended, conditions: met('Complete') } } as typeof object;
    const late = { status: { conditions: met('SuccessCriteriaMet', 'Complete') } };
    assert.deepEqual(tester.patch(complete, late, 'status').causes, [
      'FieldValueInvalid | status.conditions | Invalid value: cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions',
    ]);
  });

  for (const [what, spec, first, status, expected] of reports) {
    it(`refuses in the status: ${what}`, () => {
      const { object } = tester.create({ spec });
      const before = tester.patch(object, { status: first }, 'status');
      assert.deepEqual(before.causes, []);
      const { causes } = tester.patch(before.object, { status }, 'status');
      assert.deepEqual(
        causes.map((cause) => cause.replace(/^\w+ \| status\./, '')),
        expected,
      );
    });
  }
});

describe('labels of jobs', () => {
  it('are those of the template, with the generated ones', () => {
    const labelled = { metadata: { labels: { a: 'b' } }, spec: podSpec };
    const own = tester.create({ spec: { template: labelled } }).object;
    assert.deepEqual(own.metadata.labels?.a, 'b');
    assert.ok(own.metadata.labels?.[uidLabel]);
    const given = tester.create({ metadata: { labels: { a: 'b' } }, spec: { template: labelled } }).object;
    assert.deepEqual(given.metadata.labels, { a: 'b' });
    const removed = tester.patch(own, { metadata: { labels: null } }).object;
    assert.equal(removed.metadata.labels?.a, 'b', 'an update without labels takes those of the template');
  });
});
