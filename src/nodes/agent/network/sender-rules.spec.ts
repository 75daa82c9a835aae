import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noSenderRules, podPort, senderRules } from './sender-rules.js';

const record = (over: object = {}) =>
  JSON.stringify({
    kind: 'cniCacheV1',
    result: {
      cniVersion: '0.4.0',
      interfaces: [
        { name: 'cni0', mac: '4a:b2:86:ab:37:27' },
        { name: 'veth1', mac: '56:39:99:18:56:a4' },
        { name: 'eth0', mac: 'FA:C5:86:B6:75:D1', sandbox: '/run/netns/x' },
      ],
      ips: [
        { version: '4', interface: 2, address: '10.244.1.9/24' },
        { version: '6', interface: 2, address: 'fd00::9/64' },
      ],
      ...over,
    },
  });

describe('the senders of a bridge', () => {
  it('are what the plugins have recorded', () => {
    assert.deepEqual(podPort(record(), 'cni0'), {
      name: 'veth1',
      hardwareAddress: 'fa:c5:86:b6:75:d1',
      addresses: ['10.244.1.9', 'fd00::9'],
    });
  });

  it('are none for another bridge, and for records that name no port or no address', () => {
    assert.equal(podPort(record(), 'cni1'), undefined);
    assert.equal(podPort(record({ ips: [] }), 'cni0'), undefined);
    assert.equal(podPort(record({ interfaces: [{ name: 'cni0' }] }), 'cni0'), undefined);
    const hostile = [{ name: 'cni0' }, { name: 'v" }; flush ruleset' }, { name: 'eth0', mac: 'x', sandbox: '/x' }];
    assert.equal(podPort(record({ interfaces: hostile }), 'cni0'), undefined);
    assert.equal(podPort('{}', 'cni0'), undefined);
  });

  it('are unknown while a record is being written', () => {
    assert.throws(() => podPort(record().slice(0, 90), 'cni0'), SyntaxError);
  });

  it('are elements of sets of one table for each bridge', () => {
    const text = senderRules('cni0', [
      { name: 'veth1', hardwareAddress: 'fa:c5:86:b6:75:d1', addresses: ['10.0.0.9'] },
    ]);
    assert.ok(text.startsWith(noSenderRules('cni0')), 'one transaction replaces what was there');
    assert.match(text, /set four \{ type ifname \. ipv4_addr; elements = \{ "veth1" \. 10\.0\.0\.9 \} \}/);
    assert.match(text, /set six \{ type ifname \. ipv6_addr; \}/);
    const six = senderRules('cni0', [{ name: 'veth1', hardwareAddress: 'fa:c5:86:b6:75:d1', addresses: ['fd00::9'] }]);
    assert.match(six, /set announced \{ typeof .*; elements = \{ "veth1" \. 0xfd000000000000000000000000000009 \} \}/);
    assert.match(senderRules('cni0', []), /set ports \{ type ifname; \}/);
  });
});
