import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { BackupFileError } from './backup-file-error.js';
import { BackupReader } from './backup-reader.js';
import { BackupWriter } from './backup-writer.js';
import { blockBytes, packBlock, packLastBlock } from './blocks.js';
import type { BackupHeader, BackupSection } from './lines.js';
import { newSealing } from './seal.js';

const key = Buffer.from('a passphrase');
const header: BackupHeader = {
  createdAt: '2026-01-01T00:00:00.000Z',
  program: 'plinth 1',
  serverVersion: 'v1',
  resourceVersion: '42',
  namespaces: [],
};
const things: BackupSection = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  resource: 'things',
  namespaced: true,
  hasStatus: true,
  sealed: false,
};
const secrets: BackupSection = {
  apiVersion: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
  hasStatus: false,
  sealed: true,
};

let folder: string;
let count = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-backup-'));
});
after(() => rm(folder, { recursive: true }));

const newPath = () => join(folder, `${count++}.backup`);

function thing(name: string, more: object = {}, section = things): string {
  const { apiVersion, kind } = section;
  return JSON.stringify({ apiVersion, kind, metadata: { name, namespace: 'a', uid: name }, ...more });
}

/** A backup with these objects of things and of secrets; sealed if there is a secret. */
async function write(objects: readonly string[], sealed: readonly string[] = [], secret?: Buffer): Promise<string> {
  const path = newPath();
  const file = await open(path, 'ax');
  const writer = new BackupWriter(file);
  await writer.begin({ ...header, ...(secret === undefined ? {} : { sealing: newSealing() }) }, secret);
  await writer.beginSection(things);
  for (const object of objects) await writer.object(Buffer.from(object));
  if (secret !== undefined) {
    await writer.beginSection(secrets);
    for (const object of sealed) await writer.object(Buffer.from(object));
  }
  await writer.end([{ what: 'w', why: 'y', asked: true }]);
  await file.close();
  return path;
}

async function readAll(path: string, secret?: Buffer): Promise<string[]> {
  const reader = await BackupReader.open(path);
  try {
    if (secret !== undefined) await reader.unlock(secret);
    const found: string[] = [];
    for await (const { object } of reader.all()) found.push(JSON.stringify(object));
    const again: string[] = [];
    for (const section of reader.sections) {
      for await (const object of reader.objectsOf(section)) again.push(JSON.stringify(object));
    }
    assert.deepEqual(again, found);
    return found;
  } finally {
    await reader.close();
  }
}

const isRefused = (error: unknown) => error instanceof BackupFileError;

describe('a backup file', () => {
  const large = thing('large', { data: randomBytes(2_500_000).toString('base64') });
  const exact = '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"n","namespace":"a"},"n":1.0}';

  it('gives back what was written, in order and in its spelling, long objects too', async () => {
    const objects = [thing('a'), large, exact, ...Array.from({ length: 3000 }, (_, i) => thing(`t${i}`))];
    const path = await write(objects);
    assert.deepEqual(await readAll(path), objects);
    const lines = gunzipSync(await readFile(path))
      .toString('utf8')
      .trimEnd()
      .split('\n');
    assert.equal(lines.length, objects.length + 3, 'other programs read it as gzip');
    assert.deepEqual(lines.slice(2, -1), objects);
  });

  it('holds nothing, too', async () => assert.deepEqual(await readAll(await write([])), []));

  it('shows sealed objects only to those who have the key', async () => {
    const hidden = Array.from({ length: 5 }, (_, i) =>
      thing(`s${i}`, { data: { p: randomBytes(200_000).toString('base64') } }, secrets),
    );
    const path = await write([thing('a')], hidden, key);
    assert.deepEqual(await readAll(path, key), [thing('a'), ...hidden]);
    assert.deepEqual(await readAll(path), [thing('a')]);
    assert.equal(gunzipSync(await readFile(path)).includes('"s0"'), false);
    await assert.rejects(readAll(path, Buffer.from('another')), /another key or passphrase/);
    await assert.rejects(readAll(await write([thing('a')]), key), /made without a passphrase/);
  });

  it('with a key is refused with another one even if nothing is sealed in it', async () => {
    const path = await write([thing('a')], [], key);
    assert.deepEqual(await readAll(path, key), [thing('a')]);
    await assert.rejects(readAll(path, Buffer.from('another')), isRefused);
  });
});

describe('a damaged backup file', () => {
  it('is refused wherever a bit was flipped', async () => {
    const path = await write([thing('a'), thing('b')], [thing('s', {}, secrets)], key);
    const bytes = await readFile(path);
    const changed = newPath();
    // Opening seals takes half a second; without the key every byte is tried.
    for (let i = 0; i < bytes.length; i++) {
      const copy = Buffer.from(bytes);
      copy[i] = (copy[i] ?? 0) ^ (1 << (i % 8));
      await writeFile(changed, copy);
      await assert.rejects(readAll(changed), isRefused, `byte ${i} of ${bytes.length}`);
    }
  });

  it('is refused wherever it was cut off, and with something behind its end', async () => {
    const path = await write(Array.from({ length: 50 }, (_, i) => thing(`t${i}`)));
    const bytes = await readFile(path);
    const changed = newPath();
    for (let length = 0; length < bytes.length; length++) {
      await writeFile(changed, bytes.subarray(0, length));
      await assert.rejects(readAll(changed), isRefused, `${length} of ${bytes.length}`);
    }
    for (const more of [Buffer.from([0]), bytes, packLastBlock(Buffer.from('[]\n'))]) {
      await writeFile(changed, Buffer.concat([bytes, more]));
      await assert.rejects(readAll(changed), isRefused);
    }
  });

  it('is refused when it changes between two readings', async () => {
    const path = await write([thing('a')]);
    const reader = await BackupReader.open(path);
    for await (const _ of reader.all());
    const [section] = reader.sections;
    assert.ok(section);
    const bytes = await readFile(path);
    const other = await packBlock(Buffer.from(`["section",${JSON.stringify(things)}]\n${thing('b')}\n`));
    await writeFile(path, Buffer.concat([bytes.subarray(0, section.offset), other, bytes.subarray(section.offset)]));
    await assert.rejects(async () => {
      for await (const _ of reader.objectsOf(section));
    }, /changed while it was read/);
    await reader.close();
  });
});

describe('a hostile backup file', () => {
  const headerLine = JSON.stringify(['plinth-backup', 1, header]);
  const sectionLine = JSON.stringify(['section', things]);

  /** A file of these blocks with a valid end. */
  async function forge(blocks: readonly (string | Buffer)[], counts: readonly number[]): Promise<string> {
    const { createHash } = await import('node:crypto');
    const packed = await Promise.all(
      blocks.map((block) => (typeof block === 'string' ? packBlock(Buffer.from(block)) : block)),
    );
    const sha256 = createHash('sha256').update(Buffer.concat(packed)).digest('hex');
    const path = newPath();
    const end = packLastBlock(Buffer.from(`${JSON.stringify(['end', { counts, notTaken: [], sha256 }])}\n`));
    await writeFile(path, Buffer.concat([...packed, end]));
    return path;
  }

  it('can be forged by this test', async () => {
    const path = await forge([`${headerLine}\n`, `${sectionLine}\n${thing('a')}\n`], [1]);
    assert.deepEqual(await readAll(path), [thing('a')]);
  });

  const object = (metadata: object, more: object = {}) =>
    JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { namespace: 'a', ...metadata }, ...more });
  const lines: readonly [string, string][] = [
    ['a path for a name', object({ name: '../../../../api/v1/nodes/n' })],
    ['an escaped path', object({ name: '..%2Fx' })],
    ['a path for a namespace', object({ name: 'a', namespace: 'a/b' })],
    ['the name ..', object({ name: '..' })],
    ['no name', object({})],
    ['a name with a line break', object({ name: 'a\r\nX-Header: y' })],
    ['a name with a control of the terminal', object({ name: '\u001b[2Ja' })],
    ['a name that is a number', object({ name: 7 })],
    ['no namespace', JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } })],
    ['another kind', thing('a', { kind: 'ClusterRoleBinding' })],
    ['another API version', thing('a', { apiVersion: 'v1' })],
    ['a list', '[]'],
    ['null', 'null'],
    ['text', 'text'],
    ['nothing', ''],
    ['half an object', '{"apiVersion":"example.com/v1","kind":"Thing"'],
    ['metadata that is a list', '{"apiVersion":"example.com/v1","kind":"Thing","metadata":[]}'],
    ['owners that are text', object({ name: 'a', ownerReferences: 'x' })],
    ['owners without uid', object({ name: 'a', ownerReferences: [{}] })],
    ['labels that are a list', object({ name: 'a', labels: ['x'] })],
    ['labels that are numbers', object({ name: 'a', labels: { x: 1 } })],
    ['a uid that is an object', object({ name: 'a', uid: {} })],
    [
      'an owner with an endless uid',
      object({ name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'x'.repeat(1000) }] }),
    ],
    [
      'an owner of an endless kind',
      object({ name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'x'.repeat(1000), name: 'a', uid: 'x' }] }),
    ],
    ['deep nesting', `{"a":${'['.repeat(1_000_000)}`],
    ['a second header', headerLine],
    ['sealed objects in a section that is not sealed', '["sealed",true,"AAAA"]'],
    ['an end before the end', JSON.stringify(['end', { counts: [0], notTaken: [], sha256: '' }])],
    ['a section within a block', sectionLine],
  ];
  for (const [what, line] of lines) {
    it(`is refused with ${what}`, async () => {
      const text = `${sectionLine}\n${line}\n`;
      const blocks = [text.slice(0, blockBytes), text.slice(blockBytes)].filter((part) => part !== '');
      await assert.rejects(readAll(await forge([`${headerLine}\n`, ...blocks], [1])), isRefused);
    });
  }

  it('is refused with a wrong number of objects or kinds', async () => {
    const blocks = [`${headerLine}\n`, `${sectionLine}\n${thing('a')}\n`];
    for (const counts of [[], [0], [2], [1, 0]]) await assert.rejects(readAll(await forge(blocks, counts)), isRefused);
  });

  it('is refused when a block unpacks to more than a block', async () => {
    const bomb = await packBlock(Buffer.alloc(50 * 1024 * 1024, 0x20));
    const began = process.memoryUsage().rss;
    await assert.rejects(readAll(await forge([`${headerLine}\n`, bomb], [])), /larger than blocks/);
    bomb.writeUInt32LE(1000, bomb.length - 4);
    await assert.rejects(readAll(await forge([`${headerLine}\n`, bomb], [])), /can't be unpacked/);
    assert.ok(process.memoryUsage().rss - began < 150 * 1024 * 1024);
  });

  it('is refused when it consists of blocks with hardly anything in them', async () => {
    const nothing = await packBlock(Buffer.alloc(0));
    const path = await forge(
      [`${headerLine}\n`, `${sectionLine}\n`, ...Array.from({ length: 3000 }, () => nothing)],
      [0],
    );
    await assert.rejects(readAll(path), /not full/);
  });

  it('is refused when a line never ends', async () => {
    const full = (text: string) => text.padEnd(blockBytes);
    const path = await forge(
      [`${headerLine}\n`, full(`${sectionLine}\n`), ...Array.from({ length: 100 }, () => full(''))],
      [0],
    );
    await assert.rejects(readAll(path), /longer than any line/);
  });

  it('is refused with a header of another format, or a key that takes too much to derive', async () => {
    const headers: readonly unknown[] = [
      ['plinth-backup', 2, header],
      ['plinth-backup', 1, {}],
      ['plinth-backup', 1, { ...header, sealing: { ...newSealing(), N: 2 ** 30 } }],
      ['plinth-backup', 1, { ...header, sealing: { ...newSealing(), salt: '' } }],
      ['other', 1, header],
    ];
    for (const one of headers) {
      await assert.rejects(readAll(await forge([`${JSON.stringify(one)}\n`], [])), isRefused, JSON.stringify(one));
    }
    for (const text of ['', 'plain text', '\u001f\u008b']) {
      const path = newPath();
      await writeFile(path, text);
      await assert.rejects(readAll(path), isRefused);
    }
  });

  it('can not exchange sealed objects for those of another file or place', async () => {
    const names = ['s', 't'].map((name) => thing(name, { data: randomBytes(600_000).toString('hex') }, secrets));
    const path = await write([], names, key);
    const text = gunzipSync(await readFile(path))
      .toString('utf8')
      .split('\n');
    const sealed = text.findIndex((line) => line.startsWith('["sealed"'));
    assert.ok(text[sealed + 1]?.startsWith('["sealed",true'), 'there are two pieces');
    const swapped = [...text.slice(0, sealed), text[sealed + 1], text[sealed], ...text.slice(sealed + 2)];
    const dropped = [...text.slice(0, sealed), text[sealed + 1], ...text.slice(sealed + 2)];
    for (const lines of [swapped, dropped]) {
      const blocks: string[] = [`${lines[0]}\n`, `${lines[1]}\n`];
      const rest = `${lines.slice(2, -2).join('\n')}\n`;
      for (let i = 0; i < rest.length; i += 1_000_000) blocks.push(rest.slice(i, i + 1_000_000));
      await assert.rejects(readAll(await forge(blocks, [0, 2]), key), isRefused);
    }
  });
});
