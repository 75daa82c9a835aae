import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ApiResponse } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { processorMicroseconds } from './support/processes.js';
import { questionsUntil } from './support/questions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';

const registration = '/apis/admissionregistration.k8s.io/v1';
const policiesPath = `${registration}/validatingadmissionpolicies`;
const bindingsPath = `${registration}/validatingadmissionpolicybindings`;
const configMapRule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
};

let cluster: TestCluster;
before(async () => {
  cluster = await sharedCluster('plain');
});
after(() => cluster.stop());

interface Policy {
  readonly name: string;
  readonly spec: object;
  readonly binding?: object;
}

type TestServer = TestCluster['first'];

/** Creates a policy and its binding on the first server. It applies to namespaces with its name as label `policy`. */
async function put({ name, spec, binding = {} }: Policy): Promise<void> {
  const { client } = cluster.first;
  const matchConstraints = { resourceRules: [configMapRule] };
  const policy = await client.post(policiesPath, { metadata: { name }, spec: { matchConstraints, ...spec } });
  assert.equal(policy.status, 201, JSON.stringify(policy.body));
  const bound = await client.post(bindingsPath, {
    metadata: { name: `${name}-binding` },
    spec: {
      policyName: name,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels: { policy: name } } },
      ...binding,
    },
  });
  assert.equal(bound.status, 201, JSON.stringify(bound.body));
  const namespace = await client.post('/api/v1/namespaces', { metadata: { name, labels: { policy: name } } });
  assert.equal(namespace.status, 201);
}

const maps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;

const pauseMs = 20;

/** Repeats a check until it succeeds, as often as would take a second on a quiet machine. */
async function withinASecond(isSo: () => Promise<boolean>, what: () => string): Promise<void> {
  const asked = await questionsUntil(isSo, what(), pauseMs);
  assert.ok(asked * pauseMs < 1000, `${asked} questions: ${what()}`);
}

/** Repeats a write as a dry run on a server until `holds`, for a second at most. */
async function within(
  server: number,
  path: string,
  body: object,
  holds: (answer: ApiResponse) => boolean,
): Promise<ApiResponse> {
  const { client } = cluster.servers[server] as TestServer;
  let answer: ApiResponse | undefined;
  const isSo = async () => {
    answer = await client.post(`${path}?dryRun=All`, body);
    return holds(answer);
  };
  await withinASecond(isSo, () => `${answer?.status} ${answer?.body?.message ?? ''}`);
  return answer as ApiResponse;
}

const isRefused = ({ status }: ApiResponse): boolean => status === 422;
const map = (name: string, data: Record<string, string> = {}, more: object = {}) => ({
  metadata: { name, ...more },
  data,
});

describe('validating policies', () => {
  it('are in force on every server within a second, and so is their end', async () => {
    await put({ name: 'size', spec: { validations: [{ expression: '!has(object.data) || size(object.data) <= 2' }] } });
    const big = map('big', { a: '1', b: '2', c: '3' });
    const refused = await within(1, maps('size'), big, isRefused);
    const text =
      "ValidatingAdmissionPolicy 'size' with binding 'size-binding' denied request: failed expression: !has(object.data) || size(object.data) <= 2";
    assert.equal(refused.body.message, `configmaps "big" is forbidden: ${text}`);
    assert.equal(refused.body.reason, 'Invalid');
    assert.deepEqual(refused.body.details, { name: 'big', kind: 'configmaps', causes: [{ message: text }] });
    await within(0, maps('size'), big, isRefused);
    const { client } = cluster.first;
    assert.equal((await client.post(maps('size'), map('small', { a: '1' }))).status, 201);
    assert.equal((await client.post(maps('default'), big)).status, 201, 'another namespace');
    const grown = { ...map('small', { a: '1', b: '2', c: '3' }) };
    assert.equal((await client.put(`${maps('size')}/small`, grown)).status, 422, 'an update');
    assert.equal((await client.delete(`${bindingsPath}/size-binding`)).status, 200);
    await within(1, maps('size'), big, ({ status }) => status === 201);
  });

  it('warn, and note for the audit trail', async () => {
    const validations = [{ expression: 'has(object.data)', message: 'data is wanted' }];
    await put({ name: 'soft', spec: { validations }, binding: { validationActions: ['Warn', 'Audit'] } });
    const text = "Validation failed for ValidatingAdmissionPolicy 'soft' with binding 'soft-binding': data is wanted";
    const answer = await within(
      1,
      maps('soft'),
      { metadata: { name: 'x' } },
      ({ headers }) => headers.warning !== undefined,
    );
    assert.equal(answer.status, 201);
    assert.ok(String(answer.headers.warning).includes(JSON.stringify(text)), String(answer.headers.warning));
  });

  it('take parameters, by name and by selector, from the namespace of the request', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: { resourceRules: [{ ...configMapRule, resources: ['secrets'] }] },
      variables: [
        { name: 'limit', expression: 'int(params.data.limit)' },
        { name: 'count', expression: 'has(object.data) ? size(object.data) : 0' },
        { name: 'fits', expression: 'variables.count <= variables.limit' },
      ],
      validations: [
        {
          expression: 'variables.fits',
          messageExpression: "'at most ' + string(variables.limit) + ' keys in ' + namespaceObject.metadata.name",
          reason: 'Forbidden',
        },
      ],
    };
    const selector = { matchLabels: { limits: 'yes' } };
    await put({ name: 'params', spec, binding: { paramRef: { selector, parameterNotFoundAction: 'Deny' } } });
    const secrets = '/api/v1/namespaces/params/secrets';
    const secret = { metadata: { name: 's' }, stringData: { a: '1', b: '2' } };
    const missing = await within(1, secrets, secret, isRefused);
    assert.match(
      missing.body.message,
      /denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction$/,
    );
    const { client } = cluster.first;
    assert.equal(
      (await client.post(maps('params'), map('limit', { limit: '1' }, { labels: { limits: 'yes' } }))).status,
      201,
    );
    const refused = await within(1, secrets, secret, ({ status }) => status === 403);
    assert.match(refused.body.message, /denied request: at most 1 keys in params$/);
    assert.equal(refused.body.reason, 'Forbidden');
    await client.patch(`${maps('params')}/limit`, 'merge', { data: { limit: '2' } });
    await within(1, secrets, secret, ({ status }) => status === 201);
    const binding = { spec: { paramRef: { name: 'other', selector: null, parameterNotFoundAction: 'Allow' } } };
    assert.equal((await client.patch(`${bindingsPath}/params-binding`, 'merge', binding)).status, 200);
    await client.patch(`${maps('params')}/limit`, 'merge', { data: { limit: '0' } });
    await within(1, secrets, secret, ({ status }) => status === 201);
    assert.equal((await client.post(maps('params'), map('other', { limit: '1' }))).status, 201);
    await within(1, secrets, secret, ({ status }) => status === 403);
  });

  it('follow the failure policy when an expression fails', async () => {
    const validations = [{ expression: "object.data.missing == 'x'" }];
    await put({ name: 'fails', spec: { validations } });
    const refused = await within(1, maps('fails'), map('x', { a: '1' }), isRefused);
    assert.match(
      refused.body.message,
      /denied request: expression 'object.data.missing == 'x'' resulted in error: no such key: missing$/,
    );
    await cluster.first.client.patch(`${policiesPath}/fails`, 'merge', { spec: { failurePolicy: 'Ignore' } });
    await within(1, maps('fails'), map('x', { a: '1' }), ({ status }) => status === 201);
  });

  it('see deletes, match conditions and the sender', async () => {
    const spec = {
      matchConstraints: { resourceRules: [{ ...configMapRule, operations: ['DELETE'] }] },
      matchConditions: [{ name: 'not-mine', expression: "request.userInfo.username != 'alice'" }],
      validations: [{ expression: "oldObject.data.keep != 'yes' && object == null", message: 'it is kept' }],
    };
    await put({ name: 'deletes', spec });
    const { client } = cluster.first;
    for (const name of ['a', 'b'])
      assert.equal((await client.post(maps('deletes'), map(name, { keep: 'yes' }))).status, 201);
    const path = `${maps('deletes')}/a`;
    const isKept = async () => (await client.delete(`${path}?dryRun=All`)).status === 422;
    await withinASecond(isKept, () => 'the policy is in force');
    const refused = await client.delete(path);
    assert.match(refused.body.message, /denied request: it is kept$/);
    assert.equal((await client.delete(path, undefined, { token: tokens.alice })).status, 200);
  });

  it('are refused with the place and the reason if they cannot be compiled', async () => {
    const { client } = cluster.first;
    const refused = await client.post(policiesPath, {
      metadata: { name: 'broken' },
      spec: {
        matchConstraints: { resourceRules: [configMapRule] },
        variables: [{ name: 'a', expression: 'objct' }],
        validations: [{ expression: 'object.spec.replicas <=' }, { expression: '1 + 1' }],
      },
    });
    assert.equal(refused.status, 422);
    const fields = refused.body.details.causes.map(({ field }: { field: string }) => field);
    assert.deepEqual(fields, [
      'spec.variables[0].expression',
      'spec.validations[0].expression',
      'spec.validations[1].expression',
    ]);
    assert.match(refused.body.message, /compilation failed: ERROR: <input>:1:24: Syntax error/);
    assert.match(refused.body.message, /must evaluate to bool/);
    const loop = `[${'1,'.repeat(2000)}1]`;
    const exploding = await client.post(policiesPath, {
      metadata: { name: 'exploding' },
      spec: {
        matchConstraints: { resourceRules: [configMapRule] },
        validations: [{ expression: `${loop}.map(a, ${loop}.map(b, a + b)).size() > 0` }],
      },
    });
    assert.match(exploding.body.message, /estimated cost of at least \d+ exceeds the limit of 1000000/);
  });

  it('end when they cost too much, and hold up nobody', async () => {
    const nested =
      'object.data.l.split("").all(a, object.data.l.split("").all(b, object.data.l.split("").all(c, true)))';
    const validations = ['!("refused" in object.data)', ...Array.from({ length: 5 }, () => nested)];
    await put({ name: 'costly', spec: { validations: validations.map((expression) => ({ expression })) } });
    const body = map('x', { l: 'a'.repeat(2000) });
    // The policy is in force.
    await within(1, maps('costly'), map('x', { l: 'a', refused: '' }), isRefused);
    const { client, process: evaluating } = cluster.servers[1] as TestServer;
    const used = () => processorMicroseconds(evaluating.pid as number) / 1000;
    let slowest = 0;
    let isRunning = true;
    const probe = (async () => {
      while (isRunning) {
        const before = used();
        assert.equal((await client.get('/livez')).status, 200);
        slowest = Math.max(slowest, used() - before);
      }
    })();
    const answers = await Promise.all(Array.from({ length: 4 }, () => client.post(maps('costly'), body)));
    isRunning = false;
    await probe;
    for (const answer of answers) {
      assert.equal(answer.status, 422);
      assert.match(
        answer.body.message,
        /resulted in error: validation failed due to running out of cost budget, no further validation rules will be run$/,
      );
    }
    // An evaluation runs in turns of at most 50 ms, between which other requests get theirs. Other work of the machine
    // is not counted.
    assert.ok(slowest < 500, `${slowest} ms of processor time passed before a probe was answered`);
  });

  it('work with kubectl as the examples show', async () => {
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    for (const name of ['trusted-images', 'replica-limit'])
      kubectl.ok(['apply', '-f', `examples/policies/${name}.yaml`]);
    kubectl.ok(['create', 'namespace', 'trusted']);
    kubectl.ok(['label', 'namespace', 'trusted', 'images=trusted']);
    const run = (image: string) =>
      kubectl.run(['run', 'p', '-n', 'trusted', `--image=${image}`, '--dry-run=server', '-o', 'name']);
    const refused = await eventually(() => {
      const done = run('docker.io/nginx:1');
      return done.code !== 0 && done.stderr.includes('trusted-images') && done;
    }, 'the policy is in force');
    assert.match(refused.stderr, /denied request: images come from registry\.example\.com, not docker\.io\/nginx:1/);
    assert.match(run('registry.example.com/nginx:latest').stderr, /denied request: images need a fixed version/);
    assert.equal(run('registry.example.com/nginx:1.25').code, 0);
    assert.match(kubectl.ok(['get', 'validatingadmissionpolicies', 'trusted-images']), /trusted-images +2 +<unset>/);

    kubectl.ok(['create', 'configmap', 'limits', '-n', 'trusted', '--from-literal=replicas=2']);
    kubectl.ok(['create', 'deployment', 'd', '-n', 'trusted', '--image=registry.example.com/a:1']);
    const scaled = kubectl.run([
      'patch',
      'deployment',
      'd',
      '-n',
      'trusted',
      '-p',
      '{"spec":{"replicas":3}}',
      '--dry-run=server',
    ]);
    assert.match(scaled.stderr, /denied request: at most 2 replicas in trusted/);
    kubectl.ok(['patch', 'deployment', 'd', '-n', 'trusted', '-p', '{"spec":{"replicas":2}}', '--dry-run=server']);
    // The policy applies to subresources, too.
    const resized = kubectl.run(['scale', 'deployment', 'd', '-n', 'trusted', '--replicas=3']);
    assert.match(resized.stderr, /denied request: at most 2 replicas in trusted/);
    kubectl.ok(['run', 'p', '-n', 'trusted', '--image=registry.example.com/nginx:1.25']);
    const debugged = kubectl.run(['debug', 'p', '-n', 'trusted', '--image=docker.io/busybox:1']);
    assert.match(debugged.stderr, /denied request: images come from registry\.example\.com, not docker\.io\/busybox:1/);
  });

  it('warn and mutate as the examples show', async () => {
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    for (const name of ['required-probes', 'team-label']) kubectl.ok(['apply', '-f', `examples/policies/${name}.yaml`]);
    kubectl.ok(['create', 'namespace', 'red']);
    kubectl.ok(['label', 'namespace', 'red', 'team=red']);
    const make = (namespace: string) =>
      kubectl.run(['create', 'deployment', 'd', '-n', namespace, '--image=x', '--dry-run=server', '-o', 'yaml']);
    const warned = await eventually(() => {
      const done = make('red');
      return done.stdout.includes('team: red') && done.stderr.includes('no readiness probe: x') && done;
    }, 'the policies are in force');
    assert.ok(!warned.stderr.includes('the label team is missing'), warned.stderr);
    assert.match(make('default').stderr, /Warning: .*the label team is missing/);
    kubectl.ok(['create', 'namespace', 'kube-parts']);
    assert.equal(make('kube-parts').stderr, '');
  });

  it('count their checks', async () => {
    const texts = await Promise.all(
      cluster.servers.map(async ({ client }) => String((await client.get('/metrics')).text)),
    );
    const all = texts.join('\n');
    assert.match(
      all,
      /apiserver_validating_admission_policy_check_total\{policy="size",policy_binding="size-binding",enforcement_action="deny",error_type="no_error"\} \d+/,
    );
    assert.match(
      all,
      /apiserver_validating_admission_policy_check_total\{policy="costly",policy_binding="costly-binding",enforcement_action="deny",error_type="out_of_budget"\} \d+/,
    );
    assert.match(all, /apiserver_validating_admission_policy_check_duration_seconds_bucket\{le="0.001",/);
  });
});
