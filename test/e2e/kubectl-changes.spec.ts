import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kubectl } from './support/kubectl.js';
import { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let kubectl: Kubectl;

before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
  kubectl = new Kubectl(cluster.first.kubeconfig);
});

after(() => cluster.stop());

const configMap = (name: string, data: Record<string, string>, extra: object = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data, ...extra });

const deployment = (name: string, spec: object) =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'registry.example.com/main:1' }] },
      },
      ...spec,
    },
  });

const fieldOf = (kind: string, name: string, path: string) =>
  kubectl.ok(['get', kind, name, '-o', `jsonpath={${path}}`]);

describe('kubectl explain', () => {
  it('describes every kind with all of its fields', () => {
    const resources = kubectl.ok(['api-resources', '--verbs=get', '-o', 'name']).trim().split('\n');
    assert.ok(resources.length > 45, `only ${resources.length} resources`);
    for (const resource of resources) {
      const [plural, ...group] = resource.split('.');
      const text = kubectl.ok(['explain', plural as string, '--recursive']);
      assert.match(text, /^KIND:\s+\S+/m, resource);
      assert.match(text, /^FIELDS:/m, resource);
      assert.match(text, /^\s+metadata\s+<ObjectMeta>|^\s+metadata\s+<Object>/m, resource);
      if (group.length > 0) assert.ok(text.includes(group.join('.')) || text.includes('VERSION:'), resource);
    }
    assert.match(
      kubectl.ok(['explain', 'pod.spec.containers.livenessProbe.httpGet.port']),
      /IntOrString|Object|string/,
    );
  });
});

describe('kubectl apply --server-side', () => {
  it('stops at fields of another manager and names them', () => {
    kubectl.ok(['apply', '--server-side', '--field-manager=first', '-f', '-'], deployment('shared', { replicas: 2 }));
    const { code, stderr } = kubectl.run(
      ['apply', '--server-side', '--field-manager=second', '-f', '-'],
      deployment('shared', { replicas: 5 }),
    );
    assert.equal(code, 1);
    assert.match(stderr, /conflict/);
    assert.match(stderr, /first/);
    assert.match(stderr, /\.spec\.replicas/);
    assert.equal(fieldOf('deploy', 'shared', '.spec.replicas'), '2');
  });

  it('takes them with --force-conflicts, and gives back what a manager leaves out', () => {
    const second = ['apply', '--server-side', '--field-manager=second'];
    kubectl.ok([...second, '--force-conflicts', '-f', '-'], deployment('shared', { replicas: 5, paused: true }));
    assert.equal(fieldOf('deploy', 'shared', '.spec.replicas'), '5');
    assert.equal(fieldOf('deploy', 'shared', '.spec.paused'), 'true');
    kubectl.ok([...second, '-f', '-'], deployment('shared', { replicas: 5 }));
    assert.equal(fieldOf('deploy', 'shared', '.spec.paused'), '');
  });

  it('takes over objects of client-side apply without a conflict', () => {
    kubectl.ok(['apply', '-f', '-'], configMap('moved', { a: '1', b: '2' }));
    kubectl.ok(['apply', '--server-side', '-f', '-'], configMap('moved', { a: '3', b: '2' }));
    assert.equal(fieldOf('cm', 'moved', '.data.a'), '3');
  });
});

describe('kubectl apply', () => {
  it('takes large manifests, and changes what changed in them', () => {
    const item = (n: number, value: string) => configMap(`large-${n}`, { value, filler: 'x'.repeat(5_000) });
    const manifest = (value: string) =>
      Array.from({ length: 60 }, (_, n) => item(n, n % 20 === 0 ? value : 'same')).join('\n');
    const first = kubectl.ok(['apply', '-f', '-'], manifest('one'));
    assert.equal(first.match(/ created$/gm)?.length, 60);
    const second = kubectl.ok(['apply', '-f', '-'], manifest('two'));
    assert.equal(second.match(/ configured$/gm)?.length, 3);
    assert.equal(second.match(/ unchanged$/gm)?.length, 57);
    assert.equal(fieldOf('cm', 'large-20', '.data.value'), 'two');
  });

  it('shows what would change', () => {
    const { code, stdout } = kubectl.run(['diff', '-f', '-'], configMap('large-20', { value: 'three' }));
    assert.equal(code, 1);
    assert.match(stdout, /^-\s+value: two$/m);
    assert.match(stdout, /^\+\s+value: three$/m);
  });
});

describe('kubectl create', () => {
  it('refuses a misspelled field and names it', () => {
    const strict = kubectl.minorVersion() >= 25 ? '--validate=strict' : '--validate=true';
    const { code, stderr } = kubectl.run(['create', strict, '-f', '-'], deployment('typo', { replcas: 2 }));
    assert.equal(code, 1);
    assert.match(stderr, /replcas/);
    assert.match(kubectl.run(['get', 'deploy', 'typo']).stderr, /not found/i);
  });
});

describe('kubectl replace, patch and edit', () => {
  it('replaces an object, fields that are left out included', () => {
    kubectl.ok(['create', '-f', '-'], configMap('replaced', { a: '1', b: '2' }));
    kubectl.ok(['replace', '-f', '-'], configMap('replaced', { a: '3' }));
    assert.deepEqual(JSON.parse(fieldOf('cm', 'replaced', '.data')), { a: '3' });
    const uid = fieldOf('cm', 'replaced', '.metadata.uid');
    kubectl.ok(['replace', '--force', '-f', '-'], configMap('replaced', { a: '4' }));
    assert.notEqual(fieldOf('cm', 'replaced', '.metadata.uid'), uid);
  });

  it('patches in the three ways', () => {
    kubectl.ok(['create', '-f', '-'], deployment('patched', { replicas: 1 }));
    const sidecar = { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } };
    kubectl.ok(['patch', 'deploy', 'patched', '--type=strategic', '-p', JSON.stringify(sidecar)]);
    const names = '.spec.template.spec.containers[*].name';
    assert.deepEqual(fieldOf('deploy', 'patched', names).split(' ').sort(), ['main', 'side']);
    kubectl.ok(['patch', 'deploy', 'patched', '--type=merge', '-p', JSON.stringify(sidecar)]);
    assert.equal(fieldOf('deploy', 'patched', names), 'side');
    const operations = [
      { op: 'test', path: '/spec/replicas', value: 1 },
      { op: 'replace', path: '/spec/replicas', value: 4 },
    ];
    kubectl.ok(['patch', 'deploy', 'patched', '--type=json', '-p', JSON.stringify(operations)]);
    assert.equal(fieldOf('deploy', 'patched', '.spec.replicas'), '4');
    const again = kubectl.run(['patch', 'deploy', 'patched', '--type=json', '-p', JSON.stringify(operations)]);
    assert.equal(again.code, 1);
  });

  it('edits an object, and says why when the edit is refused', () => {
    kubectl.ok(['create', '-f', '-'], configMap('edited', { a: 'before' }));
    const done = kubectl.run(['edit', 'cm', 'edited'], undefined, "sed -i 's/before/after/'");
    assert.equal(done.code, 0, done.stderr);
    assert.equal(fieldOf('cm', 'edited', '.data.a'), 'after');
    const refused = kubectl.run(['edit', 'deploy', 'patched'], undefined, "sed -i 's/replicas: 4/replicas: -4/'");
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /deployments\.apps "patched" is invalid/);
    assert.equal(fieldOf('deploy', 'patched', '.spec.replicas'), '4');
  });
});
