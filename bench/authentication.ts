import { generateKeyPairSync } from 'node:crypto';
import { systemClock } from '../src/base/machinery/clock.js';
import { vendorNames } from '../src/base/machinery/vendor.js';
import { ResourceRegistry } from '../src/objects/registry/resource-registry.js';
import { ServiceAccountTokenAuthenticator } from '../src/server/authentication/service-account/service-account-token.authenticator.js';
import { TokenIssuer } from '../src/server/authentication/service-account/token-issuer.js';
import { verificationKey } from '../src/server/authentication/service-account/verification-keys.js';
import { TokenCache } from '../src/server/authentication/token-cache.js';
import { TokenUnion } from '../src/server/authentication/token-union.js';
import { createPostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import { startTestPostgres } from '../test/support/test-postgres.js';

/*
 * The cost of finding out who sent a service account token: the first time (signature and two reads of the store) and
 * while the result is remembered. Prints one JSON line per figure, in CPU time of this process.
 */

const names = vendorNames('k8s.io');
const issuer = names.defaultTokenIssuer;
const audiences = [issuer];

async function measure(what: string, rounds: number, once: () => unknown): Promise<void> {
  for (let i = 0; i < rounds / 10; i++) await once();
  const before = process.cpuUsage();
  for (let i = 0; i < rounds; i++) {
    const pending = once();
    if (pending instanceof Promise) await pending;
  }
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ what, rounds, cpuMicroseconds: Number(((user + system) / rounds).toFixed(2)) }));
}

const postgres = await startTestPostgres();
const databaseUrl = await postgres.createTestDatabase();
const storage = await createPostgresStorage({ databaseUrl });
try {
  const metadata = { name: 'robot', namespace: 'ns', uid: 'robot-uid' };
  await storage.create(
    { resource: 'serviceaccounts', namespace: 'ns', name: 'robot' },
    'robot-uid',
    JSON.stringify({ metadata }),
  );
  for (const kind of ['RS256', 'ES256'] as const) {
    const { privateKey, publicKey } =
      kind === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const verification = verificationKey(publicKey, kind);
    const tokenIssuer = new TokenIssuer({
      signingKey: () => ({ key: privateKey, verification }),
      issuer,
      audiences,
      extendExpiration: true,
      maxExpirationSeconds: undefined,
      names,
      clock: systemClock,
    });
    const request = { namespace: 'ns', name: 'robot', uid: 'robot-uid', audiences, expirationSeconds: 3600 };
    const { token } = await tokenIssuer.issue(request);
    const nothing = () => undefined;
    const method = new ServiceAccountTokenAuthenticator({
      registry: new ResourceRegistry(),
      keys: [verification],
      issuers: audiences,
      apiAudiences: audiences,
      lookup: true,
      storage,
      names,
      clock: systemClock,
      counters: {
        ...{ validToken: nothing, staleToken: nothing, secretToken: nothing },
        ...{ secretTokenMade: nothing, invalidSecretToken: nothing },
      },
      uses: { record: nothing },
    });
    const union = new TokenUnion([method], console);
    const cache = new TokenCache(union, systemClock, { ttlMs: 10_000, maxEntries: 20_000 });
    const { signal } = new AbortController();
    await measure(`sign ${kind}`, 500, () => tokenIssuer.issue(request));
    await measure(`authenticate ${kind}, unknown`, 1_000, () => union.authenticateToken(token, audiences, signal));
    await measure(`authenticate ${kind}, remembered`, 200_000, () => cache.authenticateToken(token, audiences, signal));
  }
} finally {
  await storage.stop();
  await postgres.stop();
}
