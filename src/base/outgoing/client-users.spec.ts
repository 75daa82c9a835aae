import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ClientConfigError } from './client-config-error.js';
import { loadClientUsers } from './client-users.js';

describe('the users of a client configuration', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-users-'));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  function load(config: object) {
    const path = join(directory, 'config');
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
    return loadClientUsers(path);
  }
  const user = (name: string) => ({ name, user: { token: name } });
  const contexts = [{ name: 'c', context: { user: 'rest' } }];

  it('are chosen by the host that is called', () => {
    const names = ['hook.a.svc', 'hook.a.svc:8443', '*.a.svc', '*.svc', '*.svc:9443', 'rest'];
    const users = load({ users: names.map(user), contexts, 'current-context': 'c' });
    const tokenFor = (host: string, port: number) => {
      const auth = users.for(host, port)?.auth;
      return auth?.kind === 'bearer' ? auth.token : auth?.kind;
    };
    assert.equal(tokenFor('hook.a.svc', 443), 'hook.a.svc');
    assert.equal(tokenFor('hook.a.svc', 8443), 'hook.a.svc:8443');
    assert.equal(tokenFor('other.a.svc', 443), '*.a.svc');
    assert.equal(tokenFor('other.b.svc', 443), '*.svc');
    assert.equal(tokenFor('other.b.svc', 9443), '*.svc:9443');
    assert.equal(tokenFor('other.b.svc', 10443), 'rest');
    assert.equal(tokenFor('example.com', 443), 'rest');
  });

  it('may include one for all hosts, or none', () => {
    const all = load({ users: [user('*'), user('rest')], contexts, 'current-context': 'c' });
    assert.deepEqual(all.for('example.com', 1)?.auth, { kind: 'bearer', token: '*' });
    assert.equal(load({}).for('example.com', 443), undefined);
    assert.equal(load({ users: [user('a.b')] }).for('example.com', 443), undefined);
  });

  const faults: [object, RegExp][] = [
    [{ users: {} }, /users must be a list/],
    [{ users: [{}] }, /every user needs a name/],
    [{ users: [{ name: 'a', user: { exec: {} } }] }, /users\["a"\]: no program is run for credentials \(exec\)/],
    [{ users: [{ name: 'a', user: { 'client-key-data': 'YQ==' } }] }, /users\["a"\]: client-certificate and/],
    [{ users: [], 'current-context': 'c' }, /contexts has no entry "c"/],
    [{ users: [], contexts, 'current-context': 'c' }, /users has no entry "rest"/],
  ];
  for (const [config, expected] of faults) {
    it(`are refused: ${JSON.stringify(config)}`, () => {
      assert.throws(
        () => load(config),
        (error) => {
          assert.ok(error instanceof ClientConfigError);
          assert.match(error.message, expected);
          return true;
        },
      );
    });
  }
});
