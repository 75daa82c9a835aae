import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import type { RequestContext } from '../../base/machinery/request-context.js';
import { AdmissionChain } from './admission-chain.js';
import { AdmissionMetrics } from './admission-metrics.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from './attributes.js';
import { Reinvocation } from './reinvocation.js';

function attributes(operation: AdmissionOperation = 'CREATE'): AdmissionAttributes {
  const context = {} as RequestContext;
  return {
    operation,
    context,
    reinvocation: new Reinvocation(),
  } as Partial<AdmissionAttributes> as AdmissionAttributes;
}

function recorder(log: string[], name: string, over: Partial<AdmissionPlugin> = {}): AdmissionPlugin {
  return {
    name,
    handles: () => true,
    admit: ({ reinvocation }) => void log.push(`${name} ${reinvocation.isReinvoke ? 2 : 1}`),
    validate: () => void log.push(`${name} validates`),
    ...over,
  };
}

describe('the admission chain', () => {
  it('runs the mutating plugins once more when one asks for it, but never a third time', async () => {
    const log: string[] = [];
    const asking = recorder(log, 'asking', {
      admit: ({ reinvocation }) => {
        const rounds = reinvocation.state<number[]>('asking', () => []);
        rounds.push(rounds.length + 1);
        log.push(`asking ${rounds.join(',')}`);
        reinvocation.request();
      },
    });
    const chain = new AdmissionChain([recorder(log, 'a'), asking], new AdmissionMetrics(new Registry()));
    await chain.admit(attributes());
    assert.deepEqual(log, ['a 1', 'asking 1', 'a 2', 'asking 1,2']);
  });

  it('runs a plugin only for its operations and phases, and stops at the first refusal', async () => {
    const log: string[] = [];
    const plugins = [
      recorder(log, 'updates', { handles: (operation) => operation === 'UPDATE' }),
      { name: 'idle', handles: () => true },
      recorder(log, 'late', { validate: () => Promise.reject(new Error('no')) }),
      recorder(log, 'never'),
    ];
    const chain = new AdmissionChain(plugins, new AdmissionMetrics(new Registry()));
    await assert.rejects(chain.validate(attributes('CREATE')), /^Error: no$/);
    assert.deepEqual(log, []);
    await assert.rejects(chain.validate(attributes('UPDATE')), /^Error: no$/);
    assert.deepEqual(log, ['updates validates']);
  });

  it('counts the time of plugins and phases, refusals apart', async () => {
    const registry = new Registry();
    const log: string[] = [];
    const refusing = recorder(log, 'refusing', {
      admit: () => {
        throw new Error('no');
      },
    });
    const chain = new AdmissionChain([recorder(log, 'a'), refusing], new AdmissionMetrics(registry));
    await assert.rejects(chain.admit(attributes('DELETE')), /^Error: no$/);
    await chain.validate(attributes('DELETE'));
    const counts = (await registry.metrics()).split('\n').filter((line) => /_count\{/.test(line));
    const plugin = 'apiserver_admission_controller_admission_duration_seconds_count';
    const step = 'apiserver_admission_step_admission_duration_seconds_count';
    assert.deepEqual(counts, [
      `${plugin}{name="a",operation="DELETE",rejected="false",type="admit"} 1`,
      `${plugin}{name="refusing",operation="DELETE",rejected="true",type="admit"} 1`,
      `${plugin}{name="a",operation="DELETE",rejected="false",type="validate"} 1`,
      `${plugin}{name="refusing",operation="DELETE",rejected="false",type="validate"} 1`,
      `${step}{operation="DELETE",rejected="true",type="admit"} 1`,
      `${step}{operation="DELETE",rejected="false",type="validate"} 1`,
    ]);
    assert.match(
      await registry.metrics(),
      /_bucket\{name="a",operation="DELETE",rejected="false",type="admit",le="\+Inf"\} 1/,
    );
  });
});
