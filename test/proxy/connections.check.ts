// Sends traffic through a service while parts of the cluster end and start again, through this proxy and then, where
// PLINTH_TEST_KUBE_PROXY names one, through the release's own: no connection breaks that need not break. Prints figures. As root, in a
// network namespace of its own: `npm run check:connections`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { after, before, describe, it } from 'node:test';
import type { Route } from '../e2e/support/test-cluster.js';
import { eventually } from '../e2e/support/test-cluster.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import type { TestPostgres, TestStandby } from '../support/test-postgres.js';
import { ask } from './ask.js';
import { NodeNetwork } from './node-network.js';
import { ProxyProcess } from './proxy-process.js';
import type { SampleService } from './sample-services.js';
import { ServiceScene } from './service-scene.js';
import { TrafficClient, type TrafficOrder, type TrafficReport } from './traffic-client.js';

const service = '10.96.0.60';
const order: TrafficOrder = { address: service, port: 80, connections: 60, flows: 20 };
const protocols = ['TCP', 'UDP'] as const;
const both: SampleService['endpoints'] = [{ on: 'pod' }, { on: 'other' }];
const theirs = process.env.PLINTH_TEST_KUBE_PROXY;

interface Row extends TrafficReport {
  readonly who: string;
  readonly what: string;
  /** How long a change took to arrive at the node after the event. */
  readonly changeMs: number;
}

const rows: Row[] = [];

describe('connections through a service', { timeout: 600_000 }, () => {
  let network: NodeNetwork;
  let client: TrafficClient;

  before(async () => {
    network = NodeNetwork.prepare();
    await network.addProgram('pod', '10.244.1.', 'traffic.js');
    await network.addProgram('other', '10.244.2.', 'traffic.js');
    client = new TrafficClient(await network.addProgram('source', '10.244.3.', 'traffic.js'));
    await network.addProgram('client', '192.0.2.', 'traffic.js');
    network.leadElsewhere('192.0.2.2');
  });

  after(() => {
    network?.stop();
    printTable(rows);
  });

  const flagsOf = (kubeconfig: string) => [
    ...[`--kubeconfig=${kubeconfig}`, '--hostname-override=here', '--cluster-cidr=10.244.0.0/16'],
    '--conntrack-max-per-core=0',
  ];
  const programs = [
    { who: 'plinth proxy', start: (file: string) => ProxyProcess.start([...flagsOf(file), '--compat=kubernetes']) },
    ...(theirs === undefined
      ? []
      : [
          {
            who: 'kube-proxy',
            start: async (file: string) => ProxyProcess.run(theirs, [...flagsOf(file), '--proxy-mode=nftables']),
          },
        ]),
  ];

  for (const { who, start } of programs) {
    describe(who, () => {
      let scene: ServiceScene;
      let proxy: ProxyProcess;
      let database: TcpProxy;
      let standby: TestStandby | undefined;
      let turn = 0;

      before(async () => {
        const route = async (postgres: TestPostgres, databaseUrl: string): Promise<Route> => {
          database = await TcpProxy.start(postgres.port);
          return { databaseUrl: database.through(databaseUrl), stop: () => database.stop() };
        };
        scene = await ServiceScene.start(route);
        for (const [name, clusterIP] of [
          ['busy', service],
          ['turning', '10.96.0.61'],
        ] as const) {
          await scene.add({ name, spec: { clusterIP }, endpoints: both, protocols });
        }
        proxy = await start(scene.kubeconfig);
        await changeArrives();
      });

      after(async () => {
        await proxy?.stop();
        await scene?.stop();
        await standby?.stop();
        execFileSync('nft', ['flush', 'ruleset']);
        execFileSync('conntrack', ['-F'], { stdio: 'ignore' });
      });

      /** Changes the endpoints of a service, and waits until this node sends packets to the new one. */
      async function changeArrives(): Promise<number> {
        const on = turn++ % 2 === 0 ? 'other' : 'pod';
        const began = performance.now();
        await eventually(
          () =>
            scene.setEndpoints('turning', [{ on }], protocols).then(
              () => true,
              () => false,
            ),
          'the write of a change',
          60_000,
        );
        const turned = { protocol: 'udp', address: '10.96.0.61', port: 80, tries: 8 } as const;
        await eventually(
          async () => (await ask(turned)).every((name) => name === on),
          'the change at the node',
          120_000,
        );
        return performance.now() - began;
      }

      /** @param change how long a change took to arrive, where the event is one */
      async function under(
        what: string,
        event: () => Promise<unknown>,
        change?: (report: TrafficReport) => number,
      ): Promise<Row> {
        await client.begin(order);
        await event();
        const turnedMs = change === undefined ? await changeArrives() : 0;
        const report = await client.end();
        const row = { who, what, changeMs: change?.(report) ?? turnedMs, ...report };
        rows.push(row);
        return row;
      }

      function isWhole({ broken, fresh, datagrams }: Row): void {
        assert.deepEqual(broken, {}, 'kept connections');
        assert.equal(fresh.failed, 0, 'new connections');
        assert.equal(datagrams.lost, 0, 'datagrams');
      }

      it('go on when the proxy is restarted', async () => {
        isWhole(
          await under('proxy restarted', async () => {
            await proxy.stop();
            proxy = await start(scene.kubeconfig);
          }),
        );
      });

      it('go on when the proxy is killed, and while there is none', async () => {
        isWhole(
          await under('proxy killed', async () => {
            proxy.process.kill('SIGKILL');
            await proxy.stop();
            await new Promise((resolve) => setTimeout(resolve, 2_000));
            proxy = await start(scene.kubeconfig);
          }),
        );
      });

      it('go on when the API server is killed and starts again', async () => {
        isWhole(await under('API server killed', () => scene.cluster.restartServer(scene.cluster.first, 'SIGKILL')));
      });

      it('go on when the database crashes and starts again', async () => {
        isWhole(
          await under('database crashed', async () => {
            await scene.cluster.postgres.shutDown('immediate');
            await scene.cluster.postgres.startAgain();
          }),
        );
      });

      it('go on when the database fails over', async () => {
        const next = await scene.cluster.postgres.createStandby();
        standby = next;
        isWhole(
          await under('database failed over', async () => {
            await next.caughtUp();
            await scene.cluster.postgres.shutDown('immediate');
            await next.promote();
            database.moveTo(next.port);
            database.cut();
          }),
        );
      });

      it('go on when an endpoint leaves the service', async () => {
        const leaves = () => scene.setEndpoints('busy', [{ on: 'pod' }], protocols);
        const { broken, fresh } = await under('endpoint left', leaves);
        assert.deepEqual(broken, {});
        assert.equal(fresh.failed, 0);
        await scene.setEndpoints('busy', both, protocols);
        await changeArrives();
      });

      it('break only to a node that is lost, and new ones avoid it once that is known', async () => {
        const afterMs = 1_000;
        const lose = async () => {
          network.setLost('other', true);
          await new Promise((resolve) => setTimeout(resolve, afterMs));
          await scene.setEndpoints('busy', [{ on: 'pod' }], protocols);
          await new Promise((resolve) => setTimeout(resolve, 4 * afterMs));
        };
        const untilLast = ({ fresh }: TrafficReport) => Math.max(0, fresh.lastFailureMs - afterMs);
        const { broken, fresh } = await under('node lost', lose, untilLast);
        assert.deepEqual(Object.keys(broken), ['other']);
        assert.ok(fresh.lastFailureMs < 3 * afterMs, `failures until ${fresh.lastFailureMs} ms`);
        network.setLost('other', false);
      });
    });
  }
});

function printTable(table: readonly Row[]): void {
  console.log(
    '\n| Event | Proxy | Kept connections that broke | New ones that failed | Datagrams lost | Longest wait | A change arrives |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const { what, who, kept, broken, fresh, datagrams, longestMs, changeMs } of table) {
    const lost = Object.values(broken).reduce((sum, count) => sum + count, 0);
    const cells = [
      ...[
        what,
        who,
        `${lost} of ${kept}`,
        `${fresh.failed} of ${fresh.asked}`,
        `${datagrams.lost} of ${datagrams.sent}`,
      ],
      ...[`${Math.round(longestMs)} ms`, `${Math.round(changeMs)} ms`],
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
