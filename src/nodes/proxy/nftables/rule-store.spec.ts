import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceRules } from '../rules/rule-types.js';
import { rulesOf, sampleEndpoint, sampleService, sampleSlice } from '../testing/samples.js';
import { RuleStore } from './rule-store.js';

function withEndpoints(...addresses: readonly string[]): ServiceRules {
  return rulesOf(sampleService(), [sampleSlice(addresses.map((address) => sampleEndpoint(address, 'there')))]);
}

const shown = (elements: readonly { readonly key: string; readonly value: string }[]) =>
  elements.map(({ key, value }) => `${key} : ${value}`);

describe('RuleStore', () => {
  it('names what has changed and nothing else', () => {
    const store = new RuleStore();
    store.replace('web/shop', withEndpoints('10.1.0.1', '10.1.0.2'));
    store.takeChanges();
    store.replace('web/shop', withEndpoints('10.1.0.1', '10.1.0.2', '10.1.0.3'));
    const { removed, added } = store.takeChanges();
    assert.deepEqual(shown(removed), ['10.96.0.7 . tcp . 80 : goto pick-2']);
    assert.deepEqual(shown(added), [
      '10.96.0.7 . tcp . 80 : goto pick-3',
      '10.96.0.7 . tcp . 80 . 2 : 10.1.0.3 . 8080',
    ]);
  });

  it('has nothing to write when what changed has changed back', () => {
    const store = new RuleStore();
    store.replace('web/shop', withEndpoints('10.1.0.1'));
    store.takeChanges();
    store.replace('web/shop', withEndpoints('10.1.0.2'));
    store.replace('web/shop', withEndpoints('10.1.0.1'));
    const { removed, added, chains } = store.takeChanges();
    assert.deepEqual([removed, added, chains.size], [[], [], 0]);
  });

  it('gives an address that two services claim to the first by name, and to the other when that is gone', () => {
    const store = new RuleStore();
    store.replace('web/b', withEndpoints('10.1.0.2'));
    store.replace('web/a', withEndpoints('10.1.0.1'));
    const wanted = (address: string) => `10.96.0.7 . tcp . 80 . 0 : ${address} . 8080`;
    assert.ok(shown(store.takeChanges().added).includes(wanted('10.1.0.1')));
    store.replace('web/a', undefined);
    const { removed, added } = store.takeChanges();
    assert.deepEqual(shown(removed), [wanted('10.1.0.1')]);
    assert.deepEqual(shown(added), [wanted('10.1.0.2')]);
    store.replace('web/b', undefined);
    assert.deepEqual(store.takeAll().added, []);
  });

  it('writes only those chains of a service again whose rules have changed', () => {
    const sticky = (...addresses: readonly string[]) =>
      rulesOf(sampleService({ sessionAffinity: 'ClientIP' }), [
        sampleSlice(addresses.map((address) => sampleEndpoint(address, 'there'))),
      ]);
    const store = new RuleStore();
    store.replace('web/shop', sticky('10.1.0.1', '10.1.0.2'));
    store.takeChanges();
    store.replace('web/shop', sticky('10.1.0.1'));
    const { chains, goneChains, goneAffinitySets, affinitySets } = store.takeChanges();
    assert.deepEqual(
      [...chains.keys()].map((name) => name.split('-')[0]),
      ['service'],
    );
    assert.equal(goneChains.length, 1);
    assert.equal(goneAffinitySets.length, 1);
    assert.equal(affinitySets.size, 0);
  });
});
