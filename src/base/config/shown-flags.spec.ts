import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiClientOptions } from './api-client.options.js';
import { type BoundFlag, flagsOf } from './flag.js';
import type { OptionGroups } from './parse-options.js';
import { controllerOptionGroups, serverOptionGroups } from './server-options.js';
import { shownFlags } from './shown-flags.js';

const word = 'Zq7-never-shown';
/** Flags whose names suggest secrets although their values are none. */
const harmless = new Set([
  // Names, and addresses that anybody may know.
  'api-server-url',
  'authentication-token-webhook-version',
  'oidc-issuer-url',
  'service-account-jwks-uri',
  // Paths, though not of one file each.
  'tls-sni-cert-key',
]);

function textFlags(groups: OptionGroups): BoundFlag[] {
  return Object.values(groups)
    .flatMap((optionsClass) => flagsOf(optionsClass))
    .filter(({ type }) => ['string', 'list', 'array'].includes(type));
}

/** Options in which each text flag has this value. */
function filled(groups: OptionGroups, value: string): Record<string, object> {
  return Object.fromEntries(
    Object.entries(groups).map(([group, optionsClass]) => [
      group,
      Object.fromEntries(
        flagsOf(optionsClass).map(({ type, property }) => {
          if (type === 'string') return [property, value];
          return [property, type === 'list' || type === 'array' ? ['first', value] : undefined];
        }),
      ),
    ]),
  );
}

for (const [name, groups] of [
  ['servers', serverOptionGroups],
  ['control loops', { ...controllerOptionGroups, client: ApiClientOptions }],
] as const) {
  describe(`the flags of ${name} as they are shown`, () => {
    it('have no values of those that are secret', () => {
      const shown = shownFlags(groups, filled(groups, word));
      const secrets = textFlags(groups).filter(({ secret }) => secret === true);
      assert.ok(secrets.length > 0);
      for (const flag of secrets) assert.ok(shown.includes(`${flag.name}=CLASSIFIED`), flag.name);
    });

    it('have no passwords of URLs, whatever characters they consist of', () => {
      for (const password of [word, `a/${word}`, `a@${word}`, `a:${word}`, `${word}@b/c`]) {
        const shown = shownFlags(groups, filled(groups, `postgres://user:${password}@host/name`));
        assert.ok(!shown.join('\n').includes(word), password);
        assert.ok(shown.some((line) => line.endsWith('postgres://user:CLASSIFIED@host/name')));
      }
    });

    it('name every one that could hold a secret as such, or hold the path of a file', () => {
      const suspects = textFlags(groups).filter(
        ({ name: flag, unit, secret }) =>
          /password|passphrase|token|secret|credential|-key$|url$|uri$/.test(flag) &&
          unit !== 'file' &&
          secret !== true,
      );
      assert.deepEqual(
        suspects.map((flag) => flag.name).filter((flag) => !harmless.has(flag)),
        [],
      );
    });
  });
}
