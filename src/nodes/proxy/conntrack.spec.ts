import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readFlows, staleFlows, udpFrontends } from './conntrack.js';
import { wantedConnections } from './conntrack-limits.js';
import { sliceView, targetsOf } from './rules/endpoint-view.js';
import { servicePortsOf } from './rules/service-view.js';
import { ending, sampleEndpoint, sampleService, sampleSlice } from './testing/samples.js';

const line = (destination: string, port: number, target: string) =>
  `udp      17 29 src=10.1.0.9 dst=${destination} sport=40000 dport=${port} [UNREPLIED] src=${target} dst=10.1.0.9 sport=5353 dport=40000 mark=0 use=1`;

it('finds the flows of UDP that go to endpoints that do not serve any more', () => {
  const ports = [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 }];
  const service = sampleService({ type: 'NodePort', ports, externalIPs: ['198.51.100.1'] });
  const gone = { conditions: { ready: false, serving: false, terminating: true } };
  const slice = sliceView(
    sampleSlice(
      [
        sampleEndpoint('10.1.0.1', 'here'),
        sampleEndpoint('10.1.0.2', 'here', ending),
        sampleEndpoint('10.1.0.3', 'here', gone),
      ],
      { ports: [{ name: 'dns', protocol: 'UDP', port: 5353 }] },
    ),
  );
  assert.ok(slice);
  const all = servicePortsOf(service, 'IPv4').map((port) => ({ port, all: targetsOf([slice], port) }));
  const flows = readFlows(
    [
      line('10.96.0.7', 53, '10.1.0.1'),
      line('10.96.0.7', 53, '10.1.0.2'),
      line('10.96.0.7', 53, '10.1.0.3'),
      line('198.51.100.1', 53, '10.1.0.4'),
      line('192.0.2.1', 30053, '10.1.0.4'),
      line('192.0.2.1', 999, '10.1.0.4'),
    ].join('\n'),
  );
  assert.equal(flows.length, 6);
  assert.deepEqual(
    staleFlows(flows, udpFrontends(all)).map(({ destination, target }) => `${destination} ${target}`),
    ['10.96.0.7 10.1.0.3', '198.51.100.1 10.1.0.4', '192.0.2.1 10.1.0.4'],
  );
});

it('leaves flows to a node port alone when its service has no endpoint: the number may be that of others', () => {
  const ports = [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 }];
  const all = servicePortsOf(sampleService({ type: 'NodePort', ports }), 'IPv4').map((port) => ({ port, all: [] }));
  const flows = readFlows([line('192.0.2.1', 30053, '10.1.0.4'), line('10.96.0.7', 53, '10.1.0.4')].join('\n'));
  assert.deepEqual(
    staleFlows(flows, udpFrontends(all)).map(({ destination }) => destination),
    ['10.96.0.7'],
  );
});

it('lets the kernel track as many connections as the processors can have, within limits', () => {
  const limits = {
    ...{ conntrackMaxPerCore: 32_768, conntrackMin: 131_072, tcpBeLiberal: false },
    ...{ tcpEstablishedMs: 0, tcpCloseWaitMs: 0, udpMs: 0, udpStreamMs: 0 },
  };
  assert.equal(wantedConnections(limits, 2), 131_072);
  assert.equal(wantedConnections(limits, 8), 262_144);
  assert.equal(wantedConnections(limits, 64), 1_048_576);
  assert.equal(wantedConnections({ ...limits, conntrackMaxPerCore: 0 }, 8), 0);
});
