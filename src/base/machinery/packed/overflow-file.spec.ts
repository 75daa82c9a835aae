import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { OverflowFile } from './overflow-file.js';

it('keeps what is written where nobody finds or reads it, and uses places again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'overflow-'));
  try {
    const file = new OverflowFile(folder);
    assert.deepEqual(readdirSync(folder), [], 'it has no name');
    const texts = [1, 5000, 9000, 5000].map((size, i) => Buffer.alloc(size, `secret${i}`));
    const places = texts.map((text) => file.write(text));
    for (const [i, place] of places.entries()) assert.deepEqual(file.read(place), texts[i]);
    const { size } = file;
    const open = readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder) ? [readFileSync(`/proc/self/fd/${fd}`)] : [];
      } catch {
        return [];
      }
    });
    assert.equal(open.length, 1);
    assert.equal(open[0]?.includes('secret'), false, 'what is on the disk is encrypted');
    for (const place of places.slice(0, 3)) file.release(place);
    const again = [1, 5000, 9000].map((bytes) => file.write(Buffer.alloc(bytes, 'other')));
    assert.equal(file.size, size);
    assert.deepEqual(file.read(places[3] as (typeof places)[number]), texts[3]);
    for (const place of again)
      assert.equal(file.read(place).subarray(0, 5).toString(), 'other'.slice(0, place.size - 28));
    file.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('fails where it can make no file', () => {
  assert.throws(() => new OverflowFile('/proc/nowhere'), /ENOENT/);
});
