import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kubectl } from './support/kubectl.js';
import { eventually, TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
let kubectl: Kubectl;

before(async () => {
  // Only kubectl writes about workloads here, so the test can attribute every write.
  const controllerFlags = ['--controllers=namespace,resourcequota,serviceaccount'];
  cluster = await TestCluster.start({ servers: 2, controllers: true, controllerFlags });
  kubectl = new Kubectl(cluster.first.kubeconfig);
});

after(() => cluster.stop());

// The steps of one application's life: each builds on those before it.
describe('kubectl drives an application', () => {
  it('lists namespaces and resources', () => {
    const namespaces = kubectl.ok(['get', 'ns']);
    assert.match(namespaces, /^NAME\s+STATUS\s+AGE\n/);
    assert.match(namespaces, /^default\s+Active\s+[\dms]+$/m);
    const resources = kubectl.ok(['api-resources', '--no-headers']);
    for (const expected of ['pods', 'deployments', 'ingresses', 'poddisruptionbudgets', 'rolebindings', 'cronjobs']) {
      assert.match(resources, new RegExp(`^${expected}\\s`, 'm'));
    }
    assert.match(kubectl.ok(['api-versions']), /^networking\.k8s\.io\/v1$/m);
  });

  it('applies a multi-kind application, and again without changing anything', () => {
    const first = kubectl.ok(['apply', '-f', 'examples/']);
    assert.equal(first.match(/ created$/gm)?.length, 21, first);
    const versions = () =>
      kubectl.ok([
        'get',
        '-f',
        'examples/',
        '-o',
        'jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion} {end}',
      ]);
    const before = versions();
    const again = kubectl.ok(['apply', '-f', 'examples/']);
    assert.doesNotMatch(again, / created$/m);
    assert.equal(versions(), before, 'objects that were written again');
  });

  it('shows it in tables', () => {
    const all = kubectl.ok(['get', 'all,ing,pdb,quota,cm,secret,netpol,hpa', '-n', 'shop', '-o', 'wide']);
    assert.match(
      all,
      /^deployment\.apps\/api\s+0\/3\s+0\s+0\s+[\dms]+\s+api\s+registry\.example\.com\/shop\/api:1\.4\.2/m,
    );
    assert.match(all, /^service\/api\s+ClusterIP\s+10\.0\.\d+\.\d+\s+<none>\s+8080\/TCP,9090\/TCP/m);
    assert.match(all, /^service\/web\s+NodePort\s+10\.0\.\d+\.\d+\s+<none>\s+80:3[0-2]\d{3}\/TCP/m);
    assert.match(all, /^service\/cache\s+ClusterIP\s+None/m);
    assert.match(all, /^ingress\.networking\.k8s\.io\/shop\s+nginx\s+shop\.example\.com\s+80, 443/m);
    assert.match(all, /^poddisruptionbudget\.policy\/api\s+2\s+N\/A\s+0/m);
    assert.match(all, /^secret\/api-credentials\s+Opaque\s+2/m);
    assert.match(all, /^cronjob\.batch\/nightly-report\s+30 2 \* \* \*/m);
    assert.match(all, /^statefulset\.apps\/cache\s+0\/1/m);
  });

  it('describes objects', () => {
    const text = kubectl.ok(['describe', 'deployment', 'api', '-n', 'shop']);
    assert.match(text, /Replicas:\s+3 desired/);
    assert.match(text, /StrategyType:\s+RollingUpdate/);
    assert.match(kubectl.ok(['describe', 'ingress', 'shop', '-n', 'shop']), /shop\.example\.com/);
    assert.match(kubectl.ok(['describe', 'netpol', '-n', 'shop']), /PodSelector:\s+app\.kubernetes\.io\/name=web/);
  });

  it('patches in the three ways', () => {
    const image = (i: string) =>
      JSON.stringify({ spec: { template: { spec: { containers: [{ name: 'api', image: i }] } } } });
    kubectl.ok(['patch', 'deploy', 'api', '-n', 'shop', '-p', image('registry.example.com/shop/api:1.4.3')]);
    const json = JSON.stringify([{ op: 'replace', path: '/spec/replicas', value: 4 }]);
    kubectl.ok(['patch', 'deploy', 'api', '-n', 'shop', '--type=json', '-p', json]);
    kubectl.ok(['patch', 'deploy', 'api', '-n', 'shop', '--type=merge', '-p', '{"spec":{"minReadySeconds":5}}']);
    const shown = JSON.parse(kubectl.ok(['get', 'deploy', 'api', '-n', 'shop', '-o', 'json']));
    assert.equal(shown.spec.template.spec.containers[0].image, 'registry.example.com/shop/api:1.4.3');
    assert.equal(shown.spec.template.spec.containers[0].ports.length, 2);
    assert.equal(shown.spec.replicas, 4);
    assert.equal(shown.metadata.generation, 4);
    kubectl.ok(['set', 'image', 'deploy/api', 'api=registry.example.com/shop/api:1.4.4', '-n', 'shop']);
  });

  it('labels, annotates and scales', () => {
    kubectl.ok(['label', 'deploy', 'web', 'tier=front', '-n', 'shop']);
    kubectl.ok(['annotate', 'deploy', 'web', 'example.com/note=hello', '-n', 'shop']);
    assert.match(
      kubectl.ok(['get', 'deploy', '-n', 'shop', '-l', 'tier=front', '-o', 'name']),
      /^deployment\.apps\/web$/m,
    );
    kubectl.ok(['scale', 'deploy/web', '--replicas=5', '-n', 'shop']);
    kubectl.ok(['scale', 'statefulset/cache', '--replicas=2', '-n', 'shop']);
    assert.equal(kubectl.ok(['get', 'deploy', 'web', '-n', 'shop', '-o', 'jsonpath={.spec.replicas}']), '5');
    const wrong = kubectl.run(['scale', 'deploy/web', '--current-replicas=2', '--replicas=9', '-n', 'shop']);
    assert.notEqual(wrong.code, 0);
  });

  it('shows a difference without making it', () => {
    const file = kubectl
      .ok(['get', 'cm', 'api-settings', '-n', 'shop', '-o', 'yaml'])
      .replace('CURRENCY: EUR', 'CURRENCY: USD');
    const diff = kubectl.run(['diff', '-f', '-'], file);
    assert.equal(diff.code, 1, diff.stderr);
    assert.match(diff.stdout, /^\+\s+CURRENCY: USD$/m);
    assert.equal(kubectl.ok(['get', 'cm', 'api-settings', '-n', 'shop', '-o', 'jsonpath={.data.CURRENCY}']), 'EUR');
  });

  it('applies a changed manifest, with its removals', () => {
    const manifest = (data: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: changing\n  namespace: shop\ndata:\n${data}`;
    kubectl.ok(['apply', '-f', '-'], manifest('  a: "1"\n  b: "2"\n'));
    const out = kubectl.ok(['apply', '-f', '-'], manifest('  b: "3"\n  c: "4"\n'));
    assert.match(out, /configmap\/changing configured/);
    const shown = JSON.parse(kubectl.ok(['get', 'cm', 'changing', '-n', 'shop', '-o', 'json']));
    assert.deepEqual(shown.data, { b: '3', c: '4' });
  });

  it('follows changes', async () => {
    const watch = kubectl.start(['get', 'cm', '-n', 'shop', '-w', '--no-headers']);
    let text = '';
    watch.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    await eventually(() => text.includes('api-settings'), 'the first table');
    const second = new Kubectl(cluster.second.kubeconfig);
    second.ok(['create', 'configmap', 'seen', '-n', 'shop', '--from-literal=a=b']);
    await eventually(() => /^seen\s+1/m.test(text), 'the new object in the watch');
    second.ok(['delete', 'configmap', 'seen', '-n', 'shop']);
    watch.kill();
  });

  it('waits for conditions and deletions', async () => {
    const path = '/apis/apps/v1/namespaces/shop/deployments/web/status';
    const waiting = kubectl.start(['wait', '--for=condition=Available', 'deploy/web', '-n', 'shop', '--timeout=30s']);
    const exited = new Promise<number | null>((resolve) => waiting.on('exit', resolve));
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const condition = {
      type: 'Available',
      status: 'True',
      reason: 'Test',
      message: '',
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    const answer = await cluster.second.client.patch(path, 'merge', { status: { conditions: [condition] } });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(await exited, 0);
    kubectl.ok(['delete', 'cm', 'changing', '-n', 'shop', '--wait=true']);
  });

  it('refuses what is wrong, with a reason a person can use', () => {
    const bad = kubectl.run(
      ['create', '-f', '-', '--validate=false'],
      'apiVersion: v1\nkind: Service\nmetadata: {name: Bad_Name}\nspec: {ports: [{port: 80}]}',
    );
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /metadata\.name: Invalid value: "Bad_Name"/);
    assert.match(kubectl.run(['get', 'pods', 'none', '-n', 'shop']).stderr, /pods "none" not found/);
    assert.match(kubectl.run(['delete', 'ns', 'default']).stderr, /forbidden/);
  });

  it('deletes the application, its namespace included', async () => {
    const out = kubectl.ok(['delete', '-f', 'examples/', '--timeout=50s']);
    assert.match(out, /namespace "shop" deleted/);
    assert.equal(kubectl.run(['get', 'ns', 'shop']).code, 1);
    const left = await cluster.first.client.get('/api/v1/configmaps');
    assert.deepEqual(
      left.body.items.filter((i: { metadata: { namespace: string } }) => i.metadata.namespace === 'shop'),
      [],
    );
  });
});
