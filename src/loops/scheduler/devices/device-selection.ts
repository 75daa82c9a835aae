import type { DeviceSelector } from '../../../objects/apis/resource/v1/device-selector.types.js';
import { compileDeviceExpression, type DeviceFacts, deviceMatches, type Program } from '../../../objects/cel/index.js';
import { DeviceFault } from './device-fault.js';
import type { PoolDevice } from './device-pools.js';
import type { WantedClaim, WantedDevices } from './wanted-devices.js';

/** How many compiled expressions are kept: the same few are evaluated again and again. */
const mostPrograms = 256;
const missingKeyHint =
  '. consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields';
const programs = new Map<string, ReturnType<typeof compileDeviceExpression>>();

function programOf(text: string): Program | { readonly fault: string } {
  let known = programs.get(text);
  if (known === undefined) {
    if (programs.size >= mostPrograms) programs.clear();
    known = compileDeviceExpression(text);
    programs.set(text, known);
  }
  return 'fault' in known ? known : known.program;
}

/** Whether a device is one of those that a request and its class select. Throws a DeviceFault for a broken expression. */
export function isSelected(wanted: WantedDevices, { label }: WantedClaim, candidate: PoolDevice): boolean {
  const { deviceClass, selectors } = wanted;
  const ofClass = (deviceClass.spec.selectors ?? []).map(({ cel }: DeviceSelector) => cel?.expression ?? '');
  return (
    matchesAll(ofClass, `class ${deviceClass.metadata.name}`, candidate) &&
    matchesAll(selectors, `claim ${label}`, candidate)
  );
}

function matchesAll(expressions: readonly string[], owner: string, { device, name, id }: PoolDevice): boolean {
  return expressions.every((text, i) => {
    const program = programOf(text);
    if ('fault' in program) throw new DeviceFault(`${owner}: selector #${i}: CEL compile error: ${program.fault}`);
    try {
      return deviceMatches(program, { driver: name.driver, ...device } as unknown as DeviceFacts);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      const hint = detail.includes('no such key:') ? missingKeyHint : '';
      throw new DeviceFault(`${owner}: selector #${i} on device ${id}: CEL runtime error: ${detail}${hint}`);
    }
  });
}
