// Sends requests to services of a node over real connections, through this proxy and then, where PLINTH_TEST_KUBE_PROXY
// names one, through the release's own: both must lead to the same results. As root, in a network namespace of its own:
// `npm run check:proxy`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../e2e/support/test-cluster.js';
import { mainFile } from '../support/main-file.js';
import { NodeNetwork, type Pod } from './node-network.js';
import { cases, type ProxyCase } from './proxy-cases.js';
import { ProxyProcess } from './proxy-process.js';
import { addresses } from './sample-services.js';
import { ServiceScene } from './service-scene.js';
import { sixServices, writeSixRules } from './six-backend.js';

const tries = 12;
const clusterCidr = '10.244.0.0/16';
const theirs = process.env.PLINTH_TEST_KUBE_PROXY;

async function page(port: number, path: string, host = '127.0.0.1'): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    get({ host, port, path }, (response) => {
      void text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    }).on('error', reject);
  });
}

describe('the proxy of a node', () => {
  let network: NodeNetwork;
  let scene: ServiceScene;
  let client: Pod;

  before(async () => {
    network = NodeNetwork.prepare();
    await network.add('pod', '10.244.1.');
    await network.add('other', '10.244.2.');
    client = await network.add('client', '192.0.2.');
    await network.add('stranger', '198.51.100.');
    network.leadElsewhere('192.0.2.2');
    scene = await ServiceScene.start();
  });

  after(async () => {
    network?.stop();
    await scene?.stop();
  });

  async function answersTo({ from, protocol = 'tcp', address, port }: ProxyCase): Promise<readonly string[]> {
    const answers = await network.party(from).ask({ protocol, address, port, tries });
    return [...new Set(answers)].sort();
  }

  /** A write that fails is made good by one of the whole table, which forgets the clients of services with affinity. */
  async function noWriteFailed(): Promise<void> {
    const { body } = await page(10_249, '/metrics');
    const failures = /sync_failures_total(?:\{[^}]*\})? (\d+)/.exec(body)?.[1];
    assert.equal(failures ?? '0', '0', 'writes of rules failed');
  }

  async function becomes(what: string, question: ProxyCase): Promise<void> {
    let last: readonly string[] = [];
    await eventually(async () => {
      last = await answersTo(question);
      return last.join() === question.wanted.join();
    }, `${what}: ${last.join()}`);
  }

  const own: Record<string, ProxyProcess | undefined> = {};
  const programs: readonly { readonly who: string; readonly start: () => Promise<ProxyProcess> }[] = [
    {
      who: 'plinth proxy',
      start: () =>
        ProxyProcess.start([
          ...[`--kubeconfig=${scene.kubeconfig}`, '--compat=kubernetes', '--hostname-override=here'],
          ...[`--cluster-cidr=${clusterCidr}`, '--conntrack-max-per-core=0'],
        ]),
    },
    ...(theirs === undefined
      ? []
      : [
          {
            who: 'the proxy of the release',
            start: async () =>
              ProxyProcess.run(theirs, [
                ...[`--kubeconfig=${scene.kubeconfig}`, '--proxy-mode=nftables', '--hostname-override=here'],
                ...[`--cluster-cidr=${clusterCidr}`, '--conntrack-max-per-core=0'],
              ]),
          },
        ]),
  ];

  for (const { who, start } of programs) {
    describe(who, () => {
      before(async () => {
        own[who] = await start();
        await eventually(async () => (await page(10_256, '/healthz').catch(() => undefined))?.status === 200, who);
        await becomes('the first rules', cases[0] as ProxyCase);
      });

      after(async () => {
        await own[who]?.stop();
        execFileSync('nft', ['flush', 'ruleset']);
      });

      for (const each of cases) {
        it(each.what, async () => {
          assert.deepEqual(await answersTo(each), [...each.wanted].sort());
        });
      }

      it('keeps a client at its endpoint', async () => {
        for (const from of ['pod', 'client', 'node'] as const) {
          const address = from === 'client' ? addresses.node : '10.96.0.20';
          const port = from === 'client' ? 30_020 : 80;
          // The first client is recorded before others send requests.
          await network.party(from).ask({ protocol: 'tcp', address, port, tries: 1 });
          const found = await answersTo({ what: '', from, protocol: 'tcp', address, port, wanted: [] });
          assert.equal(found.length, 1, found.join());
        }
      });

      it('answers load balancers whether it has endpoints', async () => {
        const { status, body } = await page(30_119, '/', addresses.node);
        assert.equal(status, 200);
        assert.deepEqual(JSON.parse(body), {
          service: { namespace: 'default', name: 'balanced-here' },
          localEndpoints: 1,
          serviceProxyHealthy: true,
        });
      });

      it('says that it is well and what it did', async () => {
        assert.equal((await page(10_256, '/livez')).status, 200);
        const { body } = await page(10_249, '/metrics');
        for (const name of [
          'kubeproxy_sync_proxy_rules_duration_seconds_count{ip_family="IPv4"}',
          'kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv4"}',
          'kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv4"}',
          'kubeproxy_sync_proxy_rules_no_local_endpoints_total{ip_family="IPv4",traffic_policy="external"} 1',
          'kubeproxy_sync_proxy_rules_no_local_endpoints_total{ip_family="IPv4",traffic_policy="internal"} 1',
        ]) {
          assert.ok(body.includes(name), name);
        }
      });

      it('follows changes of endpoints, and takes a flow of UDP along', async () => {
        const flow = { protocol: 'udp', address: '10.96.0.40', port: 80, tries: 1 } as const;
        const udp = ['UDP'] as const;
        await scene.add({
          name: 'moving',
          spec: { clusterIP: flow.address },
          endpoints: [{ on: 'pod' }],
          protocols: udp,
        });
        const question = { what: '', from: 'client', ...flow } as const;
        await becomes('the new service', { ...question, wanted: ['pod 10.244.1.1'] });
        await eventually(async () => (await client.again(flow)).startsWith('pod'), 'the flow');
        await scene.setEndpoints('moving', [{ on: 'other' }], udp);
        await eventually(async () => (await client.again(flow)).startsWith('other'), 'the flow at its new endpoint');
        await scene.setEndpoints('moving', [], udp);
        await becomes('the refusal', { ...question, wanted: ['refused'] });
        await scene.remove('moving');
        await becomes('the silence', { ...question, wanted: ['silence'] });
        if (who === 'plinth proxy') await noWriteFailed();
      });
    });
  }

  describe('plinth proxy alone', () => {
    const flags = () => [
      ...[`--kubeconfig=${scene.kubeconfig}`, '--compat=kubernetes', '--hostname-override=here'],
      ...[`--cluster-cidr=${clusterCidr}`, '--conntrack-max-per-core=0', '--sync-period=1s'],
    ];

    it('leaves its rules when it stops, finds them again, and removes them when it is told to', async () => {
      const first = await ProxyProcess.start(flags());
      await first.stop();
      const question = cases[0] as ProxyCase;
      await becomes('the rules without a proxy', question);
      const second = await ProxyProcess.start(flags());
      await becomes('the rules of the next', question);
      // The kernel has the maps already, and no rule for this number of endpoints.
      const many = {
        name: 'many',
        spec: { clusterIP: '10.96.0.90' },
        endpoints: [{ on: 'pod' }, { on: 'other' }, { on: 'node' }],
      } as const;
      await scene.add(many);
      const three = { what: '', from: 'pod', address: '10.96.0.90', port: 80 } as const;
      await eventually(
        async () => (await answersTo({ ...three, wanted: [] })).some((answer) => answer.startsWith('other')),
        'many',
      );
      await noWriteFailed();
      await second.stop();
      execFileSync(process.execPath, [mainFile, 'proxy', '--cleanup']);
      assert.doesNotMatch(execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }), /plinth-proxy/);
    });

    it('holds network policies of the API, beside the services', async () => {
      const proxy = await ProxyProcess.start(flags());
      const question = { what: '', from: 'client', address: addresses.pod, port: 8080 } as const;
      await becomes('no policy', { ...question, wanted: ['pod 192.0.2.2'] });
      await scene.addPod('web', addresses.pod, { app: 'web' });
      await scene.setPolicy('only-web', { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'] });
      await becomes('the policy', { ...question, wanted: ['silence'] });
      // A service leads to this pod alone.
      await becomes('the service', { ...question, address: '10.96.0.11', port: 80, wanted: ['silence'] });
      const ingress = [{ from: [{ ipBlock: { cidr: '192.0.2.0/24' } }] }];
      await scene.setPolicy('only-web', { podSelector: {}, policyTypes: ['Ingress'], ingress });
      await becomes('the range', { ...question, wanted: ['pod 192.0.2.2'] });
      await scene.removePolicy('only-web');
      await eventually(
        async () => !/plinth-policies/.test(execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' })),
        'no table without a policy',
      );
      await proxy.stop();
      execFileSync('nft', ['flush', 'ruleset']);
    });

    it('writes its rules again when somebody removes them', async () => {
      const proxy = await ProxyProcess.start(flags());
      execFileSync('nft', ['flush', 'ruleset']);
      await becomes('the rules', cases[0] as ProxyCase);
      await proxy.stop();
      execFileSync('nft', ['flush', 'ruleset']);
    });

    it('forwards packets of IPv6 by rules of the same form', async () => {
      network.addSix('pod', 'fd00:244:1::');
      network.addSix('other', 'fd00:244:2::');
      network.addSix('client', '2001:db8:1::');
      network.leadElsewhere('2001:db8:1::2');
      assert.equal(await writeSixRules(), true);
      const { plain, sticky } = sixServices;
      const both = ['other fd00:244:1::2', 'pod fd00:244:1::1'];
      const fromPod = { what: '', from: 'pod', port: 80, wanted: both } as const;
      assert.deepEqual(await answersTo({ ...fromPod, address: plain }), both);
      await network.party('pod').ask({ protocol: 'tcp', address: sticky, port: 80, tries: 1 });
      assert.equal((await answersTo({ ...fromPod, address: sticky })).length, 1);
      const outside = { ...fromPod, from: 'client', address: '2001:db8:1::1' } as const;
      const masqueraded = ['other fd00:244:2::1', 'pod fd00:244:1::1'];
      assert.deepEqual(await answersTo({ ...outside, port: 30_029 }), masqueraded);
      assert.deepEqual(await answersTo({ ...fromPod, address: plain, port: 81 }), ['refused']);
      assert.deepEqual(await answersTo({ ...fromPod, address: 'fd00:96::77' }), ['silence']);
      execFileSync('nft', ['flush', 'ruleset']);
    });

    it('forwards connections itself without rules, on node ports and on addresses that the machine has', async () => {
      execFileSync('ip', ['addr', 'add', '10.96.0.11/32', 'dev', 'lo']);
      const proxy = await ProxyProcess.start([...flags(), '--proxy-mode=userspace']);
      const outside = { what: '', from: 'client', address: addresses.node } as const;
      const wanted = ['other 10.244.2.1', 'pod 10.244.1.1'];
      assert.deepEqual(await answersTo({ ...outside, port: 30_013, wanted }), wanted);
      assert.deepEqual(await answersTo({ ...outside, protocol: 'udp', port: 30_013, wanted }), wanted);
      assert.deepEqual(await answersTo({ ...outside, port: 30_012, wanted }), ['refused']);
      assert.deepEqual(await answersTo({ ...outside, port: 30_014, wanted }), ['pod 10.244.1.1']);
      await network.party('client').ask({ ...outside, protocol: 'tcp', port: 30_020, tries: 1 });
      assert.equal((await answersTo({ ...outside, port: 30_020, wanted })).length, 1);
      const cluster = { what: '', from: 'node', address: '10.96.0.11', port: 80, wanted: [] } as const;
      assert.deepEqual(await answersTo(cluster), ['pod 10.244.1.1']);
      assert.doesNotMatch(execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }), /plinth-proxy/);
      await proxy.stop();
      execFileSync('ip', ['addr', 'del', '10.96.0.11/32', 'dev', 'lo']);
    });
  });
});
