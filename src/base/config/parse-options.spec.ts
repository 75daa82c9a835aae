import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flagsOf } from './flag.js';
import { formatFlags } from './help.js';
import { OptionsError } from './options-error.js';
import { givenFlags, parseOptions, separateOperands } from './parse-options.js';
import { controllerOptionGroups, serverOptionGroups } from './server-options.js';

const secretUrl = 'postgresql://user:hunter2@db:5432/plinth';

function parse(argv: string[], environment: Record<string, string> = {}, defaults: Record<string, unknown> = {}) {
  return parseOptions({ groups: serverOptionGroups, argv, environment, defaults });
}

function problemsOf(argv: string[], environment: Record<string, string> = {}): readonly string[] {
  try {
    parse(argv, environment);
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems;
  }
  return [];
}

describe('parseOptions', () => {
  it('gives the defaults of the specification without arguments', () => {
    const options = parse([]);
    assert.equal(options.secureServing.securePort, 6443);
    assert.equal(options.secureServing.bindAddress, '0.0.0.0');
    assert.equal(options.authentication.anonymousAuth, true);
    assert.deepEqual(options.authorization.authorizationMode, ['AlwaysAllow']);
    assert.equal(options.api.requestTimeoutMs, 60_000);
    assert.equal(options.api.minRequestTimeoutSeconds, 1800);
    assert.equal(options.api.maxRequestsInflight, 400);
    assert.equal(options.api.maxMutatingRequestsInflight, 200);
    assert.equal(options.storage.watchHistoryMs, 300_000);
    assert.equal(options.storage.databaseUrl, undefined);
    assert.throws(() => Object.assign(options.api, { vendor: 'other' }), TypeError);
  });

  it('reads both spellings of a value, and a bool without one', () => {
    const options = parse(['--secure-port', '7443', '--request-timeout=1m30s', '--anonymous-auth', '-v', 'debug']);
    assert.equal(options.secureServing.securePort, 7443);
    assert.equal(options.api.requestTimeoutMs, 90_000);
    assert.equal(options.authentication.anonymousAuth, true);
    assert.equal(options.logging.logLevel, 'debug');
    assert.equal(parse(['--anonymous-auth=false']).authentication.anonymousAuth, false);
  });

  it('takes a number after the short flag of the level as the verbosity', () => {
    for (const argv of [['-v', '4'], ['-v=4'], ['--v=4'], ['--v', '4']]) {
      const { logLevel, verbosity } = parse(argv).logging;
      assert.deepEqual([logLevel, verbosity], ['info', 4], argv.join(' '));
    }
  });

  it('distinguishes names of files from flags and their values', () => {
    const separate = (...argv: string[]) => separateOperands(serverOptionGroups, argv);
    assert.deepEqual(
      separate('a', '--secure-port', '7443', 'b', '--anonymous-auth', 'c', '-v', 'debug', '--vendor=d'),
      {
        operands: ['a', 'b', 'c'],
        flags: ['--secure-port', '7443', '--anonymous-auth', '-v', 'debug', '--vendor=d'],
      },
    );
    assert.deepEqual(separate('--secure-port'), { operands: [], flags: ['--secure-port'] });
    assert.deepEqual(separate('--nothing', 'x', '-'), { operands: ['x', '-'], flags: ['--nothing'] });
  });

  it('appends lists and lets the last of other flags win', () => {
    const options = parse([
      '--authorization-mode=AlwaysDeny',
      '--authorization-mode',
      'AlwaysAllow',
      '--vendor=a.b',
      '--vendor=c.d',
    ]);
    assert.deepEqual(options.authorization.authorizationMode, ['AlwaysDeny', 'AlwaysAllow']);
    assert.equal(options.cluster.vendor, 'c.d');
  });

  it('prefers flags to the environment and the environment to defaults', () => {
    const environment = { PLINTH_SECURE_PORT: '7000', PLINTH_VENDOR: '', PLINTH_DATABASE_URL: secretUrl };
    const options = parse(['--bind-address', '::1'], environment, { 'bind-address': '127.0.0.1', 'secure-port': 8000 });
    assert.equal(options.secureServing.securePort, 7000);
    assert.equal(options.secureServing.bindAddress, '::1');
    assert.equal(options.cluster.vendor, 'k8s.io');
    assert.equal(options.storage.databaseUrl, secretUrl);
    assert.equal(parse([], {}, { 'bind-address': '127.0.0.1' }).secureServing.bindAddress, '127.0.0.1');
    assert.equal(parse(['--secure-port=9000'], environment).secureServing.securePort, 9000);
  });

  it('reports every problem at once', () => {
    const problems = problemsOf(['--secure-port', '0', '--nope', 'x', '--request-timeout=soon', 'word', '--vendor']);
    assert.deepEqual([...problems].sort(), [
      '--request-timeout soon: must be a duration such as 30s, 1m0s or 1h',
      '--secure-port 0: must be between 1 and 65535; HTTPS cannot be turned off with 0',
      '--vendor needs a value',
      'unexpected argument "word"',
      'unknown flag --nope',
    ]);
  });

  for (const [argument, problem] of [
    ['--secure-port=65536', /between 1 and 65535/],
    ['--secure-port=64.5', /whole number/],
    ['--bind-address=localhost', /IP address/],
    ['--tls-cert-file=a.crt', /needs --tls-private-key-file/],
    ['--tls-private-key-file=a.key', /needs --tls-cert-file/],
    ['--goaway-chance=0.03', /between 0 and 0.02/],
    ['--watch-history=4m59s', /at least 5m0s/],
    ['--request-timeout=0', /greater than 0/],
    ['--request-timeout=-1s', /greater than 0/],
    ['--shutdown-delay-duration=-1s', /not be negative/],
    ['--max-requests-inflight=-1', /not be negative/],
    ['--delete-collection-workers=0', /greater than 0/],
    ['--database-pool-size=0', /between 1 and 100/],
    ['--service-cluster-ip-range=10.0.0.0/8', /too large/],
    ['--service-cluster-ip-range=10.0.0.0/31', /too small/],
    ['--service-cluster-ip-range=10.0.0.0', /address range/],
    ['--service-cluster-ip-range=10.0.0.0/16,10.1.0.0/16', /one range for IPv4 and one for IPv6/],
    ['--service-cluster-ip-range=10.0.0.0/16,fd00::/64', /too large/],
    ['--service-node-port-range=3-2', /two ports/],
    ['--vendor=Nope!', /DNS name/],
    ['--compat=other', /empty or kubernetes/],
    ['--authorization-mode=Sometimes', /unknown mode Sometimes/],
    ['--authorization-mode=', /at least one/],
    ['--authorization-mode=AlwaysDeny,AlwaysDeny', /twice/],
    ['--log-level=loud', /one of error/],
    ['--anonymous-auth=perhaps', /true or false/],
    ['-x=1', /^unknown flag -x$/],
    ['--databse-url=x', /^unknown flag --databse-url; did you mean --database-url\?$/],
    ['--secure-prot', /did you mean --secure-port\?/],
    ['--something-else=1', /^unknown flag --something-else$/],
  ] as const) {
    it(`refuses ${argument}`, () => {
      const problems = problemsOf([argument]);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', problem);
    });
  }

  it('names the environment variable that is wrong', () => {
    assert.deepEqual(problemsOf([], { PLINTH_SECURE_PORT: 'abc' }), ['PLINTH_SECURE_PORT abc: must be a whole number']);
  });

  it('never repeats a secret', () => {
    const wrong = 'mysql://user:hunter2@db/plinth';
    const problems = [
      ...problemsOf(['--database-url', wrong]),
      ...problemsOf([], { PLINTH_LISTEN_DATABASE_URL: 'hunter2' }),
    ];
    assert.equal(problems.length, 2);
    for (const problem of problems) assert.doesNotMatch(problem, /hunter2/);
  });

  it('hints how to turn a bool off', () => {
    assert.deepEqual(problemsOf(['--anonymous-auth', 'false']), [
      'unexpected argument "false": write --anonymous-auth=false',
    ]);
  });

  it('knows which flags were given', () => {
    const request = {
      groups: serverOptionGroups,
      argv: ['--vendor=a.b'],
      environment: { PLINTH_COMPAT: 'kubernetes' },
    };
    assert.deepEqual([...givenFlags(request)].sort(), ['compat', 'vendor']);
  });
});

describe('help', () => {
  it('shows every flag with its environment variable and the defaults of the command', () => {
    const groups = { ...serverOptionGroups, ...controllerOptionGroups };
    const text = formatFlags(groups, { 'bind-address': '127.0.0.1' });
    for (const flag of Object.values(groups).flatMap(flagsOf)) {
      assert.ok(text.includes(`--${flag.name}`), flag.name);
      assert.ok(text.includes(`[${flag.environment}]`), flag.environment);
    }
    assert.match(text, /default 127\.0\.0\.1/);
    assert.match(text, /default 1m0s/);
  });
});

describe('configuration files', () => {
  it('exclude the flags whose place they take', () => {
    const authentication = '--authentication-config=a.yaml';
    assert.match(
      problemsOf([authentication, '--oidc-issuer-url=https://a', '--oidc-client-id=b']).join(),
      /--authentication-config a.yaml: names issuers itself/,
    );
    const authorization = '--authorization-config=a.yaml';
    assert.deepEqual(problemsOf([authentication, authorization]), []);
    assert.deepEqual(problemsOf([authorization, '--authorization-policy-file=p']), []);
    for (const argv of [['--authorization-mode=RBAC'], ['--authorization-webhook-config-file=w']]) {
      assert.match(
        problemsOf([authorization, ...argv]).join(),
        /--authorization-config a.yaml: names authorizers itself/,
      );
    }
    assert.match(problemsOf(['--client-crl-file=c']).join(), /needs --client-ca-file as well/);
  });
});
