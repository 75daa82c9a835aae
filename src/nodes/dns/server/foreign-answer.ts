import packet from 'dns-packet';
import type { Answer, NameRecord } from '../wire/answer.js';
import { codeName, recordTypes, typeNumber } from '../wire/codes.js';

/** The response of another server about the target of an alias. */
export type ForeignAnswer = Pick<Answer, 'code' | 'answers' | 'authorities'>;

/** The answer when no server has one. */
export const noForeignAnswer: ForeignAnswer = { code: 'SERVFAIL', answers: [], authorities: [] };

/** A query for another server. */
export function foreignQuery(name: string, type: number): Buffer {
  // The library reads every type by its number.
  const questions = [{ type: `UNKNOWN_${type}`, name, class: 'IN' }];
  return packet.encode({ type: 'query', id: 1, flags: 0x0100, questions });
}

/** Whether a response had no room for all records. */
export function isTruncated(message: Buffer): boolean {
  return (message.readUInt16BE(2) & 0x0200) !== 0;
}

/** The most records of a message that are read: each name may refer to thousands of others. */
const mostRecords = 512;

function recordCount(message: Buffer): number {
  return [6, 8, 10].reduce((sum, offset) => sum + message.readUInt16BE(offset), 0);
}

/** Records of the wanted type and the aliases that lead to them, or how long nothing may be kept. Never throws. */
export function readForeignAnswer(message: Buffer, type: number): ForeignAnswer {
  try {
    if (recordCount(message) > mostRecords || message.readUInt16BE(4) > 1) return noForeignAnswer;
    const { answers, authorities } = packet.decode(message);
    const code = codeName(message.readUInt16BE(2) & 15);
    if (code !== 'NOERROR' && code !== 'NXDOMAIN') return noForeignAnswer;
    const wanted: readonly number[] = [type, recordTypes.CNAME];
    return {
      code,
      answers: answers.filter((record) => wanted.includes(typeNumber(record.type))).map(recordOf),
      authorities: authorities.filter((record) => record.type === 'SOA').map(recordOf),
    };
  } catch {
    return noForeignAnswer;
  }
}

function recordOf({
  name,
  type,
  ttl = 0,
  data,
}: {
  name: string;
  type: string;
  ttl?: number;
  data?: unknown;
}): NameRecord {
  return { name, type, ttl, data };
}
