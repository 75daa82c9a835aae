import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CelError } from '../cel-error.js';
import { compileDeviceExpression, type DeviceInfo, deviceMatches } from './device-expressions.js';

const device: DeviceInfo = {
  driver: 'd.example.com',
  attributes: {
    model: { string: 'a' },
    'other.example.com/numa': { int: 1 },
    ok: { bool: true },
    v: { version: '1.2.3' },
  },
  capacity: { memory: { value: '4Gi' } },
};

function matches(expression: string): boolean {
  const compiled = compileDeviceExpression(expression);
  assert.ok('program' in compiled, expression);
  return deviceMatches(compiled.program, device);
}

test('names without a domain are in that of the driver', () => {
  for (const expression of [
    'device.driver == "d.example.com"',
    'device.attributes["d.example.com"].model == "a"',
    'device.attributes["other.example.com"].numa == 1',
    'device.attributes["d.example.com"].ok',
    'device.attributes["d.example.com"].v.isGreaterThan(semver("1.2.0"))',
    'device.capacity["d.example.com"].memory.compareTo(quantity("1Gi")) >= 0',
    'cel.bind(own, device.attributes["d.example.com"], own.ok && own.model == "a")',
    '!device.allowMultipleAllocations',
  ]) {
    assert.equal(matches(expression), true, expression);
  }
});

test('a domain without names is empty, and a name that is not there has no value', () => {
  assert.equal(matches('"x" in device.attributes["none"]'), false);
  assert.equal(matches('"none" in device.attributes'), false);
  assert.throws(
    () => matches('device.attributes["none"].x == 1'),
    (error) => error instanceof CelError,
  );
});
