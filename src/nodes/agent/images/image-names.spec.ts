import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageNameProblem } from './image-names.js';

describe('names that are none of images', () => {
  it('are refused with the reason that people know', () => {
    const plain = 'invalid reference format';
    const cases: Readonly<Record<string, string>> = {
      'NOT a name': `${plain}: repository name (library/NOT a name) must be lowercase`,
      'Bad:::Name': `${plain}: repository name (library/Bad) must be lowercase`,
      'Registry/x y': plain,
      'example.com/A:1': `${plain}: repository name (A) must be lowercase`,
      'a b': plain,
    };
    for (const [text, problem] of Object.entries(cases)) assert.equal(imageNameProblem(text), problem, text);
  });
});
