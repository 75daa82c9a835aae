import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import protobuf from 'protobufjs';
import { encodeFamilies } from './encode-families.js';
import { NativeBuckets } from './native-buckets.js';
import type { SeriesValue } from './series.js';

/** The published definitions of the messages, limited to the fields that this program writes. */
const { root } = protobuf.parse(
  `
  syntax = "proto2";
  message LabelPair { optional string name = 1; optional string value = 2; }
  message Number { optional double value = 1; }
  message Quantile { optional double quantile = 1; optional double value = 2; }
  message Summary { optional uint64 sample_count = 1; optional double sample_sum = 2; repeated Quantile quantile = 3; }
  message Bucket { optional uint64 cumulative_count = 1; optional double upper_bound = 2; }
  message BucketSpan { optional sint32 offset = 1; optional uint32 length = 2; }
  message Histogram {
    optional uint64 sample_count = 1; optional double sample_sum = 2; repeated Bucket bucket = 3;
    optional sint32 schema = 5; optional double zero_threshold = 6; optional uint64 zero_count = 7;
    repeated BucketSpan positive_span = 12; repeated sint64 positive_delta = 13;
  }
  message Metric {
    repeated LabelPair label = 1; optional Number gauge = 2; optional Number counter = 3; optional Summary summary = 4;
    optional Number untyped = 5; optional Histogram histogram = 7;
  }
  message MetricFamily { optional string name = 1; optional string help = 2; optional int32 type = 3; repeated Metric metric = 4; }
`,
  { keepCase: true },
);

/** The families of a scrape, decoded as any client would decode them. */
function decoded(bytes: Uint8Array): Record<string, unknown>[] {
  const type = root.lookupType('MetricFamily');
  const reader = protobuf.Reader.create(bytes);
  const families: Record<string, unknown>[] = [];
  while (reader.pos < reader.len) families.push(type.toObject(type.decodeDelimited(reader), { longs: Number }));
  return families;
}

describe('a scrape in protobuf', () => {
  it('has numbers with sorted labels, and says how stable a metric is', () => {
    const values: SeriesValue[] = [
      { value: 3, labels: { verb: 'GET', code: '200' } },
      { value: 0.5, labels: {} },
    ];
    const family = { name: 'apiserver_request_total', help: 'Requests.', aggregator: 'sum' };
    assert.deepEqual(
      decoded(
        encodeFamilies([
          { ...family, type: 'counter', values },
          { ...family, name: 'own', type: 'gauge', values: values.slice(1) },
          { ...family, name: 'none', type: 'gauge', values: [] },
        ]),
      ),
      [
        {
          name: 'apiserver_request_total',
          help: '[STABLE] Requests.',
          type: 0,
          metric: [
            {
              label: [
                { name: 'code', value: '200' },
                { name: 'verb', value: 'GET' },
              ],
              counter: { value: 3 },
            },
            { counter: { value: 0.5 } },
          ],
        },
        { name: 'own', help: 'Requests.', type: 1, metric: [{ gauge: { value: 0.5 } }] },
      ],
    );
  });

  it('has both forms of a histogram', () => {
    const native = new NativeBuckets();
    for (const value of [0, 1, 1, 1.05, 2, 64]) native.observe(value);
    const values: SeriesValue[] = [
      { value: 4, labels: { a: 'b', le: '1.5' }, metricName: 'h_bucket' },
      { value: 6, labels: { a: 'b', le: '+Inf' }, metricName: 'h_bucket' },
      { value: 69.05, labels: { a: 'b' }, metricName: 'h_sum' },
      { value: 6, labels: { a: 'b' }, metricName: 'h_count', native: native.shown() },
      { value: 2, labels: { quantile: '0.5' } },
    ];
    const elsewhere = values.slice(0, 4).map((value) => ({ ...value, value: value.value * 2 }));
    const [histogram, summary, sum] = decoded(
      encodeFamilies([
        { name: 'h', help: '', type: 'histogram', aggregator: 'sum', values: values.slice(0, 4) },
        { name: 's', help: '', type: 'summary', aggregator: 'sum', values: values.slice(4) },
        { name: 'h', help: '', type: 'histogram', aggregator: 'sum', values: elsewhere },
      ]),
    );
    assert.doesNotMatch(JSON.stringify(sum), /schema/, 'not all are in its buckets');
    assert.deepEqual(histogram?.metric, [
      {
        label: [{ name: 'a', value: 'b' }],
        histogram: {
          sample_count: 6,
          sample_sum: 69.05,
          bucket: [{ cumulative_count: 4, upper_bound: 1.5 }],
          schema: 3,
          zero_threshold: 2 ** -128,
          zero_count: 1,
          // The value 1 is the upper bound of bucket 0, 2 that of bucket 8, and 64 that of bucket 48.
          positive_span: [
            { offset: 0, length: 2 },
            { offset: 6, length: 1 },
            { offset: 39, length: 1 },
          ],
          positive_delta: [2, -1, 0, 0],
        },
      },
    ]);
    assert.deepEqual(summary?.metric, [
      { summary: { sample_count: 0, sample_sum: 0, quantile: [{ quantile: 0.5, value: 2 }] } },
    ]);
  });
});

describe('native buckets', () => {
  it('become wider when there would be too many, and lose no observation', () => {
    const buckets = new NativeBuckets();
    for (let value = 1e-6; value < 1e6; value *= 1.03) buckets.observe(value);
    const { schema, buckets: shown } = buckets.shown();
    assert.ok(schema < 3);
    assert.ok(shown.length <= 160);
    assert.equal(
      shown.reduce((sum, [, count]) => sum + count, 0),
      Math.ceil(Math.log(1e12) / Math.log(1.03)),
    );
    for (const [index] of shown) assert.ok(2 ** (index * 2 ** -schema) < 2e6);
  });

  it('count what lies far below and far above what came first', () => {
    const buckets = new NativeBuckets();
    const values = [1, 2 ** -100, 2 ** 900, 1, 2 ** -100, 2 ** -101, 2 ** 9];
    for (const value of values) buckets.observe(value);
    assert.deepEqual(buckets.shown().buckets, [
      [-808, 1],
      [-800, 2],
      [0, 2],
      [72, 1],
      [7200, 1],
    ]);
  });

  it('end at their bound', () => {
    const buckets = new NativeBuckets();
    for (const value of [0.5, 1, 2, 4, 1.05]) buckets.observe(value);
    assert.deepEqual(
      buckets.shown().buckets.map(([index]) => index),
      [-8, 0, 1, 8, 16],
    );
  });
});
