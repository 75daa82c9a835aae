import type { AdmissionDependencies } from '../../src/server/admission/admission-dependencies.js';
import type { AdmissionPlugin } from '../../src/server/admission/admission-plugin.js';
import { podPlugins } from '../../src/server/admission/pods/pod-plugins.js';
import type { TestRequest } from './admission-attributes.js';
import { admissionParts, admit, type TestWorld } from './admission-parts.js';

type Name = keyof typeof podPlugins;

const options = { defaultNotReadyTolerationSeconds: 300, defaultUnreachableTolerationSeconds: 200 };

/** A pod plugin with the options of these tests. */
export function podPlugin(name: Name, world: TestWorld = {}): AdmissionPlugin {
  return podPlugins[name]({ ...admissionParts(world), options } as AdmissionDependencies);
}

/** A pod with one container and these fields of its spec. */
export function podOf(spec: object = {}) {
  return { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i', resources: {} }], ...spec } };
}

/** The fields of the spec after a plugin has changed them, or the refusal. */
export async function specAfter(name: Name, spec: object, world: TestWorld = {}, request: TestRequest = {}) {
  const { object, problem } = await admit(podPlugin(name, world), { object: podOf(spec), ...request });
  return problem ?? object.spec;
}
