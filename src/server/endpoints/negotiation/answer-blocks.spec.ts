import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerBlocks, blockBytes } from './answer-blocks.js';
import { BlockText } from './block-text.js';

/** All pieces that result from writing the strings into blocks. */
function written(texts: readonly string[], blocks = new AnswerBlocks()): Buffer[] {
  const out = new BlockText(blocks);
  const pieces: Buffer[] = [];
  for (const text of texts) if (!out.append(text)) pieces.push(...out.appendBehind(text));
  pieces.push(...out.rest());
  return pieces;
}

const unit = Math.floor(blockBytes / 8);
const texts: Readonly<Record<string, readonly string[]>> = {
  'one character': ['x'],
  'letters that just fill a block': ['a'.repeat(blockBytes)],
  'letters that need one byte more': ['a'.repeat(blockBytes), 'b'],
  'one text longer than a block': ['a'.repeat(3), 'b'.repeat(blockBytes + 1), 'c'],
  'characters of two, three and four bytes': Array.from({ length: 40 }, (_, i) => 'é€😀'.repeat(unit / 8) + i),
  'three-byte characters that just fill a block': ['€'.repeat(Math.floor(blockBytes / 3)), 'x', '€'],
  'texts of all lengths': Array.from({ length: 300 }, (_, i) => 'é'.repeat(i * 7) + 'x'.repeat(i * 13)),
};

describe('BlockText', () => {
  for (const [name, parts] of Object.entries(texts)) {
    it(`writes ${name}`, () => {
      const pieces = written(parts);
      assert.equal(Buffer.concat(pieces).toString(), parts.join(''));
      for (const piece of pieces) assert.ok(piece.length > 0);
      // Each piece ends between two strings.
      const ends = new Set<number>();
      let end = 0;
      for (const part of parts) {
        end += Buffer.byteLength(part);
        ends.add(end);
      }
      let at = 0;
      for (const piece of pieces) {
        at += piece.length;
        assert.ok(ends.has(at));
      }
    });
  }
});

describe('AnswerBlocks', () => {
  it('uses a block again only after it was given back', () => {
    const blocks = new AnswerBlocks();
    const [first] = written(['first'], blocks) as [Buffer];
    const [second] = written(['second'], blocks) as [Buffer];
    assert.equal(`${first} ${second}`, 'first second');
    blocks.giveBack(first);
    const [third] = written(['third'], blocks) as [Buffer];
    assert.equal(third.buffer, first.buffer);
    assert.equal(`${second} ${third}`, 'second third');
  });

  it('lends a block that is given back twice to one answer only', () => {
    const blocks = new AnswerBlocks();
    const [first] = written(['first'], blocks) as [Buffer];
    blocks.giveBack(first);
    blocks.giveBack(first);
    const [second, third] = [blocks.take(), blocks.take()];
    assert.notEqual(second.buffer, third.buffer);
  });

  it('takes nothing that it has not lent', () => {
    const blocks = new AnswerBlocks();
    const other = Buffer.alloc(blockBytes);
    blocks.giveBack(other);
    blocks.giveBack('text');
    assert.notEqual(blocks.take().buffer, other.buffer);
  });
});
