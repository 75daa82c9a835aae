import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { processorMicroseconds, servingThreadMicroseconds } from './support/processes.js';
import { sharedCluster } from './support/shared-cluster.js';
import type { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('plain');
  const made = await cluster.first.client.post('/api/v1/namespaces', { metadata: { name: 'large-yaml' } });
  assert.equal(made.status, 201, made.text);
});
after(() => cluster.stop());

const revisions = '/apis/apps/v1/namespaces/large-yaml/controllerrevisions';
const yaml = 'application/yaml';
const apply = 'application/apply-patch+yaml';
/** This many entries are more than the serving thread parses itself. */
const large = 5_000;

/** A ControllerRevision, whose data may be anything, with a list of this many entries. */
function revision(name: string, entries: number): string {
  return `apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: ${name}
revision: 1
data:
  fraction: 1.0
  exponent: 1e3
  long: 12345678901234567890
  octal: 0440
  word: no
  base: &base {a: 1}
  merged: {<<: *base, b: 2}
  list:
${'  - x\n'.repeat(entries)}`;
}

describe('YAML bodies', () => {
  for (const [size, entries] of [
    ['small', 3],
    ['large', large],
  ] as const) {
    it(`that are ${size} have the same numbers and words`, async () => {
      const { client } = cluster.first;
      const raw = revision(`created-${size}`, entries);
      const made = await client.post(revisions, undefined, { raw, contentType: yaml });
      assert.equal(made.status, 201, made.text.slice(0, 300));
      const path = `${revisions}/applied-${size}`;
      const body = { raw: revision(`applied-${size}`, entries), contentType: apply };
      const applied = await client.send('PATCH', `${path}?fieldManager=a`, body);
      assert.equal(applied.status, 201, applied.text.slice(0, 300));
      for (const name of [`created-${size}`, `applied-${size}`]) {
        const { text, body: read } = await client.get(`${revisions}/${name}`);
        assert.match(
          text,
          /"data":\{"fraction":1,"exponent":1000,"long":12345678901234567000,"octal":288,"word":false,"base":\{"a":1\},"merged":\{"a":1,"b":2\},/,
        );
        assert.equal(read.data.list.length, entries);
      }
      const again = await client.send('PATCH', `${path}?fieldManager=a`, body);
      assert.equal(again.body.metadata.resourceVersion, applied.body.metadata.resourceVersion);
    });
  }

  it('that are large and broken are refused as small ones are', async () => {
    const { client } = cluster.first;
    for (const rest of ['', `list:\n${'- x\n'.repeat(large)}`]) {
      const raw = `a: b: c\n${rest}`;
      const refused = await client.post(revisions, undefined, { raw, contentType: yaml });
      assert.equal(refused.status, 400);
      assert.match(refused.body.message, /^the object provided is unrecognized .*yaml: .* \(613a20623a2063/);
      const patched = await client.send('PATCH', `${revisions}/none?fieldManager=a`, { raw, contentType: apply });
      assert.equal(patched.status, 400);
      assert.match(patched.body.message, /^error encoding patch: yaml: /);
      assert.equal((await client.delete(`${revisions}/none`, undefined, { raw, contentType: yaml })).status, 400);
    }
  });

  it('with keys that stand twice are told so, of any size', async () => {
    const { client } = cluster.first;
    for (const entries of [3, large]) {
      const raw = `${revision('doubled', entries)}revision: 2\n`;
      const send = (type: string, query: string) =>
        type === yaml
          ? client.post(`${revisions}?dryRun=All&${query}`, undefined, { raw, contentType: type })
          : client.send('PATCH', `${revisions}/doubled?dryRun=All&fieldManager=a&${query}`, { raw, contentType: type });
      const line = `line ${raw.trimEnd().split('\n').length}: key "revision" already set in map`;
      for (const type of [yaml, apply]) {
        const strict = await send(type, 'fieldValidation=Strict');
        assert.equal(strict.status, 400, strict.text.slice(0, 300));
        assert.ok(strict.body.message.endsWith(`yaml: unmarshal errors:\n  ${line}`), strict.body.message);
        const warned = await send(type, 'fieldValidation=Warn');
        assert.equal(warned.status, 201, warned.text.slice(0, 300));
        assert.ok(String(warned.headers.warning).includes(line.replaceAll('"', '\\"')), String(warned.headers.warning));
        assert.equal((await send(type, 'fieldValidation=Ignore')).headers.warning, undefined);
      }
    }
  });

  it('that are large leave other requests their time', async () => {
    const { client, process: server } = cluster.first;
    const pid = server.pid as number;
    const raw = revision('large', 2 * large);
    let isAnswered = false;
    const usedBefore = processorMicroseconds(pid);
    const posted = client.post(`${revisions}?dryRun=All`, undefined, { raw, contentType: yaml }).finally(() => {
      isAnswered = true;
    });
    let longest = 0;
    while (!isAnswered) {
      const before = servingThreadMicroseconds(pid);
      assert.equal((await client.get('/livez')).status, 200);
      longest = Math.max(longest, servingThreadMicroseconds(pid) - before);
    }
    assert.equal((await posted).status, 201);
    const used = processorMicroseconds(pid) - usedBefore;
    // If other requests had to wait, the serving thread would have spent most of the time on the body between two answers.
    assert.ok(longest < used / 3, `${longest} of ${used} µs of processor time passed before a request was answered`);
  });
});
