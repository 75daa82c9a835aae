import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes } from '../../../../../test/support/admission-attributes.js';
import { DenyServiceExternalIPs } from './deny-service-external-ips.js';

const a = '192.0.2.1';
const b = '192.0.2.2';

describe('DenyServiceExternalIPs', () => {
  const plugin = new DenyServiceExternalIPs();
  const service = (addresses: readonly string[] | undefined) => ({
    metadata: { name: 'x' },
    spec: addresses === undefined ? {} : { externalIPs: addresses },
  });
  const rows: readonly (readonly [
    string,
    readonly string[] | undefined | 'new',
    readonly string[] | undefined,
    boolean,
  ])[] = [
    ['a new service without any', 'new', undefined, true],
    ['a new service with an empty list', 'new', [], true],
    ['a new service with an address', 'new', [a], false],
    ['a first address', undefined, [a], false],
    ['a further address', [a], [a, b], false],
    ['an address in place of another', [a], [b], false],
    ['the same addresses in another order', [a, b], [b, a], true],
    ['fewer addresses', [a, b], [b], true],
    ['no more addresses', [a], undefined, true],
  ];

  for (const [what, before, now, isAccepted] of rows) {
    it(`${isAccepted ? 'accepts' : 'refuses'} ${what}`, () => {
      const oldObject = before === 'new' ? undefined : service(before);
      const attributes = admissionAttributes({ resource: 'services', object: service(now), oldObject });
      if (isAccepted) plugin.validate(attributes);
      else {
        const message = 'services "x" is forbidden: Use of external IPs is denied by admission control';
        assert.throws(() => plugin.validate(attributes), { message, code: 403 });
      }
    });
  }

  it('leaves other kinds alone', () => {
    plugin.validate(admissionAttributes({ resource: 'services.example.com', object: service([a]) }));
    assert.equal(plugin.handles('DELETE'), false);
  });
});
