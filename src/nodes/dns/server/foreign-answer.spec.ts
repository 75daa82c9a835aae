import assert from 'node:assert/strict';
import { it } from 'node:test';
import packet from 'dns-packet';
import { noForeignAnswer, readForeignAnswer } from './foreign-answer.js';

const question = [{ name: 'www.example.com', type: 'A', class: 'IN' }];
const a = (n: number) => ({ name: 'www.example.com', type: 'A', ttl: 9, data: `192.0.2.${n % 256}` });

it('reads answers of others with a bounded effort', () => {
  const good = packet.encode({ type: 'response', id: 1, questions: question, answers: [a(1), a(2)] });
  assert.equal(readForeignAnswer(good, 1).answers.length, 2);
  // Names that refer to names that refer to names, in thousands of records.
  const head = packet.encode({ type: 'response', id: 1, questions: question });
  const place = Buffer.alloc(2);
  const references: Buffer[] = [];
  let at = head.length + 11;
  for (; at + 2 < 0x3fff; at += 2) {
    place.writeUInt16BE(0xc000 | (references.length === 0 ? 12 : at - 2));
    references.push(Buffer.from(place));
  }
  place.writeUInt16BE(0xc000 | (at - 2));
  const data = Buffer.concat(references);
  const record = (name: Buffer, type: number, content: Buffer) => {
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(type, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt16BE(content.length, 8);
    return Buffer.concat([name, fixed, content]);
  };
  const named = Array.from({ length: 3000 }, () => record(place, 1, Buffer.from([192, 0, 2, 1])));
  const hostile = Buffer.concat([head, record(Buffer.alloc(1), 10, data), ...named]);
  hostile.writeUInt16BE(1 + named.length, 6);
  const before = process.threadCpuUsage();
  assert.equal(readForeignAnswer(hostile, 1), noForeignAnswer);
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 30_000, `${user + system} us`);
});
