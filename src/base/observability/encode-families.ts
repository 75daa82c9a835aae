import protobuf from 'protobufjs/minimal.js';
import type { MetricFamilies } from './metric-families.js';
import { stabilityOf } from './metric-stability.js';
import { type NativeHistogram, zeroThreshold } from './native-buckets.js';
import type { SeriesLabels, SeriesValue } from './series.js';

type Family = MetricFamilies[number];
type Writer = protobuf.Writer;

/** The numbers of metric types in `MetricFamily`. */
const types: Readonly<Record<string, number>> = { counter: 0, gauge: 1, summary: 2, histogram: 4 };
const untyped = 3;

/** A scrape in protobuf: messages `io.prometheus.client.MetricFamily`, each preceded by its length. */
export function encodeFamilies(families: MetricFamilies): Buffer {
  const writer = protobuf.Writer.create();
  for (const family of families) {
    if ((family.values ?? []).length > 0) writer.bytes(encodeFamily(family));
  }
  return Buffer.from(writer.finish());
}

function encodeFamily({ name, help, type, values = [] }: Family): Uint8Array {
  const stability = stabilityOf(name);
  const writer = protobuf.Writer.create();
  writer.uint32(tag(1, delimited)).string(name);
  writer.uint32(tag(2, delimited)).string(stability === undefined ? help : `[${stability}] ${help}`);
  writer.uint32(tag(3, varint)).int32(types[String(type)] ?? untyped);
  if (type === 'histogram') {
    for (const series of histogramsOf(name, values)) writer.uint32(tag(4, delimited)).bytes(encodeHistogram(series));
  } else if (type === 'summary') {
    for (const series of histogramsOf(name, values)) writer.uint32(tag(4, delimited)).bytes(encodeSummary(series));
  } else {
    const field = type === 'counter' ? 3 : type === 'gauge' ? 2 : 5;
    for (const value of values) writer.uint32(tag(4, delimited)).bytes(encodeNumber(value, field));
  }
  return writer.finish();
}

const varint = 0;
const fixed64 = 1;
const delimited = 2;

function tag(field: number, wireType: number): number {
  return (field << 3) | wireType;
}

/** A series of a histogram or summary, which has several numbers. */
interface Distribution {
  readonly labels: SeriesLabels;
  count: number;
  sum: number;
  /** The cumulative count up to each bound, or the value of each quantile. */
  readonly parts: { readonly bound: number; readonly value: number }[];
  native: NativeHistogram | undefined;
}

/** Groups the values of a family, one line each, by series, in the order of their first line. */
function histogramsOf(name: string, values: readonly SeriesValue[]): Iterable<Distribution> {
  const found = new Map<string, Distribution>();
  for (const { labels, value, metricName, native } of values) {
    const { le, quantile, ...own } = labels;
    const key = JSON.stringify(own);
    let series = found.get(key);
    if (series === undefined) {
      series = { labels: own, count: 0, sum: 0, parts: [], native: undefined };
      found.set(key, series);
    }
    if (metricName === `${name}_count`) series.count = value;
    else if (metricName === `${name}_sum`) series.sum = value;
    // The last bucket is left out: it equals the count.
    else if (le !== '+Inf') series.parts.push({ bound: Number(le ?? quantile), value });
    if (native !== undefined) series.native = native;
  }
  return found.values();
}

function encodeNumber({ labels, value }: SeriesValue, field: number): Uint8Array {
  const writer = writeLabels(labels);
  const number = protobuf.Writer.create().uint32(tag(1, fixed64)).double(value).finish();
  return writer.uint32(tag(field, delimited)).bytes(number).finish();
}

function encodeSummary({ labels, count, sum, parts }: Distribution): Uint8Array {
  const summary = protobuf.Writer.create();
  summary.uint32(tag(1, varint)).uint64(count).uint32(tag(2, fixed64)).double(sum);
  for (const { bound, value } of parts) {
    const part = protobuf.Writer.create();
    part.uint32(tag(1, fixed64)).double(bound).uint32(tag(2, fixed64)).double(value);
    summary.uint32(tag(3, delimited)).bytes(part.finish());
  }
  return writeLabels(labels).uint32(tag(4, delimited)).bytes(summary.finish()).finish();
}

function encodeHistogram({ labels, count, sum, parts, native }: Distribution): Uint8Array {
  const observed = native === undefined ? 0 : observationsOf(native);
  // The native histogram may include observations made after the count was read. If it has fewer, some were made
  // elsewhere and are in no native bucket, so it is left out.
  const isWhole = native !== undefined && observed >= count;
  const histogram = protobuf.Writer.create();
  histogram
    .uint32(tag(1, varint))
    .uint64(isWhole ? observed : count)
    .uint32(tag(2, fixed64))
    .double(sum);
  for (const { bound, value } of parts) {
    const bucket = protobuf.Writer.create();
    bucket.uint32(tag(1, varint)).uint64(value).uint32(tag(2, fixed64)).double(bound);
    histogram.uint32(tag(3, delimited)).bytes(bucket.finish());
  }
  if (isWhole) writeNative(histogram, native);
  return writeLabels(labels).uint32(tag(7, delimited)).bytes(histogram.finish()).finish();
}

function observationsOf({ zeroCount, buckets }: NativeHistogram): number {
  return buckets.reduce((sum, [, count]) => sum + count, zeroCount);
}

/** Gaps of at most this many buckets are written as empty buckets, which is shorter than a new span. */
const shortGap = 2;

function writeNative(histogram: Writer, { schema, zeroCount, buckets }: NativeHistogram): void {
  const spans: { readonly offset: number; length: number }[] = [];
  const deltas: number[] = [];
  let before = 0;
  let next = 0;
  for (const [index, count] of buckets) {
    const gap = index - next;
    let span = spans.at(-1);
    if (span === undefined || gap > shortGap) {
      span = { offset: gap, length: 0 };
      spans.push(span);
    } else {
      for (let i = 0; i < gap; i++) {
        deltas.push(-before);
        before = 0;
        span.length++;
      }
    }
    deltas.push(count - before);
    span.length++;
    before = count;
    next = index + 1;
  }
  histogram.uint32(tag(5, varint)).sint32(schema);
  histogram.uint32(tag(6, fixed64)).double(zeroThreshold);
  histogram.uint32(tag(7, varint)).uint64(zeroCount);
  for (const { offset, length: size } of spans) {
    const span = protobuf.Writer.create().uint32(tag(1, varint)).sint32(offset).uint32(tag(2, varint)).uint32(size);
    histogram.uint32(tag(12, delimited)).bytes(span.finish());
  }
  for (const delta of deltas) histogram.uint32(tag(13, varint)).sint64(delta);
}

/** Starts a `Metric` with its labels. */
function writeLabels(labels: SeriesLabels): Writer {
  const writer = protobuf.Writer.create();
  for (const [name, value] of Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const pair = protobuf.Writer.create().uint32(tag(1, delimited)).string(name);
    writer.uint32(tag(1, delimited)).bytes(pair.uint32(tag(2, delimited)).string(String(value)).finish());
  }
  return writer;
}
