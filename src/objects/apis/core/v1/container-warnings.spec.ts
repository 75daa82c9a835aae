import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Container } from './container.types.js';
import { containerWarnings } from './container-warnings.js';
import type { PodSpec } from './pod-spec.types.js';

const container = (more: Partial<Container> = {}): Container =>
  ({ name: 'app', image: 'example.com/app:1', resources: {}, ...more }) as Container;
const warnings = (containers: readonly Container[], initContainers?: readonly Container[]) =>
  containerWarnings({ containers, initContainers } as unknown as PodSpec, 'spec');
const port = (containerPort: number, more: object = {}) => ({ containerPort, protocol: 'TCP', ...more }) as never;

it('warns about nothing in usual containers', () => {
  const usual = container({
    ports: [port(80, { name: 'http' }), port(81, { hostPort: 81, hostIP: '192.0.2.1' })],
    env: [{ name: 'A' }, { name: 'B' }] as Container['env'],
    resources: {
      requests: { memory: '64Mi', 'ephemeral-storage': '1G', cpu: '100m' },
      limits: { memory: '1.5Gi', 'ephemeral-storage': '1e3' },
    },
  });
  assert.deepEqual(warnings([usual, container({ ports: [port(80, { protocol: 'UDP' })] })]), []);
});

it('warns about fractions of a byte', () => {
  const resources = {
    requests: { memory: '100m', cpu: '100m' },
    limits: { memory: '0.5', 'ephemeral-storage': '1.5' },
  };
  const text = (amount: string) => `fractional byte value "${amount}" is invalid, must be an integer`;
  assert.deepEqual(warnings([container(), container({ resources })]), [
    `spec.containers[1].resources.limits[memory]: ${text('0.5')}`,
    `spec.containers[1].resources.requests[memory]: ${text('100m')}`,
    `spec.containers[1].resources.limits[ephemeral-storage]: ${text('1.5')}`,
  ]);
});

it('warns about a variable that hides another', () => {
  const env = [{ name: 'A' }, { name: 'B' }, { name: 'A' }] as Container['env'];
  assert.deepEqual(warnings([container()], [container({ env })]), [
    'spec.initContainers[0].env[2]: hides previous definition of "A", which may be dropped when using apply',
  ]);
});

it('compares the ports of all containers', () => {
  const first = container({
    ports: [port(80, { name: 'http' }), port(90, { hostPort: 9 }), port(91, { hostIP: '::1' })],
  });
  const second = container({ ports: [port(80, { name: 'http' }), port(90), port(90, { hostPort: 9, hostIP: '::1' })] });
  const effect = 'services and probes that select ports by name will use spec.initContainers[0].ports[0]';
  assert.deepEqual(warnings([second], [first]), [
    'spec.initContainers[0].ports[2]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:91 Protocol:TCP HostIP:::1}',
    'spec.containers[0].ports[0]: duplicate port definition with spec.initContainers[0].ports[0]',
    `spec.containers[0].ports[0]: duplicate port name "http" with spec.initContainers[0].ports[0], ${effect}`,
    'spec.containers[0].ports[1]: overlapping port definition with spec.initContainers[0].ports[1]',
    'spec.containers[0].ports[2]: dangerously ambiguous port definition with spec.initContainers[0].ports[1]',
    'spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[1]',
  ]);
});
