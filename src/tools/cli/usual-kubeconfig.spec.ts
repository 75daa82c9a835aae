import assert from 'node:assert/strict';
import { delimiter } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { usualKubeconfig } from './usual-kubeconfig.js';

const here = fileURLToPath(import.meta.url);
const list = (...files: readonly string[]) => files.join(delimiter);

describe('the variable KUBECONFIG', () => {
  it('names a file, or none', () => {
    assert.equal(usualKubeconfig(undefined), undefined);
    assert.equal(usualKubeconfig(''), undefined);
    assert.equal(usualKubeconfig('/no/file'), '/no/file');
    assert.equal(usualKubeconfig(list('', here)), here);
  });

  it('may name more, of which one has to be there', () => {
    assert.equal(usualKubeconfig(list('/no/file', here, '/nor/this')), here);
    assert.equal(usualKubeconfig(list('/no/file', '/nor/this')), '/no/file');
    assert.throws(() => usualKubeconfig(list(here, '/no/file', here)), /KUBECONFIG names 2 files: name one of them by/);
  });
});
