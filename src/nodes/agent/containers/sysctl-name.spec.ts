import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sysctlName } from './sysctl-name.js';

describe('sysctlName', () => {
  it('has dots between its parts, whichever separator comes first', () => {
    for (const [name, wanted] of [
      ['kernel.shm_rmid_forced', 'kernel.shm_rmid_forced'],
      ['kernel/shm_rmid_forced', 'kernel.shm_rmid_forced'],
      ['net.ipv4.conf.eth0/1.rp_filter', 'net.ipv4.conf.eth0/1.rp_filter'],
      ['net/ipv4/conf/eth0.1/rp_filter', 'net.ipv4.conf.eth0/1.rp_filter'],
      ['', ''],
    ] as const) {
      assert.equal(sysctlName(name), wanted);
    }
  });
});
