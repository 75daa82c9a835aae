import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseOptions } from '../../base/config/parse-options.js';
import { serverOptionGroups } from '../../base/config/server-options.js';
import type { ResourceRule, RuleResolver } from '../../base/machinery/authorizer.js';
import { exposureProblem, warnOfExposure } from './exposure.js';

const secrets: ResourceRule = { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: [] };
const rulesOf = (...resourceRules: readonly ResourceRule[]): RuleResolver => ({
  rulesFor: ({ name }) => ({
    resourceRules: name === 'system:anonymous' ? resourceRules : [],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }],
    incomplete: false,
    evaluationError: '',
  }),
});

function problem(argv: readonly string[], rules = rulesOf()): Promise<string | undefined> {
  return exposureProblem(parseOptions({ groups: serverOptionGroups, argv, environment: {} }), rules);
}

describe('a server that strangers reach', () => {
  it('is reported when they may do everything', async () => {
    assert.match(
      (await problem([])) ?? '',
      /^anybody who reaches 0\.0\.0\.0:6443, without credentials, may do everything: /,
    );
    assert.match((await problem(['--anonymous-auth=false'])) ?? '', /^every user who reaches .* may do everything: /);
    assert.match((await problem(['--bind-address=::', '--authorization-mode=RBAC,AlwaysAllow'])) ?? '', /\[::\]:6443/);
    assert.match((await problem(['--bind-address=192.0.2.1'])) ?? '', /192\.0\.2\.1/);
  });

  it('is reported when unknown users have rights', async () => {
    const rbac = ['--authorization-mode=RBAC'];
    assert.equal(await problem(rbac), undefined);
    assert.match((await problem(rbac, rulesOf(secrets))) ?? '', /has rights to objects in all namespaces \(get\)/);
    assert.equal(await problem([...rbac, '--anonymous-auth=false'], rulesOf(secrets)), undefined);
  });

  it('is not reported while only this machine can reach it', async () => {
    for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
      assert.equal(await problem([`--bind-address=${address}`], rulesOf(secrets)), undefined, address);
    }
  });

  it('is reported on lines of its own, or on one line for machines', () => {
    const written: string[] = [];
    warnOfExposure('anybody', { logFormat: 'text' }, (text) => written.push(text));
    assert.match(written.join(''), /^\n!{80}\n[^\n]* WARN +anybody\n!{80}\n\n$/);
    written.length = 0;
    warnOfExposure('anybody', { logFormat: 'json' }, (text) => written.push(text));
    assert.equal(JSON.parse(written.join('')).message, 'anybody');
  });
});
